# SPDX-License-Identifier: GPL-3.0-or-later
"""The same trials as of the exact answer, played by a student: all of them at once, from the same moments."""

from collections.abc import Sequence

import numpy as np

from ....motion import Clip
from ...matching.features import FPS
from ...matching.matching import Complex, to_complex
from ..goals import find_goal
from ..pose_features import local_joints
from ..responding import Responding
from ..transition_graph import Frames
from ..trials import (
    DONE_M,
    AskedDeed,
    AskedTurn,
    ResponseTrial,
    ask_deeds,
    ask_turns,
    is_about_deeds,
    time_turn,
)
from .controls import Controls
from .episodes import find_steps
from .state_layout import STUDENT_FPS, StudentLayout, encode_raw
from .student import Student, StudentPlayer

_MORE_S = 0.6  # that is played beyond the time, to see what is late
_EACH = round(FPS / STUDENT_FPS)


def read_states(responding: Responding, layout: StudentLayout, frames: Frames) -> np.ndarray:
    """(N, S) normalised states of frames of the library, as seen from their roots."""
    database, motion = responding.database, responding.library.motion
    clip = Clip(motion.skeleton, STUDENT_FPS, motion.local_pos[frames], motion.local_quat_wxyz[frames], "states")
    first = responding.library.starts[database.clip_of[frames]]
    earlier = np.maximum(frames - _EACH, first)
    place, yaw = to_complex(np.asarray(database.track.pos)), np.asarray(database.track.heading)
    pairs = [
        find_steps(place[[one, other]], yaw[[one, other]])[1]
        for one, other in zip(earlier.tolist(), frames.tolist(), strict=True)
    ]
    active = np.zeros((len(frames), len(layout.deeds)))
    flags = responding.contacts[frames].astype(float)
    return layout.normalise(encode_raw(layout, clip, (place[frames], yaw[frames]), np.array(pairs), flags, active))


def play_tasks(
    responding: Responding,
    student: Student,
    frames: Frames,
    told: Controls,
    seconds: float,
) -> tuple[np.ndarray, Complex, np.ndarray]:
    """Raw states (T, N, S), places (T, N) and headings (T, N) of characters that begin in frames, at the origin.

    told: of each, at the beginning; the time that is left runs out as they play.
    """
    count = round(seconds * STUDENT_FPS)
    states = read_states(responding, student.layout, frames)
    player = StudentPlayer(student, states, np.zeros(len(frames), dtype=complex), np.zeros(len(frames)))
    raw, pos, yaw = [player.raw], [player.pos.copy()], [player.yaw.copy()]
    for number in range(count):
        left = np.maximum(told.left_s - (number + 1) / STUDENT_FPS, 0.0)
        player.step(Controls(told.action, left, told.heading, told.place))
        raw.append(player.raw)
        pos.append(player.pos.copy())
        yaw.append(player.yaw.copy())
    return np.stack(raw), np.stack(pos), np.stack(yaw)


def student_trials(
    responding: Responding,
    student: Student,
    tau_s: float,
    count: int,
    rng: np.random.Generator,
    task: str = "auto",
    share: float = 0.0,
) -> list[ResponseTrial]:
    """The trials that ``run_trials`` makes of the exact answer, with the same randomness."""
    if is_about_deeds(responding, task):
        return student_deeds(responding, student, ask_deeds(responding, tau_s, count, rng, share))
    return student_turns(responding, student, ask_turns(responding, tau_s, count, rng))


def student_deeds(responding: Responding, student: Student, asked: Sequence[AskedDeed]) -> list[ResponseTrial]:
    """What a student does of deeds, each within its time; one is done when the pose is nearest to a key pose."""
    return [trial for trial, _ in play_deeds(responding, student, asked)]


def play_deeds(
    responding: Responding, student: Student, asked: Sequence[AskedDeed]
) -> list[tuple[ResponseTrial, Clip]]:
    """The same with the motion of each, whose first frame is the one in which it is asked for."""
    frames, none = np.array([one.frame for one in asked]), np.full(len(asked), np.nan)
    words = np.array([student.words.index(one.name) for one in asked])
    taus = np.array([one.tau_s for one in asked])
    told = Controls(words, taus, none, none + 0j)
    raw, pos, yaw = play_tasks(responding, student, frames, told, float(taus.max()) + _MORE_S)
    found, skeleton = [], responding.library.motion.skeleton
    for number, one in enumerate(asked):
        stop = min(round((one.tau_s + _MORE_S) * STUDENT_FPS), len(raw) - 1) + 1
        clip = student.layout.clip(skeleton, raw[:stop, number], pos[:stop, number], yaw[:stop, number], one.name)
        goal = find_goal(responding.library, one.name)
        keys = local_joints(responding.body, responding.key_poses(goal.frames.tolist()))
        poses = local_joints(responding.body, clip)[1:]
        far = np.stack([np.linalg.norm(poses - key, axis=-1).mean(axis=-1) for key in keys]).min(axis=0)
        done, near = int(far.argmin()) + 1, float(far.min())
        ttc_s = done / STUDENT_FPS if near <= DONE_M else None
        # Frames are a thirtieth of a second apart: who is done in the one that the time ends in is on time.
        tau_s = np.ceil(one.tau_s * STUDENT_FPS - 1e-6) / STUDENT_FPS
        found.append((ResponseTrial(one.name, 0.0, ttc_s, 0.0, float(tau_s), one.before, 1.0, near), clip))
    return found


def student_turns(responding: Responding, student: Student, asked: Sequence[AskedTurn]) -> list[ResponseTrial]:
    """What a student does of changes of direction."""
    frames, turns = np.array([one.frame for one in asked]), np.array([one.turn for one in asked])
    words = np.array([student.words.index(one.style) for one in asked])
    taus = np.array([one.tau_s for one in asked])
    told = Controls(words, taus, turns, np.full(len(asked), np.nan + 0j))
    _, _, yaw = play_tasks(responding, student, frames, told, float(taus.max()) + _MORE_S)
    found = []
    for number, one in enumerate(asked):
        ttc_s = time_turn(yaw[1:, number], one.turn, STUDENT_FPS)
        tau_s = np.ceil(one.tau_s * STUDENT_FPS - 1e-6) / STUDENT_FPS
        found.append(ResponseTrial(one.style, one.turn, ttc_s, 0.0, float(tau_s)))
    return found
