# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be simulated is refused at once, before a job is made of it."""

from ..errors import BadMotion
from .clip import Clip
from .trim import find_trim, require_motion

# What is no motion at an end and shorter than this can be held; a longer one would be a statue that begins to run.
_LONGEST_END_S = 0.15


def require_simulatable(clip: Clip, *, trim: bool = True) -> None:
    """Refuse a clip too short to have a motion in it.

    trim: whether what is no motion is left out of it; else a clip without a body at its beginning or end is refused.
    """
    require_motion(clip)
    found = find_trim(clip)
    if trim:
        require_motion(found.cut_clip(clip))
        return
    ends = zip(("first", "last"), (found.start, found.count - found.stop), strict=True)
    missing = [f"its {where} {count} frames" for where, count in ends if count > _LONGEST_END_S * clip.fps]
    if missing:
        raise BadMotion(
            f"The capture of '{clip.name}' has lost the body in {' and '.join(missing)}",
            f"Choose a frame range without {' and '.join(missing)}, or have them left out (--trim auto)",
        )
