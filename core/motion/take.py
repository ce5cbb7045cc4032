# SPDX-License-Identifier: GPL-3.0-or-later
"""What a method brings home: a motion, its contacts and what was measured of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import BadMotion
from .clip import Clip
from .skeleton import frozen

Measurement = float | int | bool | str | None


@dataclass(frozen=True, eq=False)
class Take:
    """A finished motion.

    motion: on the same bones as the source; any frame rate.
    contacts: (T, B) true where the bone touches something, or None where the method knows of no contacts.
    fell_at_s: when the character lost the motion it was following, or None if it kept it to the end.
    measurements: named numbers for the report, units in the name (``skate_m_s``).
    """

    motion: Clip
    contacts: NDArray[np.bool_] | None = None
    fell_at_s: float | None = None
    measurements: Mapping[str, Measurement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.contacts is not None:
            contacts = np.array(self.contacts, dtype=bool)
            wanted = (len(self.motion), len(self.motion.skeleton))
            if contacts.shape != wanted:
                raise BadMotion(f"The take's contacts have shape {contacts.shape}, not {wanted}")
            object.__setattr__(self, "contacts", frozen(contacts))

    @property
    def fell(self) -> bool:
        """Whether the character lost the motion before the end."""
        return self.fell_at_s is not None
