# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframed muscle: how much of its strength a character uses, from 0 (limp) to 1 (all of it), frame by frame."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import BadFile, BadSettings
from ..geometry.quaternions import Array
from ..motion import Clip
from .method import Run

MUSCLE = "muscle"
"""Name of the job's attachment."""

MuscleKeys = Sequence[tuple[float, float]]
"""(frame, value) pairs in the order of their frames."""

_FULL = 1.0 - 1e-6  # what single precision makes of 1


def load_muscle(run: Run, clip: Clip) -> Array | None:
    """(T,) muscle at the clip's frames, 0 to 1; None where it is 1 throughout."""
    attached = run.attachment(MUSCLE)
    if attached is None:
        return None
    arrays, meta = attached
    try:
        values, fps = np.asarray(arrays["muscle"], dtype=float), float(meta["fps"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The muscle keys are incomplete: {error!r}", "Start the job again") from error
    if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values)) or not fps > 0.0:
        raise BadFile("The muscle keys are no row of numbers", "Start the job again")
    times_s = np.arange(len(clip)) / clip.fps
    return np.clip(np.interp(times_s, np.arange(len(values)) / fps, values), 0.0, 1.0)


def make_muscle_attachment(values: Array, fps: float) -> dict[str, tuple[dict[str, np.ndarray], dict[str, Any]]]:
    """The attachment for muscle (T,) at ``fps``, by its name; none where it is 1 throughout."""
    held = np.clip(np.asarray(values, dtype=float), 0.0, 1.0)
    if np.all(held >= _FULL):
        return {}
    return {MUSCLE: ({"muscle": held}, {"fps": float(fps)})}


def parse_muscle_keys(text: str) -> tuple[tuple[float, float], ...]:
    """Keys from '1:1,40:0,80:1' (frame:value) or from one value for all frames."""
    try:
        if ":" not in text:
            keys = [(0.0, float(text))]
        else:
            pairs = [part.split(":") for part in text.split(",")]
            keys = [(float(frame), float(value)) for frame, value in pairs]
    except ValueError:
        raise BadSettings(
            f"'{text}' says not how much muscle there is", "Write frame:value pairs, such as --muscle 1:1,40:0,80:1"
        ) from None
    for frame, value in keys:
        if not (np.isfinite(frame) and 0.0 <= value <= 1.0):
            raise BadSettings(f"Muscle is {value:g} at frame {frame:g}", "Give values from 0 (limp) to 1 (full)")
    frames = [frame for frame, _ in keys]
    if any(after <= before for before, after in pairwise(frames)):
        raise BadSettings(f"The frames of the muscle keys '{text}' do not go up", "Give each frame once, in order")
    return tuple(keys)


def interpolate_muscle_keys(keys: MuscleKeys, frames: Array) -> Array:
    """(T,) the keys' values at frames (T,): straight lines between them, level before the first and after the last."""
    times, values = np.array(keys, dtype=float).T
    return np.interp(frames, times, values)
