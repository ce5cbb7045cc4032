# SPDX-License-Identifier: GPL-3.0-or-later
"""The public face of sampling control for other methods: track a whole reference, open loop, in one world."""

from collections.abc import Callable

import numpy as np

from ...sim.engine import World
from ..tracking.reference import Reference
from ..tracking.rollout import RolloutMeter
from ..tracking.tracking_error import TrackingError
from . import plan
from .fragment_samples import Trajectory
from .plan import Planner, PlanTask, SearchEffort
from .search import SearchProblem
from .stage_character import compute_noise_scale

__all__ = ["SearchEffort", "Trajectory", "track_reference"]


def track_reference(
    reference: Reference,
    world: World,
    effort: SearchEffort,
    seed: tuple[int, ...],
    *,
    on_fragment: Callable[[], None] = lambda: None,
    poll_cancel: Callable[[], None] | None = None,
    meter: RolloutMeter | None = None,
) -> Trajectory:
    """The trajectory that SAMCON finds for a reference from its first state on, section by section.

    world: with ``effort.copies`` copies of a stage on which nothing unforeseen happens. on_fragment: called after every
    fragment of every pass; poll_cancel: called while linear models are fitted. meter: counts what is simulated.
    """
    tracking_error, noise = TrackingError(reference), compute_noise_scale(reference.body)

    def problem_of(number: int) -> SearchProblem:
        def random(*what: int) -> np.random.Generator:
            return np.random.default_rng([*seed, number, *what])

        return SearchProblem(world, tracking_error, effort.spreads[number] * noise, random, meter)

    planner = Planner(tracking_error, problem_of, effort)
    planner.poll_cancel = poll_cancel
    start, anchor, before = reference.states[0], np.zeros(2), np.zeros(tracking_error.nu)
    sections = []
    for first in range(0, reference.fragments, plan.SECTION):
        stop = min(first + plan.SECTION, reference.fragments)
        section = planner.plan(PlanTask(first, stop, start, anchor, before), lambda *_: on_fragment())
        start, anchor, before = section.ends[-1], section.anchors[-1], section.offsets[-1]
        sections.append(section)
    parts = {
        name: np.concatenate([getattr(section, name) for section in sections])
        for name in ("starts", "offsets", "ends", "anchors", "cost")
    }
    return Trajectory(0, **parts)
