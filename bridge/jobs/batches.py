# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches: variations of one motion, each an ordinary job. ``queueing`` has the order in which they are started."""

import dataclasses
from typing import Any

from ...core import jobs
from ...core.body import BodyModel
from ...core.control.character import BODY, BodyChoices, build_plain_body
from ...core.control.frame_range import FRAME_RANGE
from ...core.control.staging import STAGE
from ...core.errors import BadSettings
from ...core.jobs.spec import new_id
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import StageParts
from ...core.sim.variations import Variation, VariationSettings, make_variations
from ..body.body_inputs import resolve_attachments
from ..rig.rig_reader import RigMotion
from .requests import Inputs, Request, create_from, inputs_of


@dataclasses.dataclass(frozen=True)
class Batch:
    """What is to be simulated: a motion as it was read, in several variations."""

    id: str
    request: Request
    rig: RigMotion
    inputs: Inputs
    variations: tuple[Variation, ...]

    def create(self, variation: Variation, folder: Any = None) -> jobs.Job:
        """Make the job of one variation."""
        motion = self.rig.clip.name
        named = f"{'push' if 'push_n' in variation.facts else 'variation'} {variation.number}"
        target = dataclasses.replace(
            self.inputs.target, batch=self.id, variation=variation.number, varied=variation.facts, named=named
        )
        attachments, parts = dict(self.inputs.attachments), self.inputs.parts
        if parts is not None:
            parts = variation.parts
            attachments[STAGE] = stage_to_arrays(variation.parts)
        request = dataclasses.replace(self.request, seed=variation.seed)
        inputs = dataclasses.replace(self.inputs, attachments=attachments, target=target, parts=parts)
        return create_from(request, self.rig, inputs, title=variation.title(motion), folder=folder)


def plan(request: Request, rig: RigMotion, settings: VariationSettings) -> Batch:
    """Read the scene once and work the variations out; refuses what cannot vary."""
    return plan_from(request, rig, inputs_of(request, rig), settings)


def plan_from(request: Request, rig: RigMotion, inputs: Inputs, settings: VariationSettings) -> Batch:
    """The same from what was read before. For any thread."""
    inputs = dataclasses.replace(
        inputs, attachments=dict(resolve_attachments(inputs.attachments))
    )  # once for all of them
    if inputs.parts is None:
        require_seeds_only(request.method, settings)
        parts, body = StageParts(), None
    else:
        parts, body = inputs.parts, plain_body_of(rig, inputs)
    if body is None:
        numbers = range(1, settings.count + 1)
        seeds = [request.seed + number - 1 for number in numbers]
        found = tuple(Variation(n, seed, parts, f"seed {seed}") for n, seed in zip(numbers, seeds, strict=True))
    else:
        found = make_variations(parts, rig.clip, body, _within_range(settings, rig, inputs), request.seed)
    return Batch(new_id(rig.clip.name), request, rig, inputs, found)


def _within_range(settings: VariationSettings, rig: RigMotion, inputs: Inputs) -> VariationSettings:
    """The settings with moments as shares of the whole clip, where only a range of it is simulated."""
    if FRAME_RANGE not in inputs.attachments:
        return settings
    whole_s, meta = rig.clip.duration_s, inputs.attachments[FRAME_RANGE][1]
    first, last = (min(max(meta[name] / whole_s, 0.0), 1.0) for name in ("first_s", "last_s"))
    moments = {name: first + (last - first) * getattr(settings, name) for name in ("earliest", "latest")}
    return dataclasses.replace(settings, **moments)


def require_seeds_only(method: str, settings: VariationSettings) -> None:
    """Say that nothing can be pushed where there is no physics."""
    still = VariationSettings(settings.count, 0.0, 0.0)
    physical = ("most_n", "throw", "mass", "friction", "gravity")
    if any(getattr(settings, name) != getattr(still, name) for name in physical):
        raise BadSettings(
            f"Method '{method}' has no physics, so that only the seed can vary",
            "Choose another method, or no pushes",
        )


def plain_body_of(rig: RigMotion, inputs: Inputs) -> BodyModel:
    """The body as far as it matters here: which bones it has. Its mesh would only give it other shapes."""
    choices = BodyChoices.from_mapping(inputs.attachments[BODY][1])
    return build_plain_body(rig.clip, choices)
