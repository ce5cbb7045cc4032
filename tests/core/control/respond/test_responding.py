# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion on cue: key moments on their frames, places that are come to, and the same from the same seed."""

import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.core import jobs
from sinew.core.control.respond.cue_report import report_cues
from sinew.core.control.respond.cues import CUES, CueSheet, cues_to_arrays, parse_cue, sort_cues
from sinew.core.control.respond.goals import find_goal
from sinew.core.control.respond.learned_file import RESPONDER
from sinew.core.control.respond.responding import Responding
from sinew.core.control.respond.trials import run_trials
from sinew.core.control.tracking.facing import twist_angle, upright_rotation
from sinew.core.control.tracking.library_files import store_library
from sinew.core.errors import BadFile, BadSettings
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion import Clip


@pytest.fixture(scope="module")
def responding():
    """A small library, made ready."""
    stored = make_deeds()
    return Responding(stored.body, stored.library)


def rng(seed):
    """A generator."""
    return np.random.default_rng(seed)


def sheet_of(*texts, fps=30.0):
    """Cues from frame 1 on."""
    return CueSheet(sort_cues(parse_cue(text, 1, fps) for text in texts), 1, fps)


def rows_of(responding, sheet, made):
    """What is reported of a motion without physics."""
    return report_cues(responding.body, sheet, responding.key_poses(made.keys), made.limbs, made.motion, made.motion)


def test_key_moments_fall_on_the_asked_frames(responding):
    sheet = sheet_of("kick@60", "kick@111", "kick@200")
    made = responding.make_motion(sheet, np.random.default_rng(1))
    goal = find_goal(responding.library, "kick")
    assert all(made.path.frame[cue.at] in goal.frames for cue in sheet.cues)
    rows = rows_of(responding, sheet, made)
    assert all(abs(row["done_frame"] - row["asked_frame"]) <= 1 for row in rows)
    assert all(row["pose_error_m"] < 0.03 and row["distance_m"] is None for row in rows)
    # Between them no leg is lifted, and the motion goes on without a jolt.
    passed = np.isin(made.path.frame, goal.frames)
    assert passed.sum() == 3
    jolt = np.linalg.norm(np.diff(made.motion.world()[0], n=2, axis=0), axis=-1).max()
    assert jolt < 0.1


def test_a_place_is_come_to_by_walking_and_by_bending_the_way(responding):
    sheet = sheet_of("walk@150:3,1", "kick@260:4,2")
    made = responding.make_motion(sheet, np.random.default_rng(0), reach=False)
    rows = rows_of(responding, sheet, made)
    assert [row["distance_m"] < 0.3 for row in rows] == [True, True], rows
    speed = np.abs(np.diff(made.path.pos)) * 60.0
    assert speed.max() < 2.5


def test_editing_puts_cues_in_their_places_with_key_poses_and_frames_as_they_were(responding):
    sheet = sheet_of("walk@150:3,1", "kick@260:4,2,40")
    plain, edited = (responding.make_motion(sheet, np.random.default_rng(0), reach=reach) for reach in (False, True))
    rows = rows_of(responding, sheet, edited)
    assert all(row["distance_m"] < 0.01 and row["done_frame"] == row["asked_frame"] for row in rows), rows
    assert not edited.findings and len(edited.motion) == len(plain.motion)
    at, inner = sheet.cues[1].at, slice(1, None)
    turned = angle_between(edited.motion.local_quat_wxyz[at, inner], plain.motion.local_quat_wxyz[at, inner])
    assert turned.max() < 0.05
    # What the way was planned to face, it is turned from to what was asked for.
    faced = [
        twist_angle(one.motion.world()[1][at, :1], upright_rotation(responding.body))[0] for one in (plain, edited)
    ]
    left = np.radians(40.0) - plain.path.yaw[at]
    assert abs(np.angle(np.exp(1j * (faced[1] - faced[0] - left)))) < 0.02


def test_a_target_is_hit_by_the_foot_that_kicks(responding):
    sheet = sheet_of("kick@110=2.5,0.8,0.6")
    made = responding.make_motion(sheet, np.random.default_rng(0))
    (limb,) = made.limbs
    foot = next(link.bone for link in responding.body.links if link.role == "foot" and link.side == "R")
    assert limb.name == foot
    (row,) = rows_of(responding, sheet, made)
    assert row["distance_m"] < 0.01 and row["done_frame"] == 110 and row["limb"] == foot
    # It has walked there, rather than glided.
    assert not made.findings and abs(made.path.pos[sheet.cues[0].at] - (2.5 + 0.8j)) < 1.5
    with pytest.raises(BadSettings, match=r"short of its target at frame 110"):
        responding.make_motion(sheet_of("kick@110=2.5,0.8,2.6"), np.random.default_rng(0))
    with pytest.raises(BadSettings, match="'walk' is a style, and hits nothing"):
        responding.make_motion(sheet_of("walk@110=2.5,0.8,0.6"), np.random.default_rng(0))


def test_a_place_that_is_only_glided_to_is_told(responding):
    made = responding.make_motion(sheet_of("kick@60:-1.5,0"), np.random.default_rng(1))
    assert [finding.kind for finding in made.findings] == ["cue"] and "glide" in made.findings[0].message


def test_the_same_seed_gives_the_same_motion(responding):
    one, again = (responding.make_motion(sheet_of("kick@80"), np.random.default_rng(3)).motion for _ in range(2))
    assert np.array_equal(one.local_quat_wxyz, again.local_quat_wxyz)


def test_trials_count_what_is_done_within_the_time(responding):
    found = [run_trials(responding, *asked, hurry=1.0) for asked in ((0.2, 40, rng(2)), (1.5, 40, rng(2)))]
    counted = [sum(trial.is_on_time for trial in trials) for trials in found]
    assert counted[0] < counted[1] == 40 and {trial.pace for trial in found[1]} == {1.0}
    # Who may hurry is on time more often, and its pose at the key moment is still the deed's.
    hurried = run_trials(responding, 0.2, 40, rng(2))
    assert counted[0] < sum(trial.is_on_time for trial in hurried)
    faster = [trial for trial in hurried if trial.pace > 1.0]
    assert faster and all(trial.pace <= 3.0 and trial.pose_m < 0.05 for trial in faster)
    turns = run_trials(responding, 1.2, 40, np.random.default_rng(2), "direction")
    on_time = [trial for trial in turns if trial.is_on_time]
    assert on_time and {trial.name for trial in turns} == {"walk"}
    assert all(trial.is_on_time for trial in turns if abs(trial.turn) < 0.15)


def job_of(method, settings, seed=0, **more):
    """A job of the family, done in a worker."""
    stored = make_deeds()
    skeleton = stored.body.skeleton
    clip = Clip(
        skeleton, 30.0, *(np.repeat(a[None], 30, 0) for a in (skeleton.rest_pos, skeleton.rest_quat_wxyz)), "it"
    )
    attachments = {RESPONDER.attachment: store_library(stored), **more}
    job = jobs.create(clip, method=method, settings=settings, seed=seed, attachments=attachments)
    status = jobs.wait(job, jobs.launch(job))
    return job, status


def test_a_take_without_physics_and_its_report():
    cues = cues_to_arrays(sheet_of("kick@60").cues, 1, 30.0)
    job, status = job_of("respond_bake", {"physics": False}, **{CUES: cues})
    assert status.state == "done", status.message
    (row,) = job.result().report["respond"]["cues"]
    assert row["asked_frame"] == 60 and abs(row["done_frame"] - 60) <= 1 and row["deed"] == "kick"
    assert job.result().take.motion.fps == 30.0


def test_what_cannot_be_is_what_the_job_says():
    _, status = job_of("respond_bake", {"physics": False})
    assert status.state == "failed" and "The job has no cues" in status.message
    cues = cues_to_arrays(sheet_of("kick@3").cues, 1, 30.0)
    _, status = job_of("respond_bake", {"physics": False}, **{CUES: cues})
    assert status.state == "failed" and "earliest frame" in status.hint


def test_a_test_leaves_its_figures():
    job, status = job_of("respond_test", {"tau": 1.0, "trials": 20}, seed=4)
    assert status.state == "done", status.message
    test = job.report()["test"]
    assert test["trials"] == 20 and test["on_time"] == 1.0 and 0.3 < test["mean_ttc_s"] <= 1.0
    assert test["by_name"]["kick"]["trials"] == 20


@pytest.mark.parametrize("task", ["deeds", "direction"])
def test_responses_are_tested_with_a_body(task):
    settings = {"tau": 1.0, "trials": 2, "physics": True, "quality": "draft", "task": task}
    job, status = job_of("respond_test", settings, seed=4)
    assert status.state == "done", status.message
    test = job.report()["test"]
    assert test["trials"] == 2 and test["physics"] is True and 0 <= test["falls"] <= 2
    assert test["on_time"] <= test["kinematic_on_time"] or task == "direction"
    assert task == "direction" or (test["kinematic_on_time"] == 1.0 and 0.3 < test["mean_ttc_s"] <= 1.2)


def test_what_cannot_be_in_time_is_put_off_where_that_is_asked_for(responding):
    sheet = sheet_of("kick@4", "kick@60")
    made = responding.make_motion(sheet, rng(0), put_off=True, reach=False)
    late = [put_off.at - cue.at for put_off, cue in zip(made.sheet.cues, sheet.cues, strict=True)]
    assert 0 < late[0] <= 30 and late[1] >= late[0]
    goal = find_goal(responding.library, "kick")
    keys = responding.key_poses(made.keys)
    rows = report_cues(responding.body, made.sheet, keys, made.limbs, made.motion, made.motion)
    assert set(made.keys) <= set(goal.frames.tolist()) and all(row["pose_error_m"] < 0.05 for row in rows)
    assert all(
        abs(row["done_frame"] - made.sheet.frame_of(cue.at)) <= 1
        for row, cue in zip(rows, made.sheet.cues, strict=True)
    )


def test_what_is_no_library_or_cut_is_refused(tmp_path):
    path = tmp_path / "a.library.npz"
    RESPONDER.write_content(path, *store_library(make_deeds()))
    whole = path.read_bytes()
    assert RESPONDER.from_content(RESPONDER.read_content(path), "it").clips[-1].deeds
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadFile):
        RESPONDER.from_content(RESPONDER.read_content(path), "it")
    with pytest.raises(BadFile, match="has no library in it"):
        RESPONDER.from_content(({}, {"kind": "other"}), "it")


def test_a_file_that_says_nothing_of_deeds_is_looked_through():
    arrays, meta = store_library(make_deeds())
    for row in meta["clips"]:
        del row["deeds"]
    assert RESPONDER.from_content((arrays, meta), "it").clips[-1].deeds == make_deeds().clips[-1].deeds
