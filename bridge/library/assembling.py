# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries as files: built, added to, and noticed to be out of date."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ...core import jobs
from ...core.body import BodyModel, build_body
from ...core.control.tracking.library_building import (
    LibrarySource,
    PreparedClip,
    digest_clip,
    digest_preparation,
    prepare_clips,
    read_source_clip,
)
from ...core.control.tracking.library_files import (
    LIBRARY_FILE,
    StoredLibrary,
    store_library,
    stored_library_from_content,
)
from ...core.control.tracking.source_preparation import clean_source
from ...core.errors import BadFile, BadMotion, CannotWrite, SinewError
from ...core.jobs import HERE, Where
from ...core.jobs.cluster.library_clips import NewClip, prepare_on_cluster
from ...core.paths import is_plain_file
from ..setup import preferences


def open_library(path: Path) -> StoredLibrary:
    """Read a library; a file that is missing, torn or something else is a ``BadFile``."""
    return stored_library_from_content(*LIBRARY_FILE.read_content(path), f"'{path}'")


def is_trained_file(path: Path) -> bool:
    """Whether a policy is in the file with its library."""
    try:
        return is_plain_file(path) and "controller" in LIBRARY_FILE.read_content(path)[1]
    except BadFile:
        return False


def require_untrained(path: Path) -> None:
    """Refuse to write over a library that was trained: an hour of practice would be lost with its policy."""
    if is_trained_file(path):
        raise CannotWrite(
            f"'{path}' is a trained library, and would lose its policy",
            "Change the library that it was trained from, and train that",
        )


def write_library(path: Path, stored: StoredLibrary) -> None:
    """Write a library whole, over anything but a trained one."""
    require_untrained(path)
    LIBRARY_FILE.write_content(path, *store_library(stored))


def make_library_body(sources: Sequence[LibrarySource]) -> BodyModel:
    """The body that a library's clips are prepared for, where nobody has given one: of the first clip that has one."""
    problem: SinewError | None = None
    for source in sources:
        try:
            clip = source.read()
            return build_body(clip.skeleton, clip=clean_source(clip)[0])[0]
        except SinewError as error:
            problem = problem or error
    raise problem or BadMotion("There are no clips for a library", "Choose at least one Action or motion file")


def assemble(
    body: BodyModel,
    sources: Sequence[LibrarySource],
    known: Sequence[PreparedClip],
    told: Callable[[int, str], None] = lambda done, name: None,
    skipped: Callable[[str, SinewError], None] | None = None,
    where: Where = HERE,
) -> list[PreparedClip]:
    """Prepare what is not known yet. told: after each clip, with how many there are. skipped: for sources that cannot
    be a part of the library, which then goes without them; None refuses them. where: what is new is prepared.
    """
    made = {} if where.is_here else _prepare_elsewhere(body, sources, known, where)
    return [clip for clip in _assemble(body, sources, known, told, skipped, made) if clip is not None]


def _prepare_elsewhere(
    body: BodyModel, sources: Sequence[LibrarySource], known: Sequence[PreparedClip], where: Where
) -> Mapping[str, PreparedClip | SinewError]:
    """By digest what is new, read here and prepared there; what cannot be read is left for who tells of it."""
    preparation = digest_preparation(body)
    before, new = {one.origin.digest for one in known}, list[NewClip]()
    for source in sources:
        digest = digest_clip(source.digest, preparation)
        if digest not in before:
            with suppress(SinewError):
                new.append(NewClip(read_source_clip(source), source.source, digest))
    python = jobs.find_worker_python(preferences.preferred_python())
    return prepare_on_cluster(body, new, where, python)


def _assemble(
    body: BodyModel,
    sources: Sequence[LibrarySource],
    known: Sequence[PreparedClip],
    told: Callable[[int, str], None],
    skipped: Callable[[str, SinewError], None] | None,
    made: Mapping[str, PreparedClip | SinewError],
) -> Iterator[PreparedClip | None]:
    for number, source in enumerate(sources, start=1):
        try:
            clip = next(iter(prepare_clips(body, [source], known, made)))
        except SinewError as error:
            if skipped is None:
                raise
            skipped(source.name, error)
            yield None
            continue
        told(number, source.name)
        yield clip


def add_to_library(
    stored: StoredLibrary,
    sources: Sequence[LibrarySource],
    told: Callable[[int, str], None] = lambda done, name: None,
    where: Where = HERE,
) -> StoredLibrary:
    """The library with more clips; those of a source that is in it already take its place, where they changed."""
    new = {clip.origin.source: clip for clip in assemble(stored.body, sources, stored.clips, told, where=where)}
    kept = [new.pop(clip.origin.source, clip) for clip in stored.clips]
    return replace(stored, clips=(*kept, *new.values()))


def find_changed(stored: StoredLibrary, digests: Mapping[str, str]) -> list[str]:
    """The names of clips whose sources are no longer what they were when the library was built.

    digests: by source its digest now; a source that is not there has none, and its clip stays as it is.
    """
    preparation = digest_preparation(stored.body)
    now = {source: digest_clip(digest, preparation) for source, digest in digests.items()}
    return [clip.name for clip in stored.clips if now.get(clip.origin.source, clip.origin.digest) != clip.origin.digest]
