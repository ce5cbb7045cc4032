# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character is told: where to go, how fast, which way to face and in which style, frame by frame."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadSettings, JobError
from ...geometry.quaternions import Array
from ...motion.skeleton import freeze_array
from .features import FPS

WISH = "wish"
"""What a job calls its attachment with the wish."""
_JUMP_M_S, _JUMP_RAD, _JUMP_M = 0.3, 0.35, 0.2  # from one frame to the next: the wish has changed at once


@dataclass(frozen=True, eq=False)
class Wish:
    """What is wished for T frames at 60 a second, told in metres on the ground.

    speed_m_s: (T,). path: (P, 2) points to go along from the first one on, or none; closed: whether it goes round.
    goal: (T, 2) a place to go to, which may move; used where there is no path.
    heading: (T,) radians from +X to face, NaN for along the way. look_at: (T, 2) a place to face, NaN for none.
    styles: lists of style tags, () for any; style: (T,) which of them.
    start, start_heading: (2,) and radians where it begins, for one with a goal; a path says it by itself.
    """

    speed_m_s: Array
    path: Array | None = None
    closed: bool = False
    goal: Array | None = None
    heading: Array | None = None
    look_at: Array | None = None
    styles: tuple[tuple[str, ...], ...] = ((),)
    style: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    start: tuple[float, float] = (0.0, 0.0)
    start_heading: float = 0.0

    def __post_init__(self) -> None:
        speed = np.array(self.speed_m_s, dtype=float)
        count = len(speed)
        if count < 2 or not np.isfinite(speed).all() or (speed < 0.0).any():
            raise BadSettings("The wished speed is not a number of at least 0 in every frame", "Give metres a second")
        if self.path is None and self.goal is None:
            raise BadSettings("There is nowhere to go", "Give a curve, points, or an object to go after")
        style = np.array(self.style, dtype=np.int64) if len(self.style) else np.zeros(count, dtype=np.int64)
        if style.shape != (count,) or style.min() < 0 or style.max() >= len(self.styles):
            raise BadSettings("The wish does not have a style for every frame", "Name styles of the library")
        object.__setattr__(self, "speed_m_s", freeze_array(speed))
        object.__setattr__(self, "style", freeze_array(style))
        for name, shape in (("goal", (count, 2)), ("heading", (count,)), ("look_at", (count, 2))):
            value = getattr(self, name)
            if value is not None:
                array = np.array(value, dtype=float)
                if array.shape != shape or (name == "goal" and not np.isfinite(array).all()):
                    raise BadSettings(f"The wish has a {name} of shape {array.shape}, not {shape}")
                object.__setattr__(self, name, freeze_array(array))

    def __len__(self) -> int:
        return len(self.speed_m_s)

    def find_changes(self) -> NDArray[np.int64]:
        """Frames in which the wish is not what it was: a search is due at once."""
        changed = np.diff(self.style) != 0
        changed |= np.abs(np.diff(self.speed_m_s)) > _JUMP_M_S
        if self.heading is not None:
            with np.errstate(invalid="ignore"):
                turn = np.abs(np.angle(np.exp(1j * np.diff(self.heading)))) > _JUMP_RAD
            changed |= turn | (np.diff(np.isnan(self.heading).astype(int)) != 0)
        if self.goal is not None:
            changed |= np.linalg.norm(np.diff(self.goal, axis=0), axis=-1) > _JUMP_M
        return np.flatnonzero(changed) + 1

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) as a job attaches it."""
        arrays = {"speed_m_s": self.speed_m_s, "style": self.style}
        optional = {"path": self.path, "goal": self.goal, "heading": self.heading, "look_at": self.look_at}
        arrays |= {name: np.asarray(value, dtype=float) for name, value in optional.items() if value is not None}
        meta = {
            "closed": self.closed,
            "styles": [list(names) for names in self.styles],
            "start": list(self.start),
            "start_heading": self.start_heading,
            "fps": FPS,
        }
        return arrays, meta


def wish_from_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Wish:
    """The inverse of ``to_arrays``."""
    try:
        return Wish(
            arrays["speed_m_s"],
            arrays.get("path"),
            bool(meta["closed"]),
            arrays.get("goal"),
            arrays.get("heading"),
            arrays.get("look_at"),
            tuple(tuple(str(name) for name in names) for names in meta["styles"]),
            arrays["style"],
            (float(meta["start"][0]), float(meta["start"][1])),
            float(meta["start_heading"]),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise JobError(f"The job's wish is not whole: {error}", "Bake again") from error
