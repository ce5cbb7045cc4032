# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes are called: after their source and what happened in them, as long as Blender lets a name be."""

from collections.abc import Container

LONGEST = 63
"""Bytes of a name that every Blender keeps."""
_LEAST = 20  # bytes of the source's name that stay where all of it has no room


def compose_name(source: str, words: str) -> str:
    """'Walk, push chest 200 N'; the source's name gives way where both have no room."""
    tail = f", {words}" if words else ""
    return shorten_name(shorten_name(source, max(_LEAST, LONGEST - len(tail.encode()))) + tail)


def shorten_name(name: str, longest: int = LONGEST) -> str:
    """The name in so many bytes, no character cut in two; '…' stands for what is left out."""
    if len(name.encode()) <= longest:
        return name
    return name.encode()[: longest - len("…".encode())].decode("utf-8", "ignore").rstrip(" ,") + "…"


def find_free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if another has it already: Blender would put '.001' there."""
    found, number = shorten_name(name), 1
    while found in taken:
        number += 1
        found = f"{shorten_name(name, LONGEST - len(f' {number}'))} {number}"
    return found
