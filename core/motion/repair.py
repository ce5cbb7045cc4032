# SPDX-License-Identifier: GPL-3.0-or-later
"""Dropouts, spikes and jumps of joints: frames that no body could have gone through are made from their neighbours."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, angle_between, slerp
from .clip import Clip
from .discontinuities import find_discontinuities
from .frame_filling import fill_linear, fill_slerp
from .joint_jumps import repair_joint_jumps

# Sprinters' hips reach 12 m/s, and the mean over a body's joints stays under 12 rad/s even in a flip; what is faster
# is an error of capture.
_ROOT_M_S = 16.0
_POSE_RAD_S = 20.0
_LONG_S = 0.5
# A spike leaves and comes back within this time, by at least this angle, and by far more than is usual for the joint.
_SPIKE_S = 0.034
_SPIKE_RAD = 0.35
_UNUSUAL = 6.0
# A flip turns a bone over and back: solvers of markers do that where a limb is nearly straight or folded. No joint of
# anybody is as fast; the fast frames around the fastest belong to it.
_FLIP_RAD_S, _FLIP_EDGE_RAD_S = 50.0, 20.0
_FLIP_RAD = 1.5
_FLIP_S = 0.3
_FLIP_BACK = 0.5  # of its largest angle, that a bone may be away from where it was when it has come back


@dataclass(frozen=True)
class RepairReport:
    """What was touched: whole frames in which the root was lost, and spikes and jumps as (bone, frame) pairs.

    A bone jumps to the frame that is named, from the one before it.
    """

    lost_frames: tuple[int, ...]
    spikes: tuple[tuple[str, int], ...]
    jumps: tuple[tuple[str, int], ...] = ()

    @property
    def touched(self) -> bool:
        """Whether anything was."""
        return bool(self.lost_frames or self.spikes or self.jumps)

    @property
    def message(self) -> str:
        """In plain words."""
        parts = []
        if self.lost_frames:
            parts.append(f"{len(self.lost_frames)} frames in which the whole body jumps")
        for word, pairs in (("spikes", self.spikes), ("jumps", self.jumps)):
            if pairs:
                bones = sorted({bone for bone, _ in pairs})
                others = " and others" if len(bones) > 4 else ""
                parts.append(f"{len(pairs)} {word} in {', '.join(bones[:4])}{others}")
        return "Filled in from their neighbours: " + " and ".join(parts)


def repair_clip(clip: Clip) -> tuple[Clip, RepairReport]:
    """The clip without dropouts, spikes and jumps, and what was touched; a sound clip comes back as it is."""
    lost = find_lost_frames(clip)
    pos = fill_linear(np.array(clip.local_pos), lost)
    quat = fill_slerp(np.array(clip.local_quat_wxyz), lost)
    spikes: list[tuple[str, int]] = []
    for bone, name in enumerate(clip.skeleton.names):
        for find in (_flips, _spikes):
            bad = find(quat[:, bone], clip.fps)
            if bad.any():
                quat[:, bone] = fill_slerp(quat[:, bone], bad)
                spikes += [(name, int(frame)) for frame in np.flatnonzero(bad)]
    quat, jumps = repair_joint_jumps(quat, clip.fps)
    named = tuple((clip.skeleton.names[bone], frame) for bone, frame in jumps)
    report = RepairReport(tuple(int(frame) for frame in np.flatnonzero(lost)), tuple(spikes), named)
    if not report.touched:
        return clip, report
    return replace(clip, local_pos=pos, local_quat_wxyz=quat), report


def find_lost_frames(clip: Clip) -> NDArray[np.bool_]:
    """(T,) frames in which the body is elsewhere or in another pose: between jumps faster than any body.

    What is elsewhere for long was cut, not lost: ``trim`` knows what to do with it.
    """
    return find_discontinuities(clip).dropouts | _unreachable_frames(clip)


def _unreachable_frames(clip: Clip) -> NDArray[np.bool_]:
    last = np.arange(1, len(clip))
    jumps = np.concatenate([[False], ~_reachable(clip, last - 1, last)])
    if not jumps.any():
        return np.zeros(len(clip), dtype=bool)
    starts = np.flatnonzero(jumps | (np.arange(len(clip)) == 0))
    stops = np.concatenate([starts[1:], [len(clip)]])
    # The longest piece is the truth; going outwards from it, a piece belongs if the body could have got there.
    sound = np.zeros(len(starts), dtype=bool)
    best = int(np.argmax(stops - starts))
    sound[best] = True
    for direction in (1, -1):
        here, other = best, best + direction
        while 0 <= other < len(starts):
            near, far = (stops[here] - 1, starts[other]) if direction > 0 else (starts[here], stops[other] - 1)
            is_long = stops[other] - starts[other] >= _LONG_S * clip.fps
            if is_long or _reachable(clip, np.array([near]), np.array([far]))[0]:
                sound[other], here = True, other
            other += direction
    return np.asarray(~sound[np.cumsum(jumps)])


def _reachable(clip: Clip, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(N,) whether a body could get from frames ``a`` to frames ``b`` in the time between them."""
    roots = np.flatnonzero(clip.skeleton.parents < 0)
    root = roots[int(np.argmax([np.ptp(clip.local_pos[:, r], axis=0).sum() for r in roots]))]
    time = np.abs(b - a) / clip.fps
    metres = np.linalg.norm(clip.local_pos[b, root] - clip.local_pos[a, root], axis=-1)
    turned = angle_between(clip.local_quat_wxyz[a], clip.local_quat_wxyz[b]) / time[:, None]
    # One joint gone wild is a spike, not a lost body: no joint counts for more than four times the limit.
    pose = np.minimum(turned, 4.0 * _POSE_RAD_S).mean(-1)
    return np.asarray((metres <= _ROOT_M_S * time) & (pose <= _POSE_RAD_S))


def _spikes(quat: Array, fps: float) -> NDArray[np.bool_]:
    """(T,) frames that are far from the middle of their neighbours while those are near each other."""
    bad = np.zeros(len(quat), dtype=bool)
    # With few frames a second, a limb can really go there and back between two of them.
    least = _SPIKE_RAD * max(1.0, 1.0 / (fps * _SPIKE_S))
    for reach in range(1, max(round(_SPIKE_S * fps), 1) + 1):
        if len(quat) < 2 * reach + 3:
            break
        before, here, after = quat[: -2 * reach], quat[reach:-reach], quat[2 * reach :]
        away = angle_between(here, slerp(before, after, np.full(len(here), 0.5)))
        usual = _UNUSUAL * float(np.median(away))
        bad[reach:-reach] |= (away > max(least, usual)) & (away > 1.5 * angle_between(before, after))
    return bad


def _flips(quat: Array, fps: float) -> NDArray[np.bool_]:
    """(T,) frames in which a bone is turned over: it went there faster than any joint, and soon comes back, or ends."""
    bad = np.zeros(len(quat), dtype=bool)
    rate = angle_between(quat[1:], quat[:-1]) * fps
    if not (rate > _FLIP_RAD_S).any():
        return bad
    # Stretches of steps that are too fast: from the frame before the first step to the frame after the last.
    edge = np.diff(np.concatenate([[False], rate > _FLIP_EDGE_RAD_S, [False]]).astype(int))
    stretches = list(zip(np.flatnonzero(edge == 1), np.flatnonzero(edge == -1), strict=True))
    longest, last, done = round(_FLIP_S * fps), len(quat) - 1, 0
    for first, stop in stretches:
        if first < done or rate[first:stop].max() <= _FLIP_RAD_S:
            continue
        backs = [back for _, back in stretches if first < back <= first + longest and _comes_back(quat, first, back)]
        if backs:
            done = max(backs)
            bad[first + 1 : done] = True
        elif angle_between(quat[first], quat[stop]) <= _FLIP_RAD:
            continue
        elif done == 0 and first <= longest:  # it begins turned over
            done = stop
            bad[:stop] = True
        elif last - stop <= longest:  # or ends so
            bad[first + 1 :] = True
            break
    return bad


def _comes_back(quat: Array, first: int, stop: int) -> bool:
    """Whether it turns over between two frames, and is near where it was in the second one."""
    away = angle_between(quat[first + 1 : stop], quat[first])
    most = float(away.max(initial=0.0))
    return most > _FLIP_RAD and float(angle_between(quat[first], quat[stop])) < _FLIP_BACK * most
