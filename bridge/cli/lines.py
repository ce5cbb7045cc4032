# SPDX-License-Identifier: GPL-3.0-or-later
"""The one way to the terminal: every line is one line, and names from files command no terminal and forge no row."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ...core.errors import BadFile, BadSettings
from ...core.paths import usable_path
from ...core.texts import is_encodable, one_line


def say(*lines: str) -> None:
    """Print these lines, each on its own whatever it holds."""
    for line in lines:
        print(one_line(line))


def say_json(value: Any) -> None:
    """Print a value as JSON, in which every character that is not plain is an escape."""
    print(json.dumps(value, indent=2))


def say_aside(*lines: str) -> None:
    """Print these lines beside the results: notes, progress, problems."""
    for line in lines:
        print(f"sinew: {one_line(line)}", file=sys.stderr)


def indented(first: str, rest: Iterable[str]) -> tuple[str, ...]:
    """A line, and below it what belongs to it."""
    return (first, *(f"  {line}" for line in rest))


class LineParser(argparse.ArgumentParser):
    """Says what is wrong with a command line on one line, as everything is said."""

    def error(self, message: str) -> NoReturn:
        """Leave with the usage and the problem."""
        super().error(one_line(message))


def path_argument(text: str) -> Path:
    """A path as an argument; one that no file could have is wrong usage."""
    try:
        return usable_path(text)
    except BadFile as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def require_words(words: Sequence[str]) -> None:
    """Refuse words that are no text: neither Blender nor a report could hold them."""
    for word in words:
        if not is_encodable(word) or "\0" in word:
            raise BadSettings(f"'{word}' is no text in this terminal's encoding", "Rename it with plain letters")


def prepare_streams() -> None:
    """Let streams write an escape for a letter that their encoding lacks, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
