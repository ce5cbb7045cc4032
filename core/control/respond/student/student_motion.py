# SPDX-License-Identifier: GPL-3.0-or-later
"""From cues to a motion that a student plays; motion editing puts what it does on its frames and in its places."""

from dataclasses import dataclass

import numpy as np

from ....errors import BadSettings
from ....motion import Clip
from ...editing.constraints import FrameNumbers
from ...matching.directing import IDLE
from ...matching.features import FPS
from ...matching.foot_locking import lock_feet_in_contact
from ..cues import Cue, CueSheet
from ..goals import Goal
from ..interludes import GOING, Interludes
from ..pose_features import local_joints
from ..reaching import WantedMoment, make_reaim, reach_moments
from ..responding import Responding, ResponseMotion
from ..root_paths import RootPath
from .controls import LONGEST_S, Controls
from .state_layout import STUDENT_FPS
from .student import Student, StudentPlayer
from .student_trials import read_states

_KEY_S, _TAIL_S, _FOLLOW_S = 0.2, 1.0, 0.4
_FAR_M = 1.0  # from where on it goes to a place before it does anything there
_NEAR_S = 0.3  # around a cue in which it may have been done


@dataclass(frozen=True)
class _Told:
    """What one character is told in a frame: the word, seconds left, heading and place, NaN for none."""

    word: int
    left_s: float = 0.0
    heading: float = np.nan
    place: complex = complex(np.nan, 0.0)

    @property
    def controls(self) -> Controls:
        return Controls(
            np.array([self.word]), np.array([self.left_s]), np.array([self.heading]), np.array([self.place])
        )


def play_cues(
    responding: Responding,
    student: Student,
    sheet: CueSheet,
    start: tuple[float, float],
    heading: float,
    reach: bool,
    hurry: float,
    name: str,
) -> ResponseMotion:
    """The motion that cues ask for, as a student does it."""
    goals = responding.find_goals(sheet.cues)
    for cue in sheet.cues:
        if cue.deed not in student.words:
            raise BadSettings(
                f"The student has not learned '{cue.deed}'",
                f"It can be told: {', '.join(student.words)}; or choose Exact at Answer By",
            )
    clip, flags, path = _play(responding, student, sheet, goals, start, heading, name)
    clip = lock_feet_in_contact(responding.body, clip, flags)
    poses = local_joints(responding.body, clip)
    keys: list[int] = []
    moments: list[int] = []
    for cue, goal in zip(sheet.cues, goals, strict=True):
        done, key = _find_moment(responding, poses, goal, cue.at, moments[-1] + 6 if moments else 1)
        moments.append(done)
        keys.append(key)
    limbs = tuple(
        None if cue.hit is None else responding.hitting(goal).limbs[int(np.searchsorted(goal.frames, key))]
        for cue, goal, key in zip(sheet.cues, goals, keys, strict=True)
    )
    wanted = []
    for cue, limb, done in zip(sheet.cues, limbs, moments, strict=True):
        turn = None if cue.heading is None else float(np.angle(np.exp(1j * (cue.heading - path.yaw[done]))))
        place, turn, hit = (cue.place, turn, cue.hit) if reach else (None, None, None)
        wanted.append(WantedMoment(done, cue.at / FPS, place, turn, _KEY_S, limb.name if limb and reach else "", hit))
    numbers = FrameNumbers(sheet.fps, sheet.frame_start, sheet.fps / FPS)
    edited = reach_moments(responding.body, clip, wanted, numbers, hurry)
    motion = clip if edited is None else edited.clip
    reaim = make_reaim(responding.body, clip, wanted, numbers, hurry)
    return ResponseMotion(motion, path, tuple(keys), (0.0,) * len(keys), limbs, reaim=reaim)


def _play(
    responding: Responding,
    student: Student,
    sheet: CueSheet,
    goals: list[Goal],
    start: tuple[float, float],
    heading: float,
    name: str,
) -> tuple[Clip, np.ndarray, RootPath]:
    """The student's motion at 60 frames a second, where its feet stand (T, F), and its root's path."""
    first = Interludes(responding.database, sheet.cues, responding.fastest_m_s).find_beginning(np.random.default_rng(0))
    states = read_states(responding, student.layout, np.array([first]))
    player = StudentPlayer(student, states, np.array([complex(*start)]), np.array([heading]))
    raw, pos, yaw = [player.raw[0]], [complex(*start)], [heading]
    count = int(np.ceil((sheet.cues[-1].time_s + _TAIL_S) * STUDENT_FPS))
    for number in range(1, count + 1):
        player.step(_tell(student, responding, sheet, goals, number / STUDENT_FPS, complex(player.pos[0])).controls)
        raw.append(player.raw[0])
        pos.append(complex(player.pos[0]))
        yaw.append(float(player.yaw[0]))
    states_made = np.stack(raw)
    skeleton = responding.library.motion.skeleton
    clip = student.layout.clip(skeleton, states_made, np.array(pos), np.array(yaw), name).resample(FPS, end="hold")
    places = np.minimum(np.arange(len(clip)) * STUDENT_FPS / FPS, len(pos) - 1)
    flags = states_made[np.rint(places).astype(int), student.layout.contacts] > 0.5
    shown = np.interp(places, np.arange(len(pos)), np.real(pos)) + 1j * np.interp(
        places, np.arange(len(pos)), np.imag(pos)
    )
    path = RootPath(np.full(len(clip), first), shown, np.interp(places, np.arange(len(yaw)), yaw))
    return clip, flags, path


def _tell(
    student: Student, responding: Responding, sheet: CueSheet, goals: list[Goal], time_s: float, here: complex
) -> _Told:
    """What it is told at a time: the next cue, when that is near enough; before that, to go there or to wait."""
    words, number = student.words, 0
    while number < len(sheet.cues) and sheet.cues[number].time_s + _FOLLOW_S < time_s:
        number += 1
    waits = next((words.index(one) for one in (IDLE, *GOING) if one in words), 0)
    if number == len(sheet.cues):
        return _Told(waits)
    cue = sheet.cues[number]
    begins = LONGEST_S - 0.5
    if cue.time_s - time_s <= begins:
        there, faces = _aim(responding, cue, goals[number], here)
        left = cue.time_s - time_s
        if left < 0.0:
            return _Told(words.index(cue.deed))
        return _Told(words.index(cue.deed), left, faces, there)
    away = cue.ground_from(here)
    goes = next((words.index(one) for one in GOING if one in words), None)
    if away is None or goes is None or abs(away - here) < _FAR_M:
        return _Told(waits)
    return _Told(goes, 0.0, float(np.angle(away - here)))


def _aim(responding: Responding, cue: Cue, goal: Goal, here: complex) -> tuple[complex, float]:
    """Where the root is to be for a cue, and which way to face; NaN for any."""
    faces = np.nan if cue.heading is None else cue.heading
    if cue.place is not None:
        return complex(*cue.place), faces
    if cue.hit is None:
        return complex(np.nan, 0.0), faces
    target, limb = complex(*cue.hit[:2]), responding.hitting(goal).usual
    faces = float(np.angle(target - here) - np.angle(limb)) if cue.heading is None else faces
    return target - np.exp(1j * faces) * limb, faces


def _find_moment(responding: Responding, poses: np.ndarray, goal: Goal, at: int, least: int) -> tuple[int, int]:
    """(frame, key): when about a cue's time a motion is nearest to a key pose, and the key's frame of the library."""
    reach = round(_NEAR_S * FPS) if goal.is_deed else 0
    first, stop = max(at - reach, least), min(at + reach + 1, len(poses))
    first = min(first, stop - 1)
    chosen = goal.frames if goal.is_deed else goal.frames[:: max(len(goal.frames) // 64, 1)]
    keys = local_joints(responding.body, responding.key_poses(chosen.tolist()))
    far = np.stack([np.linalg.norm(poses[first:stop] - key, axis=-1).mean(axis=-1) for key in keys])
    key, frame = np.unravel_index(int(far.argmin()), far.shape)
    return first + int(frame), int(chosen[key])
