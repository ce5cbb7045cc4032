# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a clip is no motion: calibration poses and frozen frames at its ends, and cuts in between.

Ends are left out of a simulation, and the take holds its first or last pose there: frame k of a take is frame k of its
source. Cuts are bridged (``cut_bridging``).
"""

from dataclasses import dataclass, replace

import numpy as np

from ..errors import BadMotion
from ..geometry.quaternions import Array
from .clip import Clip
from .discontinuities import PERSON_M, Discontinuities, Piece, find_discontinuities
from .repair import find_lost_frames
from .source_finding import SourceFinding
from .take import PropMotion, Take

FEWEST_FRAMES = 4
SHORTEST_S = 0.1
_MOSTLY = 0.5  # of all frames that are too fast: that is a wrong scale or frame rate, and said elsewhere
_SHORT_S = 0.5  # what is cut off at an end and shorter than this is a scrap, whatever it does
# Frozen are frames that are all the same while the body is in motion next to them; longer ones also in a slow motion.
_FROZEN_FRAMES, _FROZEN_M_S = 3, 0.5
_LONG_FROZEN_S, _SLOW_M_S = 0.5, 0.1
_SAME_M = 0.002
_FAR_M = 0.1  # that is worth saying
_UPRIGHT = 0.75  # a calibration pose's height over the body's size
_T_POSE, _A_POSE = 0.72, 0.5  # how high the hands are, from the soles to the top of the head

_LEFT_OUT = "Simulated without it: the take holds its {} pose there"
_BRIDGED = "Bridged: what follows goes on from where the body was"


@dataclass(frozen=True, eq=False)
class MotionTrim:
    """Frames ``start`` up to, not with, ``stop`` of ``count`` are the motion; cuts: the first frame after each.

    findings: what is wrong with the rest.
    """

    start: int
    stop: int
    count: int
    cuts: tuple[int, ...] = ()
    findings: tuple[SourceFinding, ...] = ()

    @classmethod
    def whole(cls, clip: Clip) -> "MotionTrim":
        """All of a clip."""
        return cls(0, len(clip), len(clip))

    @property
    def leaves_out(self) -> bool:
        """Whether there are frames at an end that are no motion."""
        return self.stop - self.start < self.count

    def cut_clip(self, clip: Clip) -> Clip:
        """The frames of a clip that are the motion."""
        return clip.frames(self.start, self.stop) if self.leaves_out else clip

    def pad_take(self, take: Take, fps: float) -> Take:
        """The take of the cut clip on the source's clock, its first and last pose held where frames were left out.

        fps: the source's.
        """
        if not self.leaves_out:
            return take
        motion, before, after = take.motion, self.start, self.count - self.stop
        at = np.clip(np.arange(-before, len(motion) + after), 0, len(motion) - 1)
        times_s = take.source_times_s
        if times_s is not None:
            beyond = np.arange(-before, len(motion) + after) - at
            times_s = times_s[at] + (beyond + before) / fps
        contacts = None if take.contacts is None else take.contacts[at]
        others = tuple(replace(self, findings=()).pad_take(other, fps) for other in take.others)
        props = tuple(PropMotion(prop.name, prop.pos[at], prop.quat_wxyz[at]) for prop in take.props)
        held = replace(
            motion,
            local_pos=motion.local_pos[at],
            local_quat_wxyz=motion.local_quat_wxyz[at],
            tags=tuple(replace(tag, start=tag.start + before, stop=tag.stop + before) for tag in motion.tags),
        )
        return replace(
            take,
            motion=held,
            contacts=contacts,
            fell_at_s=None if take.fell_at_s is None else take.fell_at_s + before / fps,
            lost_at_s=None if take.lost_at_s is None else take.lost_at_s + before / fps,
            others=others,
            props=props,
            source_times_s=times_s,
        )


def find_trim(clip: Clip) -> MotionTrim:
    """What of the clip is its motion."""
    if len(clip) < FEWEST_FRAMES:
        return MotionTrim.whole(clip)
    found = find_discontinuities(clip)
    kept = _kept_pieces(found.pieces, clip.fps)
    start, stop = _without_lost_ends(clip, kept[0].start, kept[-1].stop)
    findings = [_end_finding(clip, found, start, stop, way) for way in (1, -1)]
    points = found.body.points * (PERSON_M / max(found.body.size_m, 1e-9))
    frozen = [_frozen(points[start:stop][::way], clip.fps) for way in (1, -1)]
    frozen[1] = max(frozen[1], _rests(points[start:stop], clip.fps))
    if stop - start - sum(frozen) >= max(FEWEST_FRAMES, SHORTEST_S * clip.fps + 1):
        findings += [_frozen_finding(start, stop, count, way) for way, count in zip((1, -1), frozen, strict=True)]
        start, stop = start + frozen[0], stop - frozen[1]
    cuts = tuple(piece.start for piece in kept[1:])
    findings += [_cut_finding(clip, found, cut) for cut in cuts]
    return MotionTrim(start, stop, len(clip), cuts, tuple(finding for finding in findings if finding))


def require_motion(clip: Clip) -> None:
    """Refuse a clip that is too short to have a motion in it."""
    if len(clip) < FEWEST_FRAMES or clip.duration_s < SHORTEST_S:
        raise BadMotion(
            f"'{clip.name}' is too short to simulate: {len(clip)} frames, {clip.duration_s:.2f} s",
            f"Choose an Action or frame range of at least {FEWEST_FRAMES} frames and {SHORTEST_S} s",
        )


def _kept_pieces(pieces: tuple[Piece, ...], fps: float) -> tuple[Piece, ...]:
    """The pieces without those at the ends in which the body only poses, or that are scraps."""
    moving = [piece for piece in pieces if not piece.is_still] or list(pieces)
    core = pieces.index(max(moving, key=len))
    first = next(at for at, piece in enumerate(pieces) if at == core or not _is_scrap(piece, fps))
    last = next(at for at, piece in reversed(list(enumerate(pieces))) if at == core or not _is_scrap(piece, fps))
    return pieces[first : last + 1]


def _without_lost_ends(clip: Clip, start: int, stop: int) -> tuple[int, int]:
    """The frames without those at the ends in which the capture has lost the body."""
    lost = find_lost_frames(clip.frames(start, stop))
    if not lost.any() or lost.mean() > _MOSTLY:
        return start, stop
    sound = np.flatnonzero(~lost)
    return start + int(sound[0]), start + int(sound[-1]) + 1


def _is_scrap(piece: Piece, fps: float) -> bool:
    return piece.is_still or len(piece) < _SHORT_S * fps


def _frozen(points: Array, fps: float) -> int:
    """How many frames at the beginning of (T, P, 3) are the same as the first moving one, in the midst of a motion."""
    same = np.all(np.abs(np.diff(points, axis=0)) < 1e-7, axis=(1, 2))
    count = len(same) if same.all() else int(np.argmin(same))
    if count + 1 < _FROZEN_FRAMES or count + 2 >= len(points):
        return 0
    speed = float(np.linalg.norm(points[count + 2] - points[count + 1], axis=-1).mean()) * fps
    is_fast = speed > _FROZEN_M_S or (speed > _SLOW_M_S and count > _LONG_FROZEN_S * fps)
    return count if is_fast else 0


def _rests(points: Array, fps: float) -> int:
    """How many frames at the end of (T, P, 3) rest in the pose of the first: a cycle shorter than its Action."""
    near = np.abs(points - points[-1]).max(axis=(1, 2)) < _SAME_M
    if near.all() or not near[0]:
        return 0
    count = int(np.argmin(near[::-1])) - 1
    return count if count > _LONG_FROZEN_S * fps else 0


def _end_finding(clip: Clip, found: Discontinuities, start: int, stop: int, way: int) -> SourceFinding | None:
    """What was left out at the beginning (``way`` 1) or the end (-1) because of a jump."""
    span = (0, start) if way > 0 else (stop, len(clip))
    if span[0] == span[1]:
        return None
    here, there = (start, start - 1) if way > 0 else (stop - 1, stop)
    pieces = [piece for piece in found.pieces if span[0] <= piece.start and piece.stop <= span[1]]
    poses = bool(pieces) and all(piece.is_still for piece in pieces)
    what = _pose_name(found, there) if poses else "torn off by a jump"
    apart = float(np.linalg.norm((found.body.points[here] - found.body.points[there])[:, :2].mean(0)))
    where = f", {apart:.1f} m away" if apart > _FAR_M else ""
    verb = "is" if span[1] - span[0] == 1 else "are"
    message = f"{_which(span, way)} {verb} {what}, no part of the motion{where}"
    hint = _LEFT_OUT.format("first" if way > 0 else "last")
    return SourceFinding("calibration" if poses else "cut", message, hint, span, "trim")


def _frozen_finding(start: int, stop: int, count: int, way: int) -> SourceFinding | None:
    if not count:
        return None
    span = (start, start + count) if way > 0 else (stop - count, stop)
    hint = _LEFT_OUT.format("first" if way > 0 else "last")
    return SourceFinding("frozen", f"{_which(span, way)} are frozen in the midst of a motion", hint, span, "trim")


def _cut_finding(clip: Clip, found: Discontinuities, cut: int) -> SourceFinding:
    points = found.body.points
    apart = float(np.linalg.norm((points[cut] - points[cut - 1])[:, :2].mean(0)))
    far = f" by {apart:.1f} m" if apart > _FAR_M else " to another pose"
    message = f"The whole body jumps{far} from one frame to the next, at {cut / clip.fps:.2f} s (frame {cut})"
    return SourceFinding("cut", message, _BRIDGED, (cut, cut + 1), "trim")


def _which(span: tuple[int, int], way: int) -> str:
    end, count = "first" if way > 0 else "last", span[1] - span[0]
    return f"The {end} frame" if count == 1 else f"The {end} {count} frames"


def _pose_name(found: Discontinuities, frame: int) -> str:
    """What the pose in a frame would be called."""
    points = found.body.points[frame]
    low, tall = points[:, 2].min(), max(float(np.ptp(points[:, 2])), 1e-9)
    if tall < _UPRIGHT * found.body.size_m:
        return "a held pose"
    # What is farthest from the body's middle is a hand, or whatever an arm ends in.
    hand = int(np.argmax(np.linalg.norm(points[:, :2] - points[:, :2].mean(0), axis=-1)))
    height = (points[hand, 2] - low) / tall
    return "a T-pose" if height > _T_POSE else "an A-pose" if height > _A_POSE else "a standing pose"
