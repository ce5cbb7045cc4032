# SPDX-License-Identifier: GPL-3.0-or-later
"""What responds to cues, as a file: a library, whose deeds have their key moments.

A trained one is the same file with a student in it, so that both go elsewhere together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import limits
from ...errors import BadFile
from ...motion import Skeleton
from ..learned import Content, LearnedFormat, LearnedKind
from ..tracking import library_files
from ..tracking.library_files import StoredLibrary, store_library
from .student.student import Student, student_from_arrays

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
_STUDENT = "student"


@dataclass(frozen=True, eq=False)
class TrainedResponder:
    """A library with the student that was trained on it."""

    stored: StoredLibrary
    student: Student


AnyResponder = StoredLibrary | TrainedResponder


def responder_from_content(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str) -> AnyResponder:
    """What is in a file; one that has no whole library with a body in it is refused."""
    if meta.get("kind") != library_files.KIND:
        raise BadFile(f"{label} has no library in it", "Choose a file that 'sinew library build' made")
    stored = library_files.stored_library_from_content(arrays, meta, label).with_deeds
    if _STUDENT not in meta:
        return stored
    return TrainedResponder(stored, student_from_arrays(arrays, meta[_STUDENT], len(stored.body.skeleton), label))


def library_of(responder: AnyResponder) -> StoredLibrary:
    """The library of a file, trained or not."""
    return responder.stored if isinstance(responder, TrainedResponder) else responder


def student_of(responder: AnyResponder) -> Student | None:
    """The student of a file, if it has one."""
    return responder.student if isinstance(responder, TrainedResponder) else None


def responding_skeleton(responder: AnyResponder) -> Skeleton:
    """The bones that a file is for."""
    return library_of(responder).body.skeleton


def store_responder(stored: StoredLibrary, student: Student) -> Content:
    """What is kept of a library with a student, as a file of a library."""
    arrays, meta = store_library(stored)
    more, about = student.to_arrays()
    return {**arrays, **more}, {**meta, _STUDENT: about}


def _describe(responder: AnyResponder) -> tuple[str, ...]:
    sentences = library_files.describe_stored_library(library_of(responder))
    student = student_of(responder)
    if student is None:
        return sentences
    about = student.about
    shares = ", ".join(f"{100 * test['on_time']:.0f} % ({name})" for name, test in about["tests"].items())
    return (*sentences, f"Trained for {about['seconds'] / 60.0:.0f} min: on time {shares}")


FORMAT = LearnedFormat(responder_from_content, _describe)
