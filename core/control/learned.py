# SPDX-License-Identifier: GPL-3.0-or-later
"""Learned files: what a method has learned, kept beside the .blend, as a kind that says how it is read and told of."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadFile
from ..files import read_arrays, write_arrays

Content = tuple[dict[str, np.ndarray], dict[str, Any]]
"""(arrays, description) of a learned file, as a job attaches it and hands it over."""


@dataclass(frozen=True)
class LearnedKind:
    """A kind of learned file. Its functions are named rather than held: a panel that lists methods imports none of it.

    name: a job's product; with '_file' behind it, the job's attachment and its target's key.
    label: what it is called in a sentence, such as 'controller'. ending: of its files.
    folder: where such files go among the jobs, while the .blend was never saved.
    module: absolute within the package ('core.control.bounds.files'); it has
        ``from_content(arrays, meta, label) -> object``, which refuses with a ``BadFile`` what is not whole, and
        ``describe(object) -> tuple of sentences``; and ``read_content(path)``, ``write_content(path, arrays, meta)``
        where files are not plain ``.npz``.
    learn_hint: how one comes by it; {whose} is 'the' or 'its'.
    missing, missing_hint: what is said where a file ({path}) is gone, and the fix.
    """

    name: str
    label: str
    ending: str
    folder: str
    module: str
    learn_hint: str
    missing: str
    missing_hint: str

    @property
    def attachment(self) -> str:
        """What a job calls a learned file that it plays, measures or begins with."""
        return f"{self.name}_file"

    def read_content(self, path: Path) -> Content:
        """(arrays, description) of a file; one that is missing or torn is a ``BadFile``."""
        if not path.is_file():
            raise BadFile(self.missing.format(path=path), self.missing_hint)
        content: Content = getattr(self._module, "read_content", read_arrays)(path)
        return content

    def write_content(self, path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """Write a file whole."""
        getattr(self._module, "write_content", write_arrays)(path, arrays, meta)

    def from_content(self, content: Content, label: str) -> Any:
        """What was learned; ``label`` names the file in a ``BadFile``."""
        return self._module.from_content(*content, label)

    def describe(self, learned: Any) -> tuple[str, ...]:
        """What was learned in sentences, for the panel and the command line."""
        sentences: tuple[str, ...] = self._module.describe(learned)
        return sentences

    @property
    def _module(self) -> Any:
        return import_module(f"...{self.module}", __package__)
