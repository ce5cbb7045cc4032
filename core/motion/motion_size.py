# SPDX-License-Identifier: GPL-3.0-or-later
"""How large a motion may be, checked before there is any memory for it."""

from ..errors import BadMotion
from ..limits import (
    FASTEST_FPS,
    MOST_BONES,
    MOST_FRAMES,
    MOST_LIBRARY_POSES,
    MOST_POSES,
    MOST_SPARSE_POSES,
    SLOWEST_FPS,
    SPARSE_KEYS,
)


def require_motion_size(label: str, frames: int, bones: int) -> None:
    """Refuse more frames, bones, or poses of bones than anything is made of; ``label`` names the motion."""
    if bones > MOST_BONES:
        raise BadMotion(f"{label} has {bones} bones, and {MOST_BONES} is the most", "Choose another armature")
    if frames > MOST_FRAMES:
        raise BadMotion(f"{label} has {frames} frames, and {MOST_FRAMES} is the most", "Choose a shorter frame range")
    if frames * bones > MOST_POSES:
        raise BadMotion(
            f"{label} has {frames} frames of {bones} bones, and Sinew reads {MOST_POSES} poses of bones at most",
            f"Choose at most {MOST_POSES // bones} frames",
        )


def require_library_size(label: str, frames: int, bones: int) -> None:
    """Refuse more poses of bones in all clips of a library together than anybody has; ``label`` names the library."""
    if bones > MOST_BONES:
        raise BadMotion(f"{label} has {bones} bones, and {MOST_BONES} is the most", "Choose another armature")
    if frames * bones > MOST_LIBRARY_POSES:
        raise BadMotion(
            f"{label} has {frames} frames of {bones} bones, and a library {MOST_LIBRARY_POSES} poses of bones at most",
            f"Choose fewer clips, of at most {MOST_LIBRARY_POSES // bones} frames together",
        )


def require_keys(label: str, frames: int, bones: int, keys: int) -> None:
    """Refuse a long motion that hardly anything was keyed for: it takes as much memory as if it had been."""
    if frames * bones > MOST_SPARSE_POSES and keys < SPARSE_KEYS * frames * bones:
        raise BadMotion(
            f"{label} has only {keys} keys for {frames} frames of {bones} bones",
            f"Delete keys that lie far out, or choose at most {MOST_SPARSE_POSES // bones} frames",
        )


def require_frame_rate(label: str, fps: float, slowest: float = SLOWEST_FPS) -> None:
    """Refuse a rate at which nothing is filmed or captured, or nothing is looked at if ``slowest`` says so."""
    if not slowest * 0.999 <= fps <= FASTEST_FPS * 1.001:  # not a number is not between them either
        hint = f"Set it between {SLOWEST_FPS:g} and {FASTEST_FPS:g} frames a second (--fps)"
        if 2.0 <= 1000.0 * fps <= FASTEST_FPS:
            hint = f"A frame time in milliseconds was taken for seconds: set it to {1000.0 * fps:.4g} (--fps)"
        raise BadMotion(f"{label} has a frame rate of {fps:g}", hint)
