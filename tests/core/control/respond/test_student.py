# SPDX-License-Identifier: GPL-3.0-or-later
"""A student: what it is shown, how it plays, what is trained and kept, and what is wrong with what it is given."""

import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.core import jobs
from sinew.core.control.respond.bake_method import choose_student
from sinew.core.control.respond.critical_times import find_critical_times, find_shortest
from sinew.core.control.respond.cues import CUES, cues_to_arrays, parse_cue, sort_cues
from sinew.core.control.respond.goals import deed_names, find_goal
from sinew.core.control.respond.learned_file import RESPONDER, TrainedResponder, responder_from_content
from sinew.core.control.respond.responding import Responding
from sinew.core.control.respond.student.controls import Controls
from sinew.core.control.respond.student.episodes import EpisodeMaker, list_words
from sinew.core.control.respond.student.state_layout import make_layout
from sinew.core.control.respond.student.student import StudentPlayer
from sinew.core.control.respond.student.student_trials import read_states
from sinew.core.control.tracking.library_files import store_library
from sinew.core.errors import BadFile, BadSettings, NotLearned
from sinew.core.motion import Clip

SETTINGS = {"minutes": 2.0, "updates": 80, "shown": 0.8, "units": 32, "layers": 1, "trials": 5, "teacher": 0.004}


@pytest.fixture(scope="module")
def responding():
    """A small library, made ready."""
    stored = make_deeds()
    return Responding(stored.body, stored.library)


def job_of(method, settings, content, seed=0, **more):
    """A job of the family, done in a worker."""
    skeleton = make_deeds().body.skeleton
    clip = Clip(
        skeleton, 30.0, *(np.repeat(a[None], 30, 0) for a in (skeleton.rest_pos, skeleton.rest_quat_wxyz)), "it"
    )
    attachments = {RESPONDER.attachment: content, **more}
    job = jobs.create(clip, method=method, settings=settings, seed=seed, attachments=attachments)
    return job, jobs.wait(job, jobs.launch(job))


@pytest.fixture(scope="module")
def trained():
    """A student of some seconds: what the job made, and the file's content."""
    pytest.importorskip("torch")
    job, status = job_of("respond_train", SETTINGS, store_library(make_deeds()), seed=3)
    assert status.state == "done", status.message
    return job, job.product(RESPONDER.name)


def test_critical_times_are_the_longest_of_shortest_paths(responding):
    (found,) = find_critical_times(responding).values()
    ends, table = responding.planner.ends, responding.table(find_goal(responding.library, "kick"))
    (kicks,) = (np.flatnonzero(responding.library.find_frames("kick")),)
    shortest = find_shortest(table, ends, kicks)
    assert 0.3 < found < 1.5
    for frame, count in zip(kicks[::40].tolist(), shortest[::40].tolist(), strict=True):
        steps, rest = divmod(count, 8)
        assert np.isfinite(table.cost[steps, frame + rest])
        earlier = [divmod(less, 8) for less in range(1, count)]
        assert not any(np.isfinite(table.cost[s, frame + r]) for s, r in earlier if frame + r <= ends[frame])


def test_what_is_shown_does_what_it_is_told_in_time(responding):
    words = list_words(responding)
    assert words[0] == "kick" and "walk" in words
    layout = make_layout(responding.body, responding.library.motion, 2, deed_names(responding.library))
    made = EpisodeMaker(responding, words, layout).make(8.0, np.random.default_rng(1))
    controls, count = made.controls, len(words)
    kicks = (controls[:, 0] == 1.0) & (controls[:, count] == 0.0)
    begins = np.flatnonzero(kicks & ~np.roll(kicks, 1))
    assert len(begins) >= 2
    # Where the time for a kick has run out its foot is up; it is told where that is, and which way it faces.
    foot = layout.joints.tolist().index(responding.body.skeleton.index("foot.R"))
    height = made.states[:, layout.places][:, 3 * foot + 2]
    assert (height[begins] > 0.35).all() and np.median(height) < 0.2
    placed = begins[controls[begins, count + 5] == 1.0]
    assert (np.abs(controls[placed, count + 6 : count + 8]) < 0.2).all()


def test_states_become_the_poses_that_they_were_made_of(responding):
    layout = make_layout(responding.body, responding.library.motion, 2, deed_names(responding.library))
    frames = np.array([40, 300, 900])
    states, track = read_states(responding, layout, frames), responding.database.track
    pos, quat = layout.decode(layout.raw(states), track.pos[frames] @ [1.0, 1.0j], track.heading[frames])
    clip = Clip(responding.library.motion.skeleton, 30.0, pos, quat, "again")
    assert np.abs(clip.world()[0] - responding.library.motion.world()[0][frames]).max() < 2e-3


def test_a_trained_library_plays_without_torch_and_many_at_once(trained, responding):
    job, content = trained
    found = responder_from_content(*content, "it")
    assert isinstance(found, TrainedResponder) and "on time" in RESPONDER.describe(found)[-1]
    report = job.report()["train"]
    assert set(report["tests"]) == {"exact", "student"} and report["default"] in report["tests"]
    assert set(job.report()["teacher"]["cost_m2"]) == {"teacher", "exact", "tables"}
    student = found.student
    states = read_states(responding, student.layout, np.arange(100, 140))
    none = np.full(40, np.nan)
    player = StudentPlayer(student, states, np.zeros(40), np.zeros(40))
    for _ in range(60):
        player.step(Controls(np.zeros(40, dtype=int), np.full(40, 0.5), none, none + 0j))
    pos, quat = player.poses()
    assert np.isfinite(pos).all() and np.allclose(np.linalg.norm(quat, axis=-1), 1.0)
    # Each of many does what it does alone.
    alone = StudentPlayer(student, states[:1], np.zeros(1), np.zeros(1))
    for _ in range(60):
        alone.step(Controls(np.zeros(1, dtype=int), np.full(1, 0.5), none[:1], none[:1] + 0j))
    assert np.allclose(alone.states[0], player.states[0], atol=1e-3)


def test_a_student_is_at_a_key_pose_when_the_time_is_out(trained, responding):
    student = responder_from_content(*trained[1], "it").student
    maker = EpisodeMaker(responding, student.words, student.layout)
    made, count = maker.make(30.0, np.random.default_rng(8)), len(student.words)
    asked = [ask for ask in made.asked if ask.key >= 0 and 0.25 < ask.left_s < 1.0]
    assert len(asked) >= 3
    off = []
    for ask in asked:
        frames = int(np.argmax(made.due[ask.at + 1 :] == 0)) + 1
        player = StudentPlayer(student, student.layout.normalise(made.states[[ask.at]]), np.zeros(1), np.zeros(1))
        none, left_s = np.array([np.nan]), ask.left_s
        for number in range(frames):
            player.step(Controls(np.array([ask.word]), np.array([max(left_s - number / 30.0, 0.0)]), none, none + 0j))
        told = made.controls[ask.at + 1]
        assert told[ask.word] == 1.0 and told[count] == pytest.approx(ask.left_s)
        keys = student.keys.targets[:, : student.keys.size]
        off.append(np.abs(keys - player.raw[0, student.layout.places]).mean(axis=1).min())
    assert np.max(off) < 0.02


def test_a_trained_library_is_tested_and_answers_cues(trained):
    _, content = trained
    job, status = job_of("respond_test", {"tau": 1.0, "trials": 10, "answer": "student"}, content)
    assert status.state == "done", status.message
    test = job.report()["test"]
    assert test["answer"] == "student" and test["trials"] == 10 and 0.0 <= test["on_time"] <= 1.0
    cues = cues_to_arrays(sort_cues([parse_cue("kick@60:0.4,0.2", 1, 30.0)]), 1, 30.0)
    job, status = job_of("respond_bake", {"physics": False, "answer": "student"}, content, **{CUES: cues})
    assert status.state == "done", status.message
    (row,) = job.result().report["respond"]["cues"]
    assert row["asked_frame"] == 60 and row["distance_m"] < 0.3  # as far as it is moved after a half minute


def test_what_cannot_be_asked_of_a_student(trained, responding):
    found = responder_from_content(*trained[1], "it")
    with pytest.raises(BadSettings, match=r"beyond the 0\.3 m that the student was trained with"):
        choose_student(found, "student", 0.5)
    with pytest.raises(NotLearned, match="has no student"):
        choose_student(found.stored, "student", 0.3)
    assert choose_student(found.stored, "auto", 0.5) is None and choose_student(found, "exact", 0.5) is None


@pytest.mark.parametrize("spoil", ["cells_weights0", "mean", "bones", "words", "cut"])
def test_a_student_that_is_not_whole_is_refused(trained, spoil):
    arrays, meta = dict(trained[1][0]), trained[1][1]
    name = f"student_{spoil}"
    if spoil == "words":
        meta = {**meta, "student": {**meta["student"], "words": []}}
    elif spoil == "cut":
        arrays = {key: array for key, array in arrays.items() if "decoder" not in key}
    elif spoil == "bones":
        arrays[name] = arrays[name] + 1000
    else:
        arrays[name] = arrays[name][:-1]
    with pytest.raises(BadFile, match=r"not whole|do not fit"):
        responder_from_content(arrays, meta, "it")
