# SPDX-License-Identifier: GPL-3.0-or-later
"""What responds to cues, as a file: a library, whose deeds have their key moments."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import limits
from ...errors import BadFile
from ..learned import LearnedFormat, LearnedKind
from ..tracking import library_files
from ..tracking.library_files import StoredLibrary

RESPONDER = LearnedKind(
    name="respond",
    label="library",
    ending=".library.npz",
    folder="libraries",
    module="core.control.respond.learned_file",
    learn_hint="build one from {whose} Actions",
    missing="There is no library in '{path}'",
    missing_hint="Choose another file, or build it again",
    most_bytes=limits.LIBRARY_BYTES,
)


def responder_from_content(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str) -> StoredLibrary:
    """What is in a file; one that has no whole library with a body in it is refused."""
    if meta.get("kind") != library_files.KIND:
        raise BadFile(f"{label} has no library in it", "Choose a file that 'sinew library build' made")
    return library_files.stored_library_from_content(arrays, meta, label).with_deeds


FORMAT = LearnedFormat(responder_from_content, library_files.describe_stored_library)
