# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed after whatever fragment and resumed: what happens is what would have happened, bit for bit."""

import io
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from itertools import pairwise

import numpy as np
import pytest

from sinew.bench.run import BenchRun
from sinew.core.control.registry import get_method
from sinew.core.control.sampling import checkpoint, method, plan, relaxing, search
from sinew.core.control.sampling import stage_rollout as rollout
from sinew.core.control.sampling.checkpoint import RolloutCheckpoints, pack_rollout, restore_rollout
from sinew.core.control.sampling.fragment_samples import FragmentSamples, Trajectory
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.control.sampling.rollout_progress import RolloutProgress
from sinew.core.control.sampling.stage_recording import record_rollout
from sinew.core.errors import BadFile
from sinew.core.jobs.running import Cancelled
from sinew.core.motion import Take
from sinew.core.motion.io import stock
from sinew.core.motion.losing import LostMotionDetector
from sinew.core.sim import engines
from sinew.core.sim.stage import Push
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PushPart, StageParts

from .toys import rollout_of, waving

SHORT = 3  # fragments in a section, so that half a second has several


class Killed(BaseException):
    """As good as a SIGKILL: nothing that a method does can stop it."""


class MemoryRun(BenchRun):
    """A run that keeps every checkpoint as it would be in its file, and may be told to die at a report of progress."""

    def __init__(self, attachments=None, *, resume=None, stop_at=None, error=Killed, engine="mujoco"):
        super().__init__(engine, 5, attachments or {})
        self.saved, self.steps = [], []
        self.resume, self.stop_at, self.error = resume, stop_at, error

    def progress(self, step, total, /, **measurements):
        if total == 1:  # the stage is being assembled
            return
        self.steps.append((step, total))
        if len(self.steps) == self.stop_at:
            raise self.error

    def save_checkpoint(self, step, /, **arrays):
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        self.saved.append((step, stream.getvalue()))

    def load_checkpoint(self):
        return None if self.resume is None else (self.resume[0], read(self.resume))


def read(saved) -> dict[str, np.ndarray]:
    archive = np.load(io.BytesIO(saved[1]), allow_pickle=False)
    return {name: archive[name] for name in archive.files}


def perform(rollout, run) -> None:
    """What the method does once a rollout is made, but for reports of progress while models are explored."""
    checkpoints = RolloutCheckpoints(run)
    checkpoints.load(rollout)
    rollout.run(RolloutProgress(run, checkpoints).watch)


@dataclass(eq=False)
class Scene:
    """Wavers with clips, what else is on the stage, constants that make it interesting, and what nobody disturbed."""

    clips: list
    stage: dict = field(default_factory=dict)
    constants: tuple = ()
    engine: str = "mujoco"
    repeats: bool = False

    def __post_init__(self):
        self.run = MemoryRun(engine=self.engine)
        with self.made() as whole:
            perform(whole, self.run)
            self.whole, self.film = whole, record_rollout(whole)
        assert len(self.run.saved) == len(self.run.steps)

    @contextmanager
    def made(self):
        """A rollout at its beginning, and the constants as long as it lives."""
        get_engine = engines.get_engine
        with ExitStack() as opened, pytest.MonkeyPatch.context() as patch:
            patch.setattr(checkpoint, "_PAUSE_S", -1.0)  # a checkpoint after every fragment
            patch.setattr(checkpoint, "_SHARE", np.inf)
            patch.setattr(plan, "AHEAD", 2)
            patch.setattr(engines, "get_engine", lambda _: get_engine(self.engine))
            for module, name, value in self.constants:
                patch.setattr(module, name, value)
            effort = SearchEffort(20, (0.1, 0.07), repeats=self.repeats, improves=True)
            yield rollout_of(opened, self.clips, effort=effort, **self.stage)

    def moments(self, wanted) -> list[int]:
        """After which checkpoints the arrays are as wanted."""
        return [index for index, saved in enumerate(self.run.saved) if wanted(read(saved))]

    def resumed(self, index: int) -> None:
        """Go on from a checkpoint; everything must be as if nothing had happened."""
        run = MemoryRun(resume=self.run.saved[index], engine=self.engine)
        with self.made() as again:
            perform(again, run)
            film = record_rollout(again)
        assert run.steps == self.run.steps[index + 1 :]  # no fragment twice, and no progress lost
        same(state_of(again), state_of(self.whole), "rollout")
        for name in ("qpos", "qvel", "targets"):
            same(getattr(film, name), getattr(self.film, name), name)
        same(vars(film.rows), vars(self.film.rows), "rows")

    def stopped(self, rollout, looks: int):
        """A rollout of the scene after as many looks."""
        with pytest.raises(Killed):
            perform(rollout, MemoryRun(stop_at=looks, engine=self.engine))
        return rollout


def state_of(rollout) -> dict:
    """All that a rollout is, besides what it is made of."""
    found = {name: getattr(rollout, name) for name in ("state", "start_states", "offsets", "waiting", "planning")}
    found["characters"] = [
        {name: getattr(one, name) for name in ("trajectory", "planned", "anchor", "undisturbed")}
        | {"astray": one.watch.astray, "relaxation": one.relaxation and vars(one.relaxation)}
        for one in rollout.characters
    ]
    return found


def same(one, other, where: str) -> None:
    """Assert that arrays and what consists of them are equal, bit for bit."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), where
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for index, (mine, its) in enumerate(zip(one, other, strict=True)):
            same(mine, its, f"{where}[{index}]")
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            same(one[key], other[key], f"{where}[{key}]")
    elif isinstance(
        one, FragmentSamples | Trajectory | search.SamconSearch | search.SamplingDistribution | search.LqrSolution
    ):
        for part in fields(one):
            if part.name != "problem":
                same(getattr(one, part.name), getattr(other, part.name), f"{where}.{part.name}")
    else:
        assert one == other, where


def sections(count: int) -> tuple:
    return ((plan, "SECTION", count), (rollout, "SECTION", count))


# References come along with bodies at once, for a lost anchor to be noticed.
ANCHORED = (search, "_REACH_M", 0.0)
# Every fragment by itself is taken for lost, whatever was before it.
LOST = ((search.SamconSearch, "_lost_since", lambda self: len(self.layers) - 1), (search, "_LONG", 1))
HARD = (*sections(SHORT), ANCHORED, *LOST, (search, "_BACK", 2), (search, "_PATIENCE", 3.0))


@pytest.fixture(scope="module")
def hard() -> Scene:
    """Five fragments, in two sections, of which the search believes that all is lost as long as it may go back."""
    return Scene([waving(0.5)], constants=HARD)


@pytest.fixture(scope="module")
def repeated() -> Scene:
    """Two fragments whose first pass is made again, for it is taken for lost."""
    lost = (plan.Planner, "rate_trajectory", lambda self, trajectory: (True, float(trajectory.ends.sum())))
    return Scene([waving(0.2)], constants=(*sections(SHORT), ANCHORED, lost), repeats=True)


@pytest.fixture(scope="module")
def pushed() -> Scene:
    """One who is pushed in the second of ten fragments, which are one section."""
    push = Push(0, "hand", np.array([0.0, 0.0, 40.0]), 0.12, 0.05)
    return Scene([waving(1.0)], {"pushes": (push,)}, (*sections(10), ANCHORED))


@pytest.fixture(scope="module")
def two() -> Scene:
    """Two side by side, in two sections."""
    return Scene([waving(0.5), waving(0.5, x=3.0)], constants=(*sections(SHORT), ANCHORED))


def lost_from(frame: int) -> tuple:
    """The body is taken for lost from this frame of its source on."""
    return (
        (LostMotionDetector, "detect_toppled", lambda self, frames, *_: frames >= frame),
        (relaxing, "LOST_FRAGMENTS", 2),
    )


@pytest.fixture(scope="module")
def felled() -> Scene:
    """One who is pushed in the second of ten fragments and lets go after the fifth."""
    push = Push(0, "hand", np.array([0.0, 0.0, 40.0]), 0.12, 0.05)
    return Scene([waving(1.0)], {"pushes": (push,)}, (*sections(10), ANCHORED, *lost_from(24)))


@pytest.fixture(scope="module")
def limp() -> Scene:
    """One whom nobody pushes, who lets go after the fifth of ten fragments, in the middle of the second section."""
    return Scene([waving(1.0)], constants=(*sections(SHORT), ANCHORED, *lost_from(24)))


def now(arrays, *, who=0, number=0) -> bool:
    """Whether this one is making a plan and in this pass."""
    return "plan" in arrays and arrays["plan"][:2].tolist() == [who, number]


HARD_MOMENTS = {
    "soon after the beginning": lambda a: now(a) and not len(a["offsets"]),
    "after going back, with samples drawn to where it lasted": lambda a: now(a) and len(a["scatter_at"]) > 1,
    "after learning anew where the body is": lambda a: now(a) and len(a["learned_at"]) > 1,
    "in the second pass, which knows a way": lambda a: now(a, number=1) and len(a["layer_kept_count"]) == 2,
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


@pytest.fixture
def later(hard):
    """Arrays of a moment at which there is something of everything."""
    full = hard.moments(
        lambda a: now(a, number=1) and len(a["scatter_at"]) and len(a["learned_at"]) and len(a["begun"])
    )
    return read(hard.run.saved[full[-1]])


def untouched(rollout) -> bool:
    (character,) = rollout.characters
    return (rollout.start_states, rollout.waiting, rollout.planning, character.trajectory) == ([], [], None, None)


def test_a_checkpoint_that_is_not_whole_is_refused_and_changes_nothing(hard, later):
    with hard.made() as rollout:
        # Without the first numbers of a plan or trajectory there is none, which is no fault.
        for name in later.keys() - {"plan", "plan_firsts", "way0_first", "astray"}:
            values = later[name]
            wrong = [values.astype("S8"), values[None]]
            if values.ndim > 1:
                wrong.append(np.concatenate([values, values], axis=-1))
            for arrays in ({**later, name: None}, *({**later, name: value} for value in wrong)):
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


def test_bullet_goes_on_too():
    pytest.importorskip("pybullet")
    push = Push(0, "hand", np.array([0.0, 0.0, 40.0]), 0.12, 0.05)
    scene = Scene([waving(0.4)], {"pushes": (push,)}, sections(4), engine="bullet")
    scene.resumed(scene.moments(lambda a: now(a, number=1))[0])


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
