# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of a skeleton: what every method takes and gives."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from ..errors import BadMotion
from ..geometry.differences import angular_velocity, velocity
from ..geometry.quaternions import Array, normalize, slerp, unroll
from ..limits import LARGEST_M, SPARSEST_FPS
from ..texts import is_encodable
from .motion_size import require_frame_rate, require_motion_size
from .skeleton import Skeleton, freeze_array, to_local, to_world

_SHORT = 30_000  # numbers of a clip up to which its bones in the world are remembered for a while


@dataclass(frozen=True)
class Tag:
    """A style tag: the name of frames ``start`` up to, not with, ``stop``.

    is_proposal: Sinew's own idea, which nobody has taken up yet.
    """

    name: str
    start: int
    stop: int
    is_proposal: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise BadMotion("A style tag has no name")
        if not 0 <= self.start < self.stop:
            covers = f"covers frames {self.start} to {self.stop}"
            raise BadMotion(f"Style tag '{self.name}' {covers}", "Let it end after it starts")


@dataclass(frozen=True, eq=False)
class Clip:
    """Frames of a skeleton at a steady rate.

    fps: frames per second; frame ``i`` is at ``i / fps`` seconds.
    local_pos: (T, B, 3) metres, each bone's head in its parent's frame (a root's: in the world, Z up).
    local_quat_wxyz: (T, B, 4) each bone's rotation in its parent's frame (a root's: in the world).
    """

    skeleton: Skeleton
    fps: float
    local_pos: Array
    local_quat_wxyz: Array
    name: str = ""
    tags: tuple[Tag, ...] = ()

    def __post_init__(self) -> None:
        pos, quat = (np.asarray(array, dtype=float) for array in (self.local_pos, self.local_quat_wxyz))
        object.__setattr__(self, "tags", tuple(self.tags))
        self._check(pos, quat)
        if pos.flags.writeable or pos.base is not None:  # else nobody can change it, and large ones need not be twice
            pos = pos.copy()
        object.__setattr__(self, "local_pos", freeze_array(pos))
        object.__setattr__(self, "local_quat_wxyz", freeze_array(unroll(normalize(quat))))

    def _check(self, pos: Array, quat: Array) -> None:
        label = self._label()
        require_frame_rate(label, self.fps, SPARSEST_FPS)
        bones = len(self.skeleton)
        if pos.ndim != 3 or pos.shape[1:] != (bones, 3) or quat.shape != (len(pos), bones, 4):
            raise BadMotion(f"{label} has arrays of shape {pos.shape} and {quat.shape} for {bones} bones")
        if len(pos) == 0:
            raise BadMotion(f"{label} has no frames")
        self._check_names()
        bad = ~(np.isfinite(pos).all(-1) & np.isfinite(quat).all(-1))
        if bad.any():
            frame, bone = (int(i) for i in np.argwhere(bad)[0])
            name = self.skeleton.names[bone]
            raise BadMotion(f"{label}: bone '{name}' is not a number at frame {frame}", "Delete or repair that key")
        far = np.abs(pos).max(-1, initial=0.0)
        if (far > LARGEST_M).any():
            frame, bone = (int(i) for i in np.argwhere(far > LARGEST_M)[0])
            where = f"is {far[frame, bone]:g} m away at frame {frame}"
            hint = "Repair that key, or give the right units (--scale)"
            raise BadMotion(f"{label}: bone '{self.skeleton.names[bone]}' {where}", hint)
        for tag in self.tags:
            if tag.stop > len(pos):
                raise BadMotion(f"{label} has {len(pos)} frames, but tag '{tag.name}' ends at {tag.stop}")

    def _check_names(self) -> None:
        for what, name in (("name", self.name), *(("tag", tag.name) for tag in self.tags)):
            if not is_encodable(name):
                raise BadMotion(f"{self._label()} has a {what} that is no text", "Rename it with plain letters")

    def _label(self) -> str:
        return f"Clip '{self.name}'" if self.name else "The clip"

    def __len__(self) -> int:
        return len(self.local_pos)

    @property
    def dt_s(self) -> float:
        """Seconds from frame to frame."""
        return 1.0 / self.fps

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.fps

    @classmethod
    def from_world(
        cls, skeleton: Skeleton, fps: float, pos: Array, quat_wxyz: Array, name: str = "", tags: tuple[Tag, ...] = ()
    ) -> "Clip":
        """A clip from world heads (T, B, 3) in metres and world rotations (T, B, 4)."""
        local_pos, local_quat = to_local(skeleton.parents, pos, quat_wxyz)
        return cls(skeleton, fps, local_pos, local_quat, name, tags)

    def world(self) -> tuple[Array, Array]:
        """World heads (T, B, 3) in metres and world rotations (T, B, 4)."""
        if self.local_pos.size > _SHORT:
            return to_world(self.skeleton.parents, self.local_pos, self.local_quat_wxyz)
        pos, quat = _world_of_short(self)
        return pos.copy(), quat.copy()

    def world_velocities(self) -> tuple[Array, Array]:
        """World velocity (T, B, 3) in m/s of the heads and angular velocity (T, B, 3) in rad/s."""
        pos, quat = self.world()
        return velocity(pos, self.dt_s), angular_velocity(quat, self.dt_s)

    def frames(self, start: int, stop: int) -> "Clip":
        """Frames ``start`` up to, not with, ``stop`` (or the end, if that is sooner); tags are cut to fit."""
        if not 0 <= start < min(stop, len(self)):
            raise BadMotion(f"{self._label()} has no frames {start} to {stop}", f"It has the frames 0 to {len(self)}")
        tags = (
            replace(t, start=max(t.start, start) - start, stop=min(t.stop, stop) - start)
            for t in self.tags
            if max(t.start, start) < min(t.stop, stop)
        )
        return replace(
            self,
            local_pos=self.local_pos[start:stop],
            local_quat_wxyz=self.local_quat_wxyz[start:stop],
            tags=tuple(tags),
        )

    def sample(self, times_s: Array) -> tuple[Array, Array]:
        """Local positions (N, B, 3) and rotations (N, B, 4) at any times (N,), held at both ends."""
        return self._at_places(np.clip(np.asarray(times_s, dtype=float) * self.fps, 0.0, len(self) - 1.0))

    def _at_places(self, place: Array) -> tuple[Array, Array]:
        """The same at places (N,) between frames; beyond the last one it goes straight on."""
        low = np.minimum(place.astype(int), max(len(self) - 2, 0))
        high = np.minimum(low + 1, len(self) - 1)
        part = (place - low)[:, None]
        pos = self.local_pos[low] * (1.0 - part[..., None]) + self.local_pos[high] * part[..., None]
        return pos, slerp(self.local_quat_wxyz[low], self.local_quat_wxyz[high], part)

    def resample(self, fps: float, *, end: Literal["cut", "hold", "extend"] = "cut") -> "Clip":
        """The same motion at another frame rate: linear positions, slerped rotations.

        end: where the durations do not divide, whether less than a frame is cut at the end, or one more frame is there
        to cover it, which holds the last pose or goes straight on.
        """
        require_frame_rate(self._label(), fps, SPARSEST_FPS)
        if fps == self.fps:
            return self
        count = int(np.floor(self.duration_s * fps + 1e-6)) + 1
        count += end != "cut" and (count - 1) / fps < self.duration_s - 1e-6 / fps
        if count > len(self):
            require_motion_size(f"{self._label()} at {fps:g} frames a second", count, len(self.skeleton))
        times_s = np.arange(count) / fps
        pos, quat = self._at_places(times_s * self.fps) if end == "extend" else self.sample(times_s)
        # A tag covers the time up to its stop; one too short for the new rate keeps the frame after its start.
        ratio = fps / self.fps
        spans = ((tag, _frames_before(tag.start * ratio), _frames_before(tag.stop * ratio)) for tag in self.tags)
        tags = tuple(
            replace(tag, start=start, stop=min(max(stop, start + 1), count))
            for tag, start, stop in spans
            if start < count
        )
        return Clip(self.skeleton, fps, pos, quat, self.name, tags)

    def with_fps(self, fps: float) -> "Clip":
        """The same frames played at another rate: for files whose frame rate is wrong."""
        return replace(self, fps=float(fps))


@lru_cache(maxsize=8)
def _world_of_short(clip: Clip) -> tuple[Array, Array]:
    """World heads and rotations: whatever is made of a moment of motion asks for them again and again."""
    return to_world(clip.skeleton.parents, clip.local_pos, clip.local_quat_wxyz)


def _frames_before(place: float) -> int:
    """How many whole frames lie before a place between frames, with a little room for rounding."""
    return int(np.ceil(place - 1e-6))
