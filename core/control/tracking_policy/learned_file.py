# SPDX-License-Identifier: GPL-3.0-or-later
"""What directs a character, as a file: a library, whose motion sampling control gives a body.

A trained one is the same file with a policy in it, so that both go elsewhere together.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import limits
from ...body import BodyModel
from ...errors import BadFile, BadMotion
from ...motion import Clip, Skeleton
from ...motion.library import Library, library_from_arrays
from ..learned import LearnedFormat, LearnedKind
from ..matching.getups import find_lying_clips
from ..matching.stopping import name_stopping_styles
from ..tracking import library_files
from ..tracking.library_files import KIND as LIBRARY_KIND
from ..tracking.library_files import StoredLibrary
from .controller import TrackingController, tracking_controller_from_arrays

DIRECTED = LearnedKind(
    name="direct",
    label="library",
    ending=".library.npz",
    folder="libraries",
    module="core.control.tracking_policy.learned_file",
    learn_hint="build one from {whose} Actions",
    missing="There is no library in '{path}'",
    missing_hint="Choose another file, or build it again",
    most_bytes=limits.LIBRARY_BYTES,
)


@dataclass(frozen=True, eq=False)
class Director:
    """What goes where it is told. library: the motion that it has."""

    library: Library


@dataclass(frozen=True, eq=False)
class TrainedDirector:
    """A library with the policy that keeps it on its feet."""

    stored: StoredLibrary
    controller: TrackingController

    @property
    def library(self) -> Library:
        """The motion that it has."""
        return self.stored.library


AnyDirector = Director | StoredLibrary | TrainedDirector


def director_from_content(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str) -> AnyDirector:
    """What is in a file; one that has no whole library in it is refused."""
    if meta.get("kind") == LIBRARY_KIND:
        stored = library_files.stored_library_from_content(arrays, meta, label)
        if "controller" not in meta:
            return stored
        return TrainedDirector(stored, tracking_controller_from_arrays(arrays, meta["controller"], label))
    if "clips" not in meta:
        raise BadFile(f"{label} has no library in it", "Choose a file that 'sinew library build' made")
    try:
        return Director(library_from_arrays(arrays, meta))
    except BadMotion as error:
        raise BadFile(f"{label} is not whole: {error.message}", error.hint or "Build the library again") from error


def _describe(director: AnyDirector) -> tuple[str, ...]:
    """What the panel says of a file."""
    if isinstance(director, TrainedDirector):
        about = director.controller.about
        trained = f"Trained for {about['seconds'] / 60.0:.0f} min: falls {about['falls_per_minute']:.1f} times a minute"
        return (*library_files.describe_stored_library(director.stored), trained)
    if isinstance(director, StoredLibrary):
        return library_files.describe_stored_library(director)
    library = director.library
    given = int((~library.mirrored).sum())
    more = ", and each mirrored" if given < len(library) else ""
    styles = ", ".join(library.tag_names()) or "none"
    return (f"{given} clips{more}: {library.duration_s:.0f} s", f"Styles: {styles}")


def directed_skeleton(director: AnyDirector) -> Skeleton:
    """The bones that a file is for, without making its mirrored copies."""
    director = director.stored if isinstance(director, TrainedDirector) else director
    return director.body.skeleton if isinstance(director, StoredLibrary) else director.library.motion.skeleton


def directed_body(director: AnyDirector, build: Callable[[Clip], BodyModel]) -> BodyModel:
    """The body that its clips were prepared for; build: makes one of a clip, where none is kept."""
    director = director.stored if isinstance(director, TrainedDirector) else director
    return director.body if isinstance(director, StoredLibrary) else build(director.library.clip(0))


def choose_clips(
    director: AnyDirector, styles: Collection[tuple[str, ...]], standing: str, *, get_ups: bool = False
) -> Director | StoredLibrary:
    """What of a file has to do with styles, and with stopping and standing: to prepare all of it takes seconds.

    All of it where any style will do, or one is not there: who searches it says so. get_ups: clips that lie, too.
    """
    director = director.stored if isinstance(director, TrainedDirector) else director
    if not isinstance(director, StoredLibrary) or () in styles:
        return director
    known = [clip.tags for clip in director.clips]
    given = {tag.name for tags in known for tag in tags if not tag.is_proposal}
    own = [{tag.name for tag in tags if not tag.is_proposal or tag.name not in given} for tags in known]
    names = {name for style in styles for name in style}
    if names - set().union(*own):
        return director
    names |= name_stopping_styles(director.body, director.clips, own)
    chosen = [bool(its & names) for its in own]
    if not any(standing in its for its, is_chosen in zip(own, chosen, strict=True) if is_chosen):
        chosen = [is_chosen or standing in its for its, is_chosen in zip(own, chosen, strict=True)]
    if get_ups:
        lies = find_lying_clips(director.body, director.clips)
        chosen = [is_chosen or bool(low) for is_chosen, low in zip(chosen, lies, strict=True)]
    clips = (clip for clip, is_chosen in zip(director.clips, chosen, strict=True) if is_chosen)
    return replace(director, clips=tuple(clips))


FORMAT = LearnedFormat(director_from_content, _describe, directed_skeleton)
