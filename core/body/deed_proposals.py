# SPDX-License-Identifier: GPL-3.0-or-later
"""Key moments that Sinew proposes for deeds: where a hand or foot has reached out, or the hips are highest or lowest.

Who stays about where it is does something with a limb, and the limb that acts goes furthest and fastest from where it
mostly is. Limbs of who runs swing all the time: there it is the height of the hips that says when it is done.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..geometry.angles import arctan2_exact
from ..geometry.differences import velocity
from ..geometry.quaternions import Array, conjugate, multiply
from ..motion import Clip
from ..motion.clip import Tag
from ..motion.deeds import Deed, is_periodic
from .model import BodyModel
from .stances import smooth_hann
from .style_proposals import measure_hip_height

_SMOOTH_S = 0.05
_TRAVELS = 0.35  # of the leg's length a second times the square root of gravity over it: faster hips travel
_LEAST_REACH = 0.3  # of the leg's length, from where a limb mostly is
_LEAST_HEIGHT, _RUN_HEIGHT = 0.06, 0.97  # of the leg's length; hips of who runs are between 0.9 and 1.07
_LEAST_SPEED_M_S = 1.0  # on the way out
_OUT_S = 0.5  # in which a limb goes out
_SHARE, _SHARE_OF_OTHERS = 0.5, 0.8  # of the greatest score in a clip, by the limb that has it and by other ones
_APART_S, _HEIGHTS_APART_S = 0.4, 1.0  # between two key moments of limbs, and of hips
_RUN_UP_S = 0.4  # of its clip before a key moment: with less, nobody could get there
_THERE = 0.97  # of a reach that is held, which is as good as there
_EDGE = 0.2  # of the reach at which a deed begins and ends
_LONGEST_S = 1.2  # from its beginning to its key moment, and from there to its end
_GRAVITY_M_S2 = 9.81
_WORDS = {
    "foot": ("kick", "stomp", "knee"),
    "hand": ("punch", "jab", "block", "strike", "slap", "throw", "catch", "grab", "wave", "push", "swing"),
}


@dataclass(frozen=True, eq=False)
class _Signal:
    """What may say when a deed is done: (T,) how far out something is, and (T,) how much that counts at each frame.

    role: of the link that it is about.
    """

    out: Array
    score: Array
    role: str


def propose_deeds(body: BodyModel, clip: Clip, tags: Iterable[Tag]) -> tuple[Deed, ...]:
    """Deeds with the names of those tags that are no proposals and do not go on and on, within their frames.

    The clip must be on the ground, and have the body's skeleton.
    """
    names = [tag for tag in tags if not tag.is_proposal and not is_periodic(tag.name)]
    if not names or len(clip) < 3:
        return ()
    signals = _measure(body, clip)
    found = []
    for tag in names:
        role = find_acting_role(tag.name)
        acting = [signal for signal in signals if signal.role == role]
        found += _find_in(acting or signals, tag, clip.fps, _SHARE if acting else _SHARE_OF_OTHERS)
    return tuple(found)


def find_acting_role(name: str) -> str:
    """Whether a deed's name says that it is done by hand or by foot; '' if it does not."""
    return next((role for role, words in _WORDS.items() if any(word in name.lower() for word in words)), "")


def _measure(body: BodyModel, clip: Clip) -> list[_Signal]:
    pos, quat = clip.world()
    root = clip.skeleton.index(body.links[0].bone)
    leg_m = measure_hip_height(body)
    hip = smooth_hann(pos[:, root], clip.fps, _SMOOTH_S)
    speed = np.hypot(*smooth_hann(velocity(hip, clip.dt_s), clip.fps, 0.5).T[:2])
    if float(np.median(speed)) > _TRAVELS * np.sqrt(_GRAVITY_M_S2 * leg_m):
        return _measure_heights(hip[:, 2], leg_m)
    return _measure_limbs(body, clip, pos, quat[:, root], root, leg_m)


def _measure_heights(height: Array, leg_m: float) -> list[_Signal]:
    """The hips above and below where they are in a run, of which the further one counts."""
    away = height - _RUN_HEIGHT * leg_m
    out = away if float(away.max()) > float(-away.min()) else -away
    return [_Signal(out, np.where(out > _LEAST_HEIGHT * leg_m, out, 0.0), "pelvis")]


def _measure_limbs(body: BodyModel, clip: Clip, pos: Array, root_quat: Array, root: int, leg_m: float) -> list[_Signal]:
    """Hands and feet as seen from the hips: how far each is from where it mostly is, and how fast it went there."""
    rest = body.skeleton.rest_world()[1][root]
    whole = multiply(root_quat, conjugate(rest))
    heading = smooth_hann(np.unwrap(np.asarray(2.0 * arctan2_exact(whole[:, 3], whole[:, 0])))[:, None], clip.fps, 0.25)
    cos, sin = np.cos(heading), np.sin(heading)
    found = []
    for link in body.links:
        if link.role not in ("hand", "foot"):
            continue
        bone = clip.skeleton.index(link.bone)
        away = pos[:, bone] - pos[:, root] * [1.0, 1.0, 0.0]
        local = np.column_stack(
            [cos * away[:, :1] + sin * away[:, 1:2], cos * away[:, 1:2] - sin * away[:, :1], away[:, 2]]
        )
        local = smooth_hann(local, clip.fps, _SMOOTH_S)
        out = np.linalg.norm(local - np.median(local, axis=0), axis=-1)
        rate = np.maximum(velocity(out[:, None], clip.dt_s)[:, 0], 0.0)
        before = max(int(_OUT_S * clip.fps), 1)
        fastest = np.lib.stride_tricks.sliding_window_view(np.concatenate([np.zeros(before), rate]), before + 1).max(-1)
        counts = (out > _LEAST_REACH * leg_m) & (fastest > _LEAST_SPEED_M_S)
        found.append(_Signal(out, np.where(counts, out * fastest, 0.0), link.role))
    return found


def _find_in(signals: list[_Signal], tag: Tag, fps: float, of_others: float) -> list[Deed]:
    """The deeds of a tag: the greatest local maxima, of which no two are near each other.

    of_others: the share of the greatest score that counts where another limb has it.
    """
    apart = fps * (_HEIGHTS_APART_S if signals[0].role == "pelvis" else _APART_S)
    inside = slice(tag.start, tag.stop)
    most = max((float(signal.score[inside].max()) for signal in signals), default=0.0)
    peaks: list[tuple[float, int, Array]] = []
    for signal in signals:
        score, out = signal.score[inside], signal.out[inside]
        middle = out[1:-1]
        least = most * (_SHARE if score.max() == most else of_others)
        is_peak = (middle >= out[:-2]) & (middle > out[2:]) & (score[1:-1] > 0.0) & (score[1:-1] >= least)
        places = np.flatnonzero(is_peak) + 1
        places = places[places >= min(_RUN_UP_S * fps, len(out) / 3)]
        peaks += [(float(score[place]), int(place), out) for place in places]
    chosen: list[tuple[int, Array]] = []
    for _, place, out in sorted(peaks, key=lambda peak: (-peak[0], peak[1])):
        if all(abs(place - other) >= apart for other, _ in chosen):
            chosen.append((place, out))
    return [_make_deed(tag, place, out, fps) for place, out in sorted(chosen, key=lambda one: one[0])]


def _make_deed(tag: Tag, peak: int, out: Array, fps: float) -> Deed:
    """A deed around a peak: its key moment is when the reach is first there, its ends are where it is least."""
    most, low = int(_LONGEST_S * fps), _EDGE * out[peak]
    first = max(peak - most, 0)
    near = np.flatnonzero(out[first : peak + 1] < _THERE * out[peak])
    key = first + (int(near[-1]) + 1 if len(near) else 0)
    before = np.flatnonzero(out[first:key] < low)
    after = np.flatnonzero(out[peak : peak + most] < low)
    start = first + int(before[-1] if len(before) else out[first : key + 1].argmin())
    stop = peak + int(after[0] if len(after) else out[peak : peak + most].argmin()) + 1
    return Deed(tag.name, tag.start + start, tag.start + key, tag.start + max(stop, key + 1), True)
