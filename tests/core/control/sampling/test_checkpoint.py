# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed after whatever fragment and resumed: what happens is what would have happened, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest

from sinew.core.control.sampling import plan
from sinew.core.control.sampling.checkpoint import pack_rollout, restore_rollout
from sinew.core.sim.stage import Push

from .killed_rollouts import (
    ANCHORED,
    SHORT,
    Killed,
    MemoryRun,
    Scene,
    lost_from,
    now,
    perform,
    read,
    same,
    sections,
    state_of,
)
from .toys import waving


@pytest.fixture(scope="module")
def repeated() -> Scene:
    """Two fragments whose first pass is made again, for it is taken for lost."""
    lost = (plan.Planner, "rate_trajectory", lambda self, trajectory: (True, float(trajectory.ends.sum())))
    return Scene([waving(0.2)], constants=(*sections(SHORT), ANCHORED, lost), repeats=True)


@pytest.fixture(scope="module")
def shared() -> Scene:
    """Two fragments whose shared first pass finds nothing good, so that another one is made."""
    return Scene([waving(0.2)], constants=(*sections(SHORT), ANCHORED, (plan, "_SOUND", -1.0)), shares_first=True)


@pytest.fixture(scope="module")
def pushed() -> Scene:
    """One who is pushed in the second of ten fragments, which are one section."""
    push = Push(0, "hand", np.array([0.0, 0.0, 40.0]), 0.12, 0.05)
    return Scene([waving(1.0)], {"pushes": (push,)}, (*sections(10), ANCHORED))


@pytest.fixture(scope="module")
def two() -> Scene:
    """Two side by side, in two sections."""
    return Scene([waving(0.5), waving(0.5, x=3.0)], constants=(*sections(SHORT), ANCHORED))


@pytest.fixture(scope="module")
def felled() -> Scene:
    """One who is pushed in the second of ten fragments and lets go after the fifth."""
    push = Push(0, "hand", np.array([0.0, 0.0, 40.0]), 0.12, 0.05)
    return Scene([waving(1.0)], {"pushes": (push,)}, (*sections(10), ANCHORED, *lost_from(24)))


@pytest.fixture(scope="module")
def limp() -> Scene:
    """One whom nobody pushes, who lets go after the fifth of ten fragments, in the middle of the second section."""
    return Scene([waving(1.0)], constants=(*sections(SHORT), ANCHORED, *lost_from(24)))


HARD_MOMENTS = {
    "soon after the beginning": lambda a: now(a) and not len(a["offsets"]),
    "after going back, with samples drawn to where it lasted": lambda a: now(a) and len(a["scatter_at"]) > 1,
    "after learning anew where the body is": lambda a: now(a) and len(a["learned_at"]) > 1,
    "in the second pass, which knows a way": lambda a: now(a, number=1) and len(a["layer_kept_count"]) == 2,
    "in the second pass, which goes by what the first has learned": lambda a: now(a, number=1) and "plan_learned" in a,
    "between sections": lambda a: len(a["offsets"]) == SHORT and "plan" not in a,
    "in the next section": lambda a: now(a, number=1) and len(a["offsets"]) == SHORT,
    "when all is done": lambda a: len(a["offsets"]) == 5,
}


@pytest.mark.parametrize("moment", HARD_MOMENTS.values(), ids=HARD_MOMENTS)
def test_a_hard_motion_goes_on_as_if_nothing_had_happened(hard, moment):
    hard.resumed(hard.moments(moment)[0])


REPEATED = {
    "in the first pass, made once more": lambda a: now(a, number=plan.REPEAT) and len(a["layer_kept_count"]) == 1,
    "in the pass after it": lambda a: now(a, number=1) and len(a["layer_kept_count"]) == 1,
}


@pytest.mark.parametrize("moment", REPEATED.values(), ids=REPEATED)
def test_a_first_pass_made_once_more_goes_on(repeated, moment):
    repeated.resumed(repeated.moments(moment)[0])
    steps = [step for step, _ in repeated.run.steps]
    assert steps == sorted(steps) and repeated.run.steps[-1][0] == repeated.run.steps[-1][1]


SHARED = {
    "in the shared pass": lambda a: now(a, number=plan.SHARED) and len(a["layer_kept_count"]) == 1,
    "in one of its own after it": lambda a: now(a, number=0) and len(a["layer_kept_count"]) == 1,
    "in the pass after both": lambda a: now(a, number=1) and len(a["layer_kept_count"]) == 1,
}


@pytest.mark.parametrize("moment", SHARED.values(), ids=SHARED)
def test_a_first_pass_after_a_shared_one_goes_on(shared, moment):
    shared.resumed(shared.moments(moment)[0])
    steps = [step for step, _ in shared.run.steps]
    assert steps == sorted(steps) and shared.run.steps[-1][0] == shared.run.steps[-1][1]


PUSHED = {
    "before the push": lambda a: len(a["offsets"]) == 1,
    "in the middle of the reaction": lambda a: len(a["offsets"]) == 3 and "way0_first" not in a,
    "when it is time for another plan": lambda a: "plan" not in a and len(a["waiting"]) == 1,
    "while it makes another plan": lambda a: now(a, number=1) and len(a["offsets"]) > 2,
}


@pytest.mark.parametrize("moment", PUSHED.values(), ids=PUSHED)
def test_one_who_was_pushed_goes_on_as_if_nothing_else_had_happened(pushed, moment):
    pushed.resumed(pushed.moments(moment)[0])


FELLED = {
    "while it is astray": lambda a: a["astray"].tolist() == [1] and "limp0_first" not in a,
    "when it has just let go": lambda a: "limp0_first" in a,
    "when it has long lain": lambda a: len(a["offsets"]) == 8,
}


@pytest.mark.parametrize("moment", FELLED.values(), ids=FELLED)
def test_one_who_lets_go_goes_on_lying(felled, moment):
    felled.resumed(felled.moments(moment)[0])


@pytest.mark.parametrize("moment", [FELLED["when it has just let go"], FELLED["when it has long lain"]])
def test_one_who_lets_go_without_a_push_goes_on_lying(limp, moment):
    (character,) = limp.whole.characters
    assert character.relaxation.first == 5 and len(limp.whole.offsets) == 10
    limp.resumed(limp.moments(moment)[0])


def test_a_checkpoint_of_before_knows_of_nobody_who_let_go(felled):
    arrays = read(felled.run.saved[felled.moments(lambda a: len(a["offsets"]) == 3)[0]])
    del arrays["astray"]
    with felled.made() as rollout:
        restore_rollout(rollout, "mujoco", arrays)
        assert rollout.characters[0].relaxation is None and rollout.characters[0].watch.astray == 0


TWO = {
    "while the second plans": lambda a: now(a, who=1, number=0),
    "while both play": lambda a: len(a["offsets"]) == 2,
    "while the first plans the next section": lambda a: now(a, who=0) and len(a["offsets"]) == SHORT,
}


@pytest.mark.parametrize("moment", TWO.values(), ids=TWO)
def test_two_go_on_together(two, moment):
    two.resumed(two.moments(moment)[0])


def test_progress_goes_on_and_waits_where_the_search_goes_back(hard, pushed, two):
    for scene in (hard, pushed, two):
        steps = [step for step, _ in scene.run.steps]
        assert steps == sorted(steps)
    for scene in (hard, pushed, two):
        assert scene.run.steps[-1][0] == scene.run.steps[-1][1] and {total for _, total in scene.run.steps} == {
            scene.run.steps[0][1]
        }
        assert [step for step, _ in scene.run.saved] == [step for step, _ in scene.run.steps]
    # Here it goes back, by two fragments at first, and by twice and three times as many if that does not help.
    steps = [step for step, _ in hard.run.steps]
    assert any(before == after for before, after in pairwise(steps)) and min(steps) >= 0


def test_a_kill_between_checkpoints_repeats_what_came_after_the_last(hard):
    with hard.made() as one, hard.made() as again:
        killed = MemoryRun(stop_at=14)
        with pytest.raises(Killed):
            perform(one, killed)
        assert killed.steps == hard.run.steps[:14]
        resumed = MemoryRun(resume=killed.saved[9])
        perform(again, resumed)
    assert resumed.steps == hard.run.steps[10:]
    same(state_of(again), state_of(hard.whole), "rollout")


@pytest.mark.parametrize("looks", [1, 5, 10, 25, -1])
def test_everything_comes_back(hard, looks):
    looks = looks if looks > 0 else len(hard.run.steps)
    with hard.made() as old, hard.made() as new:
        hard.stopped(old, looks)
        restore_rollout(new, "mujoco", pack_rollout(old, "mujoco"))
        same(state_of(new), state_of(old), "rollout")
        assert new.work == old.work
        if old.planning is not None:
            # The grounds stand for the same noise and the same randomness, in the new one's own world.
            ground, before = new.planning[2].problem, old.planning[2].problem
            assert ground.world is new.characters[0].world and np.array_equal(ground.noise, before.noise)
            assert ground.random(0, 1, 2).random() == before.random(0, 1, 2).random()


def test_a_reacting_performer_comes_back(pushed):
    (index, *_) = pushed.moments(PUSHED["in the middle of the reaction"])
    with pushed.made() as old, pushed.made() as new:
        pushed.stopped(old, index + 1)
        restore_rollout(new, "mujoco", pack_rollout(old, "mujoco"))
        assert new.characters[0].trajectory is None and new.characters[0].undisturbed > 0
        same(state_of(new), state_of(old), "rollout")


def test_bullet_goes_on_too():
    pytest.importorskip("pybullet")
    push = Push(0, "hand", np.array([0.0, 0.0, 40.0]), 0.12, 0.05)
    scene = Scene([waving(0.4)], {"pushes": (push,)}, sections(4), engine="bullet")
    scene.resumed(scene.moments(lambda a: now(a, number=1))[0])
