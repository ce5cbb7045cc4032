# SPDX-License-Identifier: GPL-3.0-or-later
"""What a controller is worth by itself: how long it stays within its bounds, and how hard a push it stands."""

from typing import Any

from ...sim.engine import World
from .controller import Controller
from .endurance import measure_policy_endurance
from .push_recovery import measure_push_recovery
from .reference_trajectory import CONTROL_FPS


def measure_lasting(controller: Controller, world: World, seconds: float) -> dict[str, Any]:
    """Copies of the world begin spread over the reference and go on by themselves, without noise."""
    found = measure_policy_endurance(controller.reference, controller.widths, controller.policy, world, seconds)
    return {
        "lasts": found.whole,
        "share": found.share,
        "seconds": [float(steps) / CONTROL_FPS for steps in found.survived_steps],
        "asked_s": [float(steps) / CONTROL_FPS for steps in found.requested_steps],
        "begun_at": found.at.tolist(),
        "left": list(found.violated),
    }


def measure_push(controller: Controller, world: World, side: str, seconds: float) -> dict[str, Any]:
    """The hardest push that it stands; seconds that it stays up after each, and those beyond that it stood as well.

    Each copy of the world is pushed harder than the one before it, from ``side``.
    """
    found = measure_push_recovery(controller.reference, controller.widths, controller.policy, world, side, seconds)
    hardest = found.push_n
    beyond = [float(force) for force in found.force_n[found.stood] if force > (hardest or 0.0)]
    return {
        "side": side,
        "push_n": hardest or 0.0,
        "falls_unpushed": hardest is None,
        "stood_beyond_n": beyond,
        "asked_s": found.asked_s,
        "lasted_s": found.lasted_s.tolist(),
    }
