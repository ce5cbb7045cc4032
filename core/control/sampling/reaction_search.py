# SPDX-License-Identifier: GPL-3.0-or-later
"""How hard to push for what is wanted: a bracket around the strength, narrowed from trial to trial."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..tracking.reactions import BRACES, FALLS, STAGGERS, Reaction
from .disturbances import Disturbance

WANTED = {"brace": BRACES, "stagger": STAGGERS, "fall": FALLS}
"""By intent, the reaction that is looked for."""
TRIALS = 8
"""With one seed at most."""

# Metres a second that the whole body would be sped up by, to begin with.
_FIRST_M_S = {"brace": 0.3, "stagger": 0.75, "fall": 1.4}
_LONGEST_S = 0.3  # of a push that goes on for longer, only this much counts: one leans into the rest
_STEP = 1.6  # from trial to trial, while nothing is known on the other side
_CLOSE = 1.03  # a bracket narrower than this has nothing in it


@dataclass(frozen=True)
class Trial:
    """A strength that was tried, with the seed of that number, and what came of it."""

    seed: int
    strength: float
    reaction: Reaction


def first_strength(disturbance: Disturbance, mass_kg: float) -> float:
    """What to begin with on a body of that mass: newtons, or kilograms of something that is thrown."""
    momentum = _FIRST_M_S[disturbance.intent] * mass_kg
    if disturbance.thrown:
        return momentum / max(disturbance.speed_m_s, 1.0)
    return momentum / min(disturbance.end_s - disturbance.start_s, _LONGEST_S)


def is_wanted(intent: str, reaction: Reaction) -> bool:
    """Whether this is what was asked for, and can be seen."""
    return reaction.kind == WANTED[intent] and reaction.noticed


def next_strength(intent: str, first: float, trials: Sequence[Trial]) -> float | None:
    """What to try next with the seed of these trials; None where there is nothing left to try."""
    if len(trials) >= TRIALS:
        return None
    weak = max((one.strength for one in trials if _is_too_weak(intent, one.reaction)), default=0.0)
    strong = min((one.strength for one in trials if not _is_too_weak(intent, one.reaction)), default=np.inf)
    if not trials:
        return first
    if not weak:
        return strong / _STEP
    if not np.isfinite(strong):
        return weak * _STEP
    if weak >= strong:  # one that was harder did less: look beyond both
        return weak * _STEP if len(trials) % 2 else strong / _STEP
    return float(np.sqrt(weak * strong)) if strong > _CLOSE * weak else None


def nearest_trial(intent: str, trials: Sequence[Trial]) -> Trial:
    """The one that comes nearest to what was asked for; of those that are it, the first."""
    return min(trials, key=lambda one: (not is_wanted(intent, one.reaction), abs(one.reaction.kind - WANTED[intent])))


def _is_too_weak(intent: str, reaction: Reaction) -> bool:
    kind = WANTED[intent]
    return reaction.kind < kind or (reaction.kind == kind and not reaction.noticed)
