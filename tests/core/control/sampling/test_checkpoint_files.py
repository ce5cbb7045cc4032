# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rollout's checkpoint must have, when one is saved, and how the method goes on from one."""

import numpy as np
import pytest

from sinew.core.control.registry import get_method
from sinew.core.control.sampling import checkpoint, method, plan
from sinew.core.control.sampling.checkpoint import RolloutCheckpoints, restore_rollout
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.errors import BadFile
from sinew.core.jobs.running import Cancelled
from sinew.core.motion import Take
from sinew.core.motion.io import stock
from sinew.core.sim import engines
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PushPart, StageParts

from .killed_rollouts import MemoryRun, now, perform, read, same, state_of


@pytest.fixture
def later(hard):
    """Arrays of a moment at which there is something of everything."""
    full = hard.moments(
        lambda a: now(a, number=1) and len(a["scatter_at"]) and len(a["learned_at"]) and len(a["begun"])
    )
    return read(hard.run.saved[full[-1]])


# What there need not be: no plan or trajectory, or nothing learned, as before there was any learning.
OPTIONAL = {"plan", "plan_firsts", "way0_first", "astray", "plan_learned", "layer_jacobian"}


def untouched(rollout) -> bool:
    (character,) = rollout.characters
    return (rollout.start_states, rollout.waiting, rollout.planning, character.trajectory) == ([], [], None, None)


def test_a_checkpoint_that_is_not_whole_is_refused_and_changes_nothing(hard, later):
    with hard.made() as rollout:
        assert later.keys() >= OPTIONAL
        for name in later:
            values = later[name]
            wrong = [values.astype("S8"), values[None]]
            if values.ndim > 1:
                wrong.append(np.concatenate([values, values], axis=-1))
            if name not in OPTIONAL:
                wrong.append(None)
            elif name.endswith("_first") or name == "plan":
                continue  # without these there is no plan or trajectory, whatever else there is
            for arrays in ({**later, name: value} for value in wrong):
                with pytest.raises(BadFile, match="checkpoint"):
                    restore_rollout(
                        rollout, "mujoco", {key: value for key, value in arrays.items() if value is not None}
                    )
            assert untouched(rollout), name
        restore_rollout(rollout, "mujoco", later)
        assert not untouched(rollout)


WRONG = {
    "waiting": np.array([1]),
    "plan": np.array([0, 2, 3, 5, 0]),
    "plan_tries": np.array([-1, 0]),
    "scatter_at": np.array([7]),
    "learned_at": np.array([7, 8]),
    "layer_parents": 99,
    "layer_kept": 9999,
    "layer_kept_count": 0,
}


@pytest.mark.parametrize("name", WRONG)
def test_numbers_that_lead_nowhere_are_refused(hard, later, name):
    value = WRONG[name] if isinstance(WRONG[name], np.ndarray) else np.full_like(later[name], WRONG[name])
    with hard.made() as rollout:
        with pytest.raises(BadFile, match="checkpoint"):
            restore_rollout(rollout, "mujoco", {**later, name: value})
        assert untouched(rollout)


def test_another_engine_s_checkpoint_begins_anew(hard, caplog):
    run = MemoryRun(resume=hard.run.saved[12])
    run.engine = "bullet"  # only by name
    with hard.made() as rollout:
        perform(rollout, run)
    assert run.steps == hard.run.steps and "another engine" in caplog.text
    same(state_of(rollout), state_of(hard.whole), "rollout")


def test_a_checkpoint_with_other_sections_does_not_fit(hard, later):
    with hard.made() as rollout, pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "SECTION", 50)
        with pytest.raises(BadFile, match="another Sinew"):
            restore_rollout(rollout, "mujoco", later)


def test_checkpoints_are_saved_at_once_then_now_and_then_and_at_the_end(monkeypatch):
    monkeypatch.setattr(checkpoint, "_PAUSE_S", 2.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 0.02)
    clock, took = [100.0], [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(checkpoint, "pack_rollout", lambda *_: {})

    class Slow(MemoryRun):
        def save_checkpoint(self, step, /, **arrays):
            clock[0] += took[0]
            self.saved.append(step)

    class Shown:
        done = False

    run, shown = Slow(), Shown()
    checkpoints = RolloutCheckpoints(run)

    def until(seconds: float) -> None:
        """Looks every half second."""
        while clock[0] < seconds:
            checkpoints.save(shown, clock[0])
            clock[0] += 0.5

    until(105.0)
    assert run.saved == [100.0, 102.0, 104.0]
    took[0] = 0.1  # a slow disk: from now on every five seconds
    until(120.0)
    assert len(run.saved) == 3 + 3
    shown.done = True
    checkpoints.save(shown, 500)
    assert run.saved[-1] == 500


@pytest.fixture
def person(monkeypatch):
    """Simulates a step of a person who is pushed, by the method: three fragments, planned twice, then played."""
    monkeypatch.setitem(method.EFFORTS, "draft", SearchEffort(40, (0.1, 0.1)))
    monkeypatch.setattr(checkpoint, "_PAUSE_S", -1.0)
    monkeypatch.setattr(checkpoint, "_SHARE", np.inf)
    push = PushPart("Shove", "Hero", "chest", np.array([0.0, 50.0, 0.0]), 0.05, 0.05)
    attachments = {"stage": stage_to_arrays(StageParts(("Hero",), pushes=(push,)))}

    def simulated(run) -> Take:
        run._attachments = attachments
        sampling = get_method("sampling")
        return sampling.run(stock.load_stock("walk").frames(0, 10), sampling.settings_type(quality="draft"), run)

    return simulated


def test_the_method_resumes_and_tells_of_no_step_before(person):
    whole = MemoryRun()
    take = person(whole)
    # Models of three fragments count as much as their search, and the play of a fragment as one.
    saved = [step for step, _ in whole.saved]
    assert saved == [4, 5, 6, 10, 11, 12, 13, 14, 15]
    assert {(0, 15), (1, 15), (2, 15), (7, 15), (8, 15)} <= set(whole.steps)  # while models are explored
    for index in (1, 4, 6):
        resumed = MemoryRun(resume=whole.saved[index])
        again = person(resumed)
        assert again.motion.local_pos.tobytes() == take.motion.local_pos.tobytes()
        assert again.motion.local_quat_wxyz.tobytes() == take.motion.local_quat_wxyz.tobytes()
        assert again.contacts.tobytes() == take.contacts.tobytes()
        assert [step for step, _ in resumed.saved] == saved[index + 1 :]
        assert min(step for step, _ in resumed.steps) >= saved[index]


@pytest.mark.parametrize(
    ("after", "error"), [(0, Cancelled), (2, RuntimeError), (3, Cancelled), (7, Cancelled), (9, Cancelled)]
)
def test_a_cancel_passes_through_the_method_and_closes_every_world(person, monkeypatch, after, error):
    compiled, kind = [], type(engines.get_engine("mujoco"))
    compile_one = kind.compile
    monkeypatch.setattr(kind, "compile", lambda *a, **o: compiled.append(compile_one(*a, **o)) or compiled[-1])

    class Impatient(MemoryRun):
        def progress(self, step, total, /, **measurements):
            if step == after and total > 1:
                raise error

    with pytest.raises(error):
        person(Impatient())
    assert len(compiled) == 2 and all(world._open_batch is None for world in compiled)
