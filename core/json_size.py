# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a JSON text would take, counted before it is read.

A list of nothing has three letters in a text, and some hundred bytes when it was read: what is read into memory is
counted, not what is on the disk.
"""

from . import limits


def require_few_items(text: str | bytes, most: int = limits.JSON_ITEMS) -> None:
    """Refuse a text of more lists, mappings and entries of them than any has that we know of, with a ``ValueError``.

    Counted are the marks that begin or part them, also where they stand in words: never too few.
    """
    if len(text) <= most:
        return
    count = (
        sum(text.count(mark) for mark in "[{,") if isinstance(text, str) else sum(map(text.count, (b"[", b"{", b",")))
    )
    if count > most:
        raise ValueError(f"it has {count} entries, and at most {most} are read")
