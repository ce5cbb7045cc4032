# SPDX-License-Identifier: GPL-3.0-or-later
"""A library made ready for motion matching: features, candidates by style, and poses in the frame of the root."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...errors import BadMotion, BadSettings
from ...geometry.quaternions import Array, multiply
from ...motion import Skeleton
from ...motion.library import Library
from ...motion.skeleton import freeze_array
from ...settings import Settings, setting
from ..tracking.facing import rotate_about_z, rotation_about_z
from .features import (
    AHEAD,
    FACING,
    FEATURES,
    FEET_POS,
    FEET_VEL,
    FPS,
    HIP_VEL,
    LOOK_AHEAD,
    PATH,
    RootTrack,
    compute_features,
    track_root,
)
from .getups import find_grounded
from .search import FrameSearch

SHORTEST_REST = AHEAD[0]
"""Frames that a clip must still have after one that is gone over to."""
_LEAST_DEVIATION = 1e-3  # a feature that never changes does not count
_MOVES_M = 1e-5
# Who is slower than the first two and does not come further than the third in 20 frames is still.
_CALM_M_S, _CALM_RAD_S, _CALM_M = 0.12, 0.3, 0.04
ENDS_SOON = 3.0  # squared distance that is added to a frame at whose end nothing is left, and none a second before it
_MEANT_GROUNDED = 0.25  # share of a style's frames that lie or get up, from which on that is what the style is
_FASTEST_SHARE = 99.5  # percent of frames that are slower than what is called the fastest


@dataclass(frozen=True)
class MatchingWeights(Settings):
    """How much each kind of feature counts, against the others."""

    feet: float = setting(1.5, "Feet", "How much the places of the feet count", minimum=0.0, maximum=100.0)
    feet_speed: float = setting(2.0, "Feet Speed", "How much their velocities count", minimum=0.0, maximum=100.0)
    hip_speed: float = setting(2.0, "Hip Speed", "How much the hip's velocity counts", minimum=0.0, maximum=100.0)
    path: float = setting(1.5, "Path", "How much it counts to be on the wished path", minimum=0.0, maximum=100.0)
    facing: float = setting(1.5, "Facing", "How much it counts to face the wished way", minimum=0.0, maximum=100.0)

    def by_feature(self) -> Array:
        """(27,) the weight of each number."""
        weights = np.empty(FEATURES)
        for columns, weight in (
            (FEET_POS, self.feet),
            (FEET_VEL, self.feet_speed),
            (HIP_VEL, self.hip_speed),
            (PATH, self.path),
            (FACING, self.facing),
        ):
            weights[columns] = weight
        return weights


@dataclass(frozen=True, eq=False)
class Candidates:
    """Frames that may be gone over to. frames: (C,) of the library. search: over their features, in the same order.

    has: (M,) whether a frame is of the styles, so that one may go on playing it.
        fastest_m_s, slowest_m_s: how fast the root is there.
    """

    frames: NDArray[np.int64]
    has: NDArray[np.bool_]
    search: FrameSearch
    fastest_m_s: float
    slowest_m_s: float


class MatchingDatabase:
    """What a controller plays: a library with the features of its frames.

    features: (M, 27) float32, normalised and weighted: squared distances are what is compared.
    raw_trajectory: (M, 12) places in metres and directions ahead, not normalised.
    mean, scale: (27,) that a raw feature becomes by (raw - mean) * scale.
    roots: the skeleton's root bones, moving: other bones whose places change; root_pos (M, R, 3), root_quat (M, R, 4)
    are theirs in the frame of the root track. ends: (M,) the last frame of each frame's clip. grounded: (M,) frames
    that lie or get up.
    """

    def __init__(self, body: BodyModel, library: Library, weights: MatchingWeights | None = None) -> None:
        _require_usable(library)
        self.body, self.library = body, library
        self.skeleton: Skeleton = library.motion.skeleton
        world = library.motion.world()
        self.track: RootTrack = track_root(body, library, world)
        raw = compute_features(body, library, self.track, world)
        self.mean = freeze_array(raw.mean(axis=0))
        deviation = raw.std(axis=0)
        weighted = np.sqrt((weights or MatchingWeights()).by_feature())
        self.scale = freeze_array(np.where(deviation > _LEAST_DEVIATION, weighted / np.maximum(deviation, 1e-9), 0.0))
        self.raw_trajectory = freeze_array(np.ascontiguousarray(raw[:, PATH.start :]))
        self.features = freeze_array(np.ascontiguousarray((raw - self.mean) * self.scale, dtype=np.float32))
        self.clip_of = library.clip_of_frame()
        self.grounded = freeze_array(find_grounded(body, library, world))
        self.ends = library.starts[1:][self.clip_of] - 1
        self._make_poses()
        self._candidates: dict[tuple[str, ...], Candidates] = {}

    def _make_poses(self) -> None:
        motion, track = self.library.motion, self.track
        self.roots = np.flatnonzero(self.skeleton.parents < 0)
        ground = np.concatenate([track.pos, np.zeros((len(track.pos), 1))], axis=-1)
        self.root_pos = freeze_array(rotate_about_z(-track.heading, motion.local_pos[:, self.roots] - ground[:, None]))
        turned = multiply(rotation_about_z(-track.heading)[:, None], motion.local_quat_wxyz[:, self.roots])
        self.root_quat = freeze_array(turned)
        spread = np.ptp(motion.local_pos, axis=0).max(axis=-1)
        spread[self.roots] = 0.0
        self.moving = np.flatnonzero(spread > _MOVES_M)

    @cached_property
    def local_quat(self) -> Array:
        """(M, B, 4) rotations in the parent's frame; those of root bones in the frame of the root track."""
        quat = np.array(self.library.motion.local_quat_wxyz)
        quat[:, self.roots] = self.root_quat
        return freeze_array(quat)

    @cached_property
    def calm(self) -> NDArray[np.bool_]:
        """(M,) frames in which the root hardly moves or turns."""
        track = self.track
        slow = np.abs(track.vel).max(axis=-1) < _CALM_M_S
        return np.asarray(slow & (np.abs(track.turn) < _CALM_RAD_S))

    @cached_property
    def stays_calm(self) -> NDArray[np.bool_]:
        """(M,) frames after which their clip goes on, and hardly moves or turns, for 20 frames."""
        ahead, rest = self.raw_trajectory, self.ends - np.arange(len(self.ends))
        still = (np.abs(ahead[:, :2]).max(axis=-1) < _CALM_M) & (np.abs(ahead[:, 7]) < _CALM_M)
        return np.asarray(still & (rest > AHEAD[0]))

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """(M,) frames after which their clip goes on long enough, of clips as long as features look ahead."""
        lengths = np.diff(self.library.starts)[self.clip_of]
        rest = self.ends - np.arange(len(self.ends))
        return np.asarray((rest >= SHORTEST_REST) & (lengths > LOOK_AHEAD))

    def candidates(self, styles: tuple[str, ...] = ()) -> Candidates:
        """The frames of styles (all, if none is named) that may be gone over to; made once and kept."""
        if styles not in self._candidates:
            self._candidates[styles] = self._find_candidates(styles)
        return self._candidates[styles]

    def _find_candidates(self, styles: tuple[str, ...]) -> Candidates:
        chosen = np.ones(len(self.ends), dtype=bool)
        if styles:
            known = self.library.tag_names()
            for style in styles:
                if style not in known:
                    names = ", ".join(known) or "none: tag its clips first"
                    raise BadSettings(f"The library has no style '{style}'", f"Its styles are: {names}")
            chosen = np.any([self.library.find_frames(style) for style in styles], axis=0)
        if not styles or self.grounded[chosen].mean() < _MEANT_GROUNDED:
            chosen = chosen & ~self.grounded  # nobody walks over into lying
        rest = _count_ahead(chosen, self.ends)
        frames = np.flatnonzero(chosen & self.usable & (rest >= SHORTEST_REST))
        if not len(frames):
            named = " and ".join(f"'{style}'" for style in styles)
            raise BadSettings(
                f"No clip goes on for {SHORTEST_REST / FPS:.1f} s after a frame of style {named}",
                "Tag longer ranges, or add longer clips",
            )
        speed = np.linalg.norm(self.track.vel[frames], axis=-1)
        fastest = float(np.percentile(speed, _FASTEST_SHARE))
        # A coordinate more, which is 0 for who asks: what ends soon is further away.
        soon = np.sqrt(ENDS_SOON * np.clip(1.0 - rest[frames] / LOOK_AHEAD, 0.0, 1.0))
        search = FrameSearch(np.column_stack([self.features[frames], soon]))
        return Candidates(freeze_array(frames), freeze_array(chosen), search, fastest, float(speed.min()))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Clips that are shorter than features look ahead, by name."""
        short = np.flatnonzero(np.diff(self.library.starts) <= LOOK_AHEAD)
        return tuple(self.library.names[int(index)] for index in short)


def _count_ahead(chosen: NDArray[np.bool_], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """(M,) frames that follow on each frame before its clip, or what is chosen of it, ends."""
    count = len(chosen)
    last = np.where(chosen, np.arange(count), -1) == ends
    stops = np.flatnonzero(~chosen | last)
    after = np.searchsorted(stops, np.arange(count))
    found: NDArray[np.int64] = np.minimum(np.append(stops, count)[after], ends) - np.arange(count)
    return found


def _require_usable(library: Library) -> None:
    if abs(library.motion.fps - FPS) > 1e-6:
        raise BadMotion(
            f"The library has {library.motion.fps:g} frames a second, and motion matching needs {FPS:g}",
            "Build it again: clips are brought to that rate",
        )
    longest = int(np.diff(library.starts).max())
    if longest <= LOOK_AHEAD:
        raise BadMotion(
            f"No clip of the library is longer than the {LOOK_AHEAD / FPS:g} s that motion matching looks ahead: "
            f"the longest has {longest / FPS:.2f} s",
            "Add longer clips",
        )
