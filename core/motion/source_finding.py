# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said about a source before anything is made of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SourceFinding:
    """Something that looks wrong with a motion.

    kind: what it is, as reports have it. frames: from, up to, not with; None where it is about all of them.
    fix: which setting mends it: 'scale', 'frame_rate', 'trim', 'travel', or '' for none. value: what to set it to, or
    multiply it by. is_impossible: no body can do this, so that nothing is simulated without asking.
    """

    kind: str
    message: str
    hint: str
    frames: tuple[int, int] | None = None
    fix: str = ""
    value: float = 0.0
    is_impossible: bool = False
