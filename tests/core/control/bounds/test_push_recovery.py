# SPDX-License-Identifier: GPL-3.0-or-later
"""Harder pushes fell sooner, each goes where it is said to, and the hardest that is stood is told as such."""

import numpy as np
import pytest

from sinew.core.control.bounds.bounds import bounds_of_preset, sample_widths
from sinew.core.control.bounds.push_recovery import STEP_N, PushRecovery, measure_push_recovery
from sinew.core.errors import BadSettings
from sinew.core.motion.io import stock
from sinew.core.sim.variations import facing_direction_at


def outcome(*lasted_s):
    return PushRecovery(STEP_N * np.arange(len(lasted_s)), np.array(lasted_s), 2.0)


def test_the_last_before_the_first_that_fells_it_counts():
    assert outcome(2.0, 2.0, 2.0).push_n == 20.0
    assert outcome(2.0, 2.0, 1.5, 2.0).push_n == 10.0
    assert outcome(2.0, 0.1).push_n == 0.0
    assert outcome(1.9, 2.0).push_n is None
    assert outcome(2.0, 1.5, 2.0).stood.tolist() == [True, False, True]


def test_who_is_pushed_hard_falls_sooner_unless_it_is_pushed_back_up(body, reference_of, world_of):
    """Without a policy the kick tips over to its left, within half a second of where it is pushed."""
    kick = reference_of("kick")
    widths = sample_widths(bounds_of_preset(body, "loose"), kick, stock.load_stock("kick"))

    def still(seen):
        return np.zeros((len(seen), body.nu), dtype=np.float32)

    hard, helpful = (measure_push_recovery(kick, widths, still, world_of(64), side) for side in ("right", "left"))
    assert hard.force_n[-1] == 630.0 and hard.push_n is None
    assert hard.asked_s == pytest.approx(kick.duration_s * 2.0 / 3.0, abs=0.05)  # to its end, not for 20 s
    assert hard.lasted_s[-1] < hard.lasted_s[0] < helpful.lasted_s[20]
    with pytest.raises(BadSettings, match="above"):
        measure_push_recovery(kick, widths, still, world_of(64), "above")


class Watching:
    """A world that remembers which forces it was given; all else is the engine's."""

    def __init__(self, world) -> None:
        self._world, self.forces = world, []

    def __getattr__(self, name):
        return getattr(self._world, name)

    def rollout(self, states, targets, *, substeps, forces=None, **options):
        self.forces.append(forces)
        return self._world.rollout(states, targets, substeps=substeps, forces=forces, **options)


@pytest.mark.parametrize("side", ["back", "left", "front", "right"])
def test_a_push_goes_from_its_side_for_a_tenth_of_a_second(body, reference_of, world_of, side):
    kick, clip = reference_of("kick"), stock.load_stock("kick")
    widths = sample_widths(bounds_of_preset(body, "loose"), kick, clip)
    world = Watching(world_of(8))
    measure_push_recovery(kick, widths, lambda seen: np.zeros((len(seen), body.nu), dtype=np.float32), world, side)
    given = [forces for forces in world.forces if forces is not None]
    assert len(given) == 3
    force = given[0][-1].sum(axis=1)[0]
    assert np.linalg.norm(force) == pytest.approx(70.0, rel=1e-3)
    ahead = facing_direction_at(body, clip, kick.duration_s / 3.0)[:2]
    left = np.array([-ahead[1], ahead[0]])
    wanted = {"back": ahead, "left": -left, "front": -ahead, "right": left}[side]
    assert force[:2] @ wanted > 0.8 * 70.0
