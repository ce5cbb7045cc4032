# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a job is worked at: here, or on a Ray cluster. A render farm is given jobs by ``./sinew farm export``."""

import re
from dataclasses import dataclass

from ..errors import BadSettings

_ADDRESS = re.compile(
    r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]):(?P<port>[0-9]{1,5})"
)
_CHOICES = "Choose here, ray (a cluster that runs on this computer, or one that is started) or ray:HOST:PORT"


@dataclass(frozen=True)
class Where:
    """A place to work at. kind: 'here' or 'ray'. address: of the cluster, HOST:PORT; '' for one on this computer."""

    kind: str = "here"
    address: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.address}" if self.address else self.kind

    @property
    def is_here(self) -> bool:
        """Whether a process on this computer does it."""
        return self.kind == "here"


HERE = Where()


def parse_where(text: str) -> Where:
    """What 'here', 'ray' or 'ray:HOST:PORT' means; anything else is refused."""
    kind, colon, address = text.strip().partition(":")
    if kind in ("here", "ray") and not colon:
        return Where(kind)
    if kind != "ray":
        raise BadSettings(f"There is no '{text}' to work at", _CHOICES)
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise BadSettings(f"'{address}' is no address of a cluster", "Write HOST:PORT, such as ray:10.0.0.5:6379")
    return Where(kind, address)
