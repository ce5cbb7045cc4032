# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling control as a method: from a clip to a take that a body could really have moved."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.clearance import grounded
from ...body.poses import clip_of_pose
from ...geometry.quaternions import Array
from ...motion import Clip, Take
from ...motion.falling import fell_at
from ...motion.repair import repaired
from ...settings import Settings, setting
from ...sim import engines
from ...sim.engine import World
from ..character import body_of
from ..method import Run
from ..staging import stage_of
from .reference import CONTROL_FPS, FRAGMENT_STEPS, Reference, make_reference
from .search import Effort, best_path, search

Flags = NDArray[np.bool_]

# A push of this much on a link counts as touching: a fifth of a litre of water.
_TOUCH_N = 2.0
# Shaking the head does not help anyone to stand, and arms little.
_NOISE = {"head": 0.2, "hand": 0.2, "forearm": 0.5, "upper_arm": 0.5, "tail": 0.3}


# Trials of each fragment, and how far they stray from the reference, in radians.
_SAMPLES = {"draft": 200, "normal": 400, "high": 1000}
_SPREAD = 0.2


@dataclass(frozen=True)
class SamplingSettings(Settings):
    """What an animator may set."""

    quality: str = setting(
        "normal",
        "Quality",
        "How many trials are spent on the motion",
        choices=(
            ("draft", "Draft", "Fast, to see whether it works"),
            ("normal", "Normal", "About as long as the clip lasts on a fast machine"),
            ("high", "High", "For difficult motions and final takes"),
        ),
    )


class Sampling:
    """SAMCON on the batch engine: the same motion with weight, on the first click."""

    name = "sampling"
    label = "Simulate"
    help = "Give the Action a body: the same motion with weight, found by sampling"
    uses_engine = True
    settings_type = SamplingSettings

    def run(self, clip: Clip, settings: SamplingSettings, run: Run) -> Take:
        """Prepare the source, search, and bring the best path home."""
        source, body = _prepared(clip, run)
        samples = _SAMPLES[settings.quality]
        world = engines.get(run.engine).compile(stage_of(run, body), samples)
        try:
            reference = make_reference(body, source, world)
            total = reference.fragments
            layers = search(
                world,
                reference,
                _noise(body),
                Effort(samples // 5, _SPREAD),
                run.rng,
                lambda done, cost: run.progress(done, total, cost=cost),
            )
            return _take(world, reference, *best_path(layers), source, clip.fps)
        finally:
            world.close()


def _prepared(clip: Clip, run: Run) -> tuple[Clip, BodyModel]:
    """The clip made fit for simulation, and a body for it; what was done is told."""
    source, repair = repaired(clip)
    if repair.touched:
        run.add_finding("repair", repair.message, "Look at those frames in the source if the take looks odd there")
    body, _ = body_of(source, run)
    source, grounding = grounded(body, source)
    if abs(grounding.shift) > 0.02 or grounding.lift > 0.02:
        run.add_finding("ground", grounding.message, "")
    return source, body


def _noise(body: BodyModel) -> Array:
    """(nu,) how much of the spread each degree of freedom gets."""
    return np.concatenate([np.full(link.joint.dofs, _NOISE.get(link.role, 1.0)) for link in body.links[1:]])


def _take(world: World, reference: Reference, ends: Array, offsets: Array, source: Clip, fps: float) -> Take:
    """Play the path again for what lies between the fragments' ends, and put it on the bones."""
    starts = np.concatenate([reference.states[:1], ends[:-1]])
    qpos, pos, touching = [], [], []
    substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
    for first in range(0, reference.fragments, world.copies):
        chosen = np.minimum(np.arange(first, first + world.copies), reference.fragments - 1)
        targets = np.stack([reference.targets[reference.frames_of(int(f))] for f in chosen]) + offsets[chosen][:, None]
        states, rows = world.rollout(starts[chosen], targets, substeps=substeps)
        count = min(world.copies, reference.fragments - first)
        qpos.append(world.pose_of(states)[0][:count].reshape(count * FRAGMENT_STEPS, -1))
        pos.append(rows.link_pos[:count].reshape(count * FRAGMENT_STEPS, -1, 3))
        touching.append(
            np.linalg.norm(rows.contact_force[:count], axis=-1).reshape(count * FRAGMENT_STEPS, -1) > _TOUCH_N
        )
    frames = len(reference.states)
    played = np.concatenate([reference.qpos[:1], *qpos])[:frames]
    link_pos = np.concatenate([reference.rows.link_pos[0, :1], *pos])[:frames]
    touched = np.concatenate([touching[0][:1], *touching])[:frames]
    motion = clip_of_pose(reference.body, source, played, CONTROL_FPS).resampled(fps)
    wanted = reference.rows.link_pos[0]
    error_m = float(np.linalg.norm(link_pos - wanted, axis=-1).mean())
    return Take(
        motion,
        contacts=_on_bones(reference.body, touched, motion, fps),
        fell_at_s=fell_at(wanted, link_pos, 1.0 / CONTROL_FPS),
        measurements={"mean_link_error_m": error_m},
    )


def _on_bones(body: BodyModel, touched: Flags, motion: Clip, fps: float) -> Flags:
    """(T, B) contacts of links (K, L) at the control rate as contacts of their bones at the clip's."""
    frames = np.minimum(np.round(np.arange(len(motion)) * CONTROL_FPS / fps).astype(int), len(touched) - 1)
    contacts = np.zeros((len(motion), len(motion.skeleton)), dtype=bool)
    for index, link in enumerate(body.links):
        contacts[:, motion.skeleton.index(link.bone)] = touched[frames, index]
    return contacts
