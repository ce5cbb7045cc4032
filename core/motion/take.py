# SPDX-License-Identifier: GPL-3.0-or-later
"""What a method brings home: a motion, its contacts and what was measured of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import BadMotion
from ..geometry.quaternions import Array, normalize, slerp, unroll
from .clip import Clip
from .skeleton import freeze_array
from .time_warp import warp_clip

Measurement = float | int | bool | str | None


@dataclass(frozen=True, eq=False)
class PropMotion:
    """Where a loose thing went, on the clock of the take that it belongs to.

    name: of the thing on the stage (``Prop.name``).
    pos: (T, 3) metres, quat_wxyz: (T, 4): its frame in the world, as ``Rows.prop_pos`` and ``prop_quat_wxyz`` have it;
        before it appears, where it will.
    """

    name: str
    pos: Array
    quat_wxyz: Array

    def __post_init__(self) -> None:
        pos, quat = np.array(self.pos, dtype=float), np.array(self.quat_wxyz, dtype=float)
        if pos.ndim != 2 or pos.shape[1] != 3 or quat.shape != (len(pos), 4) or len(pos) == 0:
            raise BadMotion(f"Prop '{self.name}' has a motion of shape {pos.shape} and {quat.shape}")
        if not (np.isfinite(pos).all() and np.isfinite(quat).all()):
            raise BadMotion(f"The motion of prop '{self.name}' is not all numbers")
        object.__setattr__(self, "pos", freeze_array(pos))
        object.__setattr__(self, "quat_wxyz", freeze_array(unroll(normalize(quat))))

    def __len__(self) -> int:
        return len(self.pos)

    def sample(self, places: Array) -> "PropMotion":
        """The same motion at places (N,) between its frames, held at both ends."""
        places = np.clip(np.asarray(places, dtype=float), 0.0, len(self) - 1.0)
        low = np.minimum(places.astype(int), max(len(self) - 2, 0))
        high = np.minimum(low + 1, len(self) - 1)
        part = places - low
        pos = self.pos[low] * (1.0 - part)[:, None] + self.pos[high] * part[:, None]
        return PropMotion(self.name, pos, slerp(self.quat_wxyz[low], self.quat_wxyz[high], part))


@dataclass(frozen=True, eq=False)
class Take:
    """A finished motion.

    motion: on the same bones as the source; any frame rate.
    contacts: (T, B) true where the bone touches something, or None where the method knows of no contacts.
    fell_at_s: when the character was down for good, or None if it was not.
    lost_at_s: when it was first where its source never is, whatever became of it afterwards, or None if it never was.
        Who falls is lost.
    measurements: named numbers for the report, units in the name (``skate_m_s``).
    others: takes of the other characters on the stage, in the cast's order, on the same clock; none has others or
        props of its own.
    props: motions of the loose things on the stage, on the same clock.
    source_times_s: (T,) seconds in the source that each frame stands for, where the take plays it slower or faster in
        places; None where both have the same clock.
    period_s: of the source, where the take plays it over and over; None where it plays it once.
    own_clock: the motion stands for itself, and none of its frames is a frame of the source.
    """

    motion: Clip
    contacts: NDArray[np.bool_] | None = None
    fell_at_s: float | None = None
    measurements: Mapping[str, Measurement] = field(default_factory=dict)
    others: tuple["Take", ...] = ()
    props: tuple[PropMotion, ...] = ()
    source_times_s: Array | None = None
    own_clock: bool = False
    lost_at_s: float | None = None
    period_s: float | None = None

    def __post_init__(self) -> None:
        if self.contacts is not None:
            contacts = np.array(self.contacts, dtype=bool)
            wanted = (len(self.motion), len(self.motion.skeleton))
            if contacts.shape != wanted:
                raise BadMotion(f"The take's contacts have shape {contacts.shape}, not {wanted}")
            object.__setattr__(self, "contacts", freeze_array(contacts))
        if self.fell_at_s is not None and (self.lost_at_s is None or self.lost_at_s > self.fell_at_s):
            object.__setattr__(self, "lost_at_s", self.fell_at_s)
        object.__setattr__(self, "others", tuple(self.others))
        object.__setattr__(self, "props", tuple(self.props))
        self._check_company()
        self._check_clock()

    def _check_company(self) -> None:
        """What comes along must be on this take's clock, or it would be played at another speed."""
        frames, fps = len(self.motion), self.motion.fps
        for other in self.others:
            label = f"The take of '{other.motion.name}'"
            if other.others or other.props:
                raise BadMotion(f"{label} has others or props of its own", "Give them to the main character's take")
            if (len(other.motion), other.motion.fps) != (frames, fps):
                its = f"{len(other.motion)} frames at {other.motion.fps:g} fps"
                raise BadMotion(f"{label} has {its}, and the main character's {frames} at {fps:g}")
        for prop in self.props:
            if len(prop) != frames:
                raise BadMotion(f"Prop '{prop.name}' has {len(prop)} frames, and the take {frames}")

    def _check_clock(self) -> None:
        if self.period_s is not None and not (np.isfinite(self.period_s) and self.period_s > 0.0):
            raise BadMotion(f"The take plays a source of {self.period_s} s over and over")
        if self.source_times_s is None:
            return
        if self.own_clock:
            raise BadMotion("A take with a clock of its own cannot have times in its source", "Leave out one of both")
        times = np.array(self.source_times_s, dtype=float)
        if times.shape != (len(self.motion),) or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0.0):
            raise BadMotion(f"The take's times in its source, of shape {times.shape}, do not go up frame by frame")
        object.__setattr__(self, "source_times_s", freeze_array(times))

    def in_take_time(self, source: Clip) -> Clip | None:
        """The source as the take was asked to follow it: with the take's own timing; None if it followed none of it."""
        if self.own_clock:
            return None
        if self.period_s is not None:
            return warp_clip(source, self.source_time(np.arange(len(self.motion)) / self.motion.fps))
        return source if self.source_times_s is None else warp_clip(source, self.source_times_s)

    def source_time(self, take_s: Array) -> Array:
        """(N,) seconds in the source at seconds (N,) of the take; before its first and after its last frame, alike."""
        found = take_s
        if self.source_times_s is not None:
            found = _along(take_s, np.arange(len(self.motion)) / self.motion.fps, self.source_times_s)
        return found if self.period_s is None else np.mod(found, self.period_s)

    def take_time(self, source_s: Array) -> Array:
        """(N,) seconds in the take at seconds (N,) of the source; the other way round."""
        if self.source_times_s is None:
            return source_s
        return _along(source_s, self.source_times_s, np.arange(len(self.motion)) / self.motion.fps)

    @property
    def fell(self) -> bool:
        """Whether the character was down for good before the end."""
        return self.fell_at_s is not None

    @property
    def lost(self) -> bool:
        """Whether the character was ever where its source never is."""
        return self.lost_at_s is not None


def _along(at: Array, known: Array, values: Array) -> Array:
    """(N,) values (T,) at places (N,) between known ones (T,); beyond both ends they go on at the same pace."""
    beyond = at - np.clip(at, known[0], known[-1])
    return np.interp(at, known, values) + beyond
