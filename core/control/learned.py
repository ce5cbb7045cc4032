# SPDX-License-Identifier: GPL-3.0-or-later
"""Learned files: what a method has learned, kept beside the .blend, as a kind that says how it is read and told of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .. import limits
from ..errors import BadFile
from ..files import read_arrays, write_arrays
from ..motion import Skeleton
from ..paths import is_there

# What code that expects a whole file may raise for one that somebody made up, besides a ``BadFile``.
_ODD = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

Content = tuple[dict[str, np.ndarray], dict[str, Any]]
"""(arrays, description) of a learned file, as a job attaches it and hands it over."""


@dataclass(frozen=True)
class LearnedFormat:
    """How files of a kind are read and told of.

    from_content: (arrays, meta, label) -> what was learned; refuses with a ``BadFile`` what is not whole.
    describe: what was learned -> sentences. skeleton: what was learned -> the bones that it is for, where it is for
    some. read_content: path -> content, write_content: (path, arrays, meta), where
    files are not plain ``.npz``.
    """

    from_content: Callable[[Mapping[str, np.ndarray], Mapping[str, Any], str], Any]
    describe: Callable[[Any], tuple[str, ...]]
    skeleton: Callable[[Any], Skeleton] | None = None
    read_content: Callable[[Path], Content] | None = None
    write_content: Callable[[Path, Mapping[str, np.ndarray], Mapping[str, Any]], None] | None = None


@dataclass(frozen=True)
class LearnedKind:
    """A kind of learned file. Its format is named rather than held: a panel that lists methods imports none of it.

    name: a job's product; with '_file' behind it, the job's attachment and its target's key.
    label: what it is called in a sentence, such as 'controller'. ending: of its files.
    folder: where such files go among the jobs, while the .blend was never saved.
    module: absolute within the package ('core.control.bounds.learned_file'); it has the kind's ``FORMAT``.
    learn_hint: how one comes by it; {whose} is 'the' or 'its'.
    missing, missing_hint: what is said where a file ({path}) is gone, and the fix.
    most_bytes: of a file and of what is in it; what is larger is not read.
    """

    name: str
    label: str
    ending: str
    folder: str
    module: str
    learn_hint: str
    missing: str
    missing_hint: str
    most_bytes: int = limits.LEARNED_BYTES

    @property
    def attachment(self) -> str:
        """What a job calls a learned file that it plays, measures or begins with."""
        return f"{self.name}_file"

    def read_content(self, path: Path) -> Content:
        """(arrays, description) of a file; one that is missing or torn is a ``BadFile``."""
        if not is_there(path):
            raise BadFile(self.missing.format(path=path), self.missing_hint)
        read = self._format.read_content or partial(read_arrays, most=self.most_bytes)
        content: Content = read(path)
        return content

    def write_content(self, path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """Write a file whole, with a checksum of what is in it."""
        write = self._format.write_content or partial(write_arrays, checksum=True)
        write(path, arrays, meta)

    def from_content(self, content: Content, label: str) -> Any:
        """What was learned; ``label`` names the file in a ``BadFile``."""
        try:
            return self._format.from_content(*content, label)
        except _ODD as error:
            raise BadFile(f"{label} is no whole {self.label}: {error}", self.missing_hint) from error

    def describe(self, learned: Any) -> tuple[str, ...]:
        """What was learned in sentences, for the panel and the command line; none where it knows nothing of itself."""
        try:
            sentences = self._format.describe(learned)
        except _ODD:
            return ()
        return sentences

    def skeleton_of(self, learned: Any) -> Skeleton | None:
        """The bones that it was learned for; None where it does not matter."""
        find = self._format.skeleton
        return None if find is None else find(learned)

    @property
    def _format(self) -> LearnedFormat:
        found: LearnedFormat = import_module(f"...{self.module}", __package__).FORMAT
        return found
