# SPDX-License-Identifier: GPL-3.0-or-later
"""Between scene frames and seconds from the clip's first frame."""

from dataclasses import dataclass

from ..rig.rig_reader import RigMotion


@dataclass(frozen=True)
class Clock:
    """frame_start: scene frame at 0 s. frame_s: seconds a scene frame lasts. duration_s: when the clip ends."""

    frame_start: int
    frame_s: float
    duration_s: float

    @classmethod
    def of(cls, rig: RigMotion) -> "Clock":
        """The clock by which the motion was read."""
        return cls(rig.frame_start, rig.time_stretch / rig.scene_fps, rig.clip.duration_s)

    def seconds(self, frame: float) -> float:
        """Seconds from the clip's first frame."""
        return (frame - self.frame_start) * self.frame_s

    def frame(self, seconds: float) -> float:
        """The scene frame at that time."""
        return self.frame_start + seconds / self.frame_s
