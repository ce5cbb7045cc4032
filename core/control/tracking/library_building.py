# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries made of sources: each clip prepared once, by the one source preparation, and kept until it changes.

A clip is known by a digest of its source and of how it is prepared. What a library has already under that digest is
taken as it is, so that adding a clip prepares that clip alone, and one that changed is noticed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...array_cache import compute_digest
from ...body import BodyModel, build_body
from ...body.clip_mirroring import ClipMirror
from ...body.deed_proposals import propose_deeds
from ...body.foot_contacts import find_foot_contacts, name_feet
from ...body.in_place import describe_travel, find_in_place
from ...body.io import body_to_arrays
from ...body.role_retargeting import retarget_clip
from ...body.style_proposals import propose_styles
from ...errors import BadMotion, RigError, SinewError
from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.clip import Tag
from ...motion.deeds import Deed, merge_deeds, place_deeds
from ...motion.library import LIBRARY, ClipOrigin, Flags, Library
from ...motion.loops import close_cycle, loop_clip
from ...motion.skeleton import freeze_array
from ...motion.travel import apply_travel
from ...motion.trim import require_motion
from ...motion.unit_checks import check_frame_rate
from ...motion.upsampling import resample_smoothly
from .skeleton_matching import describe_skeleton_difference
from .source_preparation import prepare_source
from .trimming import bridge_source, trim_findings

LIBRARY_FPS = 60.0
"""Frames a second of every library."""
MIRRORED = " mirrored"
"""What the name of a mirrored copy ends in."""

_SLOWED = 0.75  # seconds of its source in a second; flights are stretched by less
_CYCLES_S = 5.0  # that a cycle on the spot is played for
_PREPARATION = 3  # goes up where the same source would be prepared otherwise


@dataclass(frozen=True, eq=False)
class LibrarySource:
    """Where a clip is from.

    source: the file or Action. digest: of its motion, cheap to have. read: gives the motion.
    tags: what the source itself says of styles, in frames of which there are ``fps`` a second; None where it says
        nothing and the library is asked. styles: tags for the whole of a clip that the library does not know yet.
    deeds: what the source itself says of deeds, in the same frames; None as for tags.
    """

    name: str
    source: str
    digest: str
    read: Callable[[], Clip]
    tags: tuple[Tag, ...] | None = None
    fps: float = LIBRARY_FPS
    styles: tuple[str, ...] = ()
    deeds: tuple[Deed, ...] | None = None


@dataclass(frozen=True, eq=False)
class PreparedClip:
    """A clip of a library at ``LIBRARY_FPS``, on the body's skeleton, in single precision as it is kept.

    local_pos: (T, B, 3) and local_quat_wxyz: (T, B, 4) as a ``Clip`` has them. contacts: (T, N) of the body's feet.
    times_s: (T,) seconds in the source. tags: in frames of the clip. deeds: likewise; None where nobody has looked for
        any yet, as in files of an older Sinew (``find_deeds``).
    """

    name: str
    local_pos: NDArray[np.float32]
    local_quat_wxyz: NDArray[np.float32]
    contacts: Flags
    times_s: Array
    tags: tuple[Tag, ...]
    origin: ClipOrigin
    deeds: tuple[Deed, ...] | None = None

    def __len__(self) -> int:
        return len(self.local_pos)


def bring_onto_body(body: BodyModel, clip: Clip) -> Clip:
    """The clip on the body's skeleton: as it is where that is its own, else by the roles of bones.

    A skeleton that nothing is known of is refused with a ``RigError`` that names the clip.
    """
    if not describe_skeleton_difference(body.skeleton, clip.skeleton):
        return Clip(body.skeleton, clip.fps, clip.local_pos, clip.local_quat_wxyz, clip.name, clip.tags)
    try:
        source, _ = build_body(clip.skeleton, clip=clip)
    except RigError as error:
        message = f"'{clip.name}' cannot be brought onto the library's character: {error.message}"
        raise RigError(message, error.hint) from error
    return retarget_clip(source, clip, body)


def prepare_clip(body: BodyModel, clip: Clip, source: str = "", digest: str = "") -> PreparedClip:
    """A clip at the library's rate, without what is no motion, grounded and with its feet planted.

    The clip has the body's skeleton. Its tags come along, wherever frames went, and Sinew's proposals join them.
    """
    require_motion(clip)
    labelled_fps = clip.fps
    clip, rate_notes = _play_at_true_rate(clip)
    begun, trim = bridge_source(resample_smoothly(replace(clip, tags=()), LIBRARY_FPS), "auto")
    prepared, report = prepare_source(body, trim.cut_clip(begun))
    times_s = np.arange(len(prepared)) / LIBRARY_FPS if report.times_s is None else report.times_s
    times_s = (times_s + trim.start / LIBRARY_FPS) * (clip.fps / labelled_fps)
    tags = (*place_tags(clip.tags, labelled_fps, times_s), *propose_styles(body, prepared))
    findings = (*trim_findings(trim.findings), *report.findings)
    return PreparedClip(
        clip.name,
        prepared.local_pos.astype(np.float32),
        prepared.local_quat_wxyz.astype(np.float32),
        find_foot_contacts(body, prepared),
        times_s,
        tags,
        ClipOrigin(source, digest, (*rate_notes, *(finding.message for finding in findings))),
    )


def _play_at_true_rate(clip: Clip) -> tuple[Clip, tuple[str, ...]]:
    """A clip that falls faster than anything can, at the rate at which it does not, and what to say of that.

    Among a hundred files nobody looks at each; and one that is twice too fast spoils what is learned from all.
    """
    found = check_frame_rate(clip)
    if found is None or found.gravity_m_s2 is None or found.factor >= 1.0:
        return clip, ()
    return clip.with_fps(found.suggested_fps), (f"{found.message}. It is played at that rate",)


def is_slowed_down(clip: PreparedClip) -> bool:
    """Whether it is played more slowly than its source says."""
    return len(clip) > 1 and float(np.median(np.diff(clip.times_s))) * LIBRARY_FPS < _SLOWED


def let_travel(body: BodyModel, clip: Clip) -> tuple[Clip, tuple[str, ...]]:
    """A cycle on the spot travels as its feet ask for, several times over, and what to say of that.

    What stands on a treadmill is nowhere near anything that goes somewhere, and nobody can be asked to go there by it.
    It is played over so that there is time to leave it.
    """
    found = find_in_place(clip, body) if clip.duration_s < _CYCLES_S else None
    if found is None:
        return clip, ()
    cycle = close_cycle(clip)
    played = loop_clip(cycle, int(np.ceil(_CYCLES_S / cycle.duration_s)))
    moved = apply_travel(played, found.travel, np.arange(len(played)) / played.fps)
    return moved, (f"It is on the spot, and travels here: {describe_travel(found.travel)}",)


def place_tags(tags: Sequence[Tag], fps: float, times_s: Array) -> tuple[Tag, ...]:
    """Tags of a source of ``fps`` in frames at ``times_s`` (T,) of it; a tag whose frames are all gone is gone."""
    found = []
    for tag in tags:
        # A frame stands for the time around it, so that a tag up to the last frame is one up to the end.
        start, stop = (int(np.searchsorted(times_s, (edge - 0.5) / fps)) for edge in (tag.start, tag.stop))
        if start < stop:
            found.append(replace(tag, start=start, stop=stop))
    return tuple(found)


def digest_preparation(body: BodyModel) -> str:
    """A digest of everything that decides how a source is prepared, besides the source."""
    return compute_digest(_PREPARATION, LIBRARY_FPS, *body_to_arrays(body))


def prepare_new_clip(body: BodyModel, clip: Clip, source: str, digest: str) -> PreparedClip:
    """A clip that no library knows yet: brought onto the body, given its travel, and prepared."""
    clip, notes = let_travel(body, bring_onto_body(body, clip))
    one = prepare_clip(body, clip, source, digest)
    return replace(one, origin=replace(one.origin, notes=(*notes, *one.origin.notes)))


def read_source_clip(source: LibrarySource) -> Clip:
    """The clip as it is to be prepared: under the source's name, and without tags, which come from elsewhere."""
    return replace(source.read(), name=source.name, tags=())


def prepare_clips(
    body: BodyModel,
    sources: Sequence[LibrarySource],
    known: Sequence[PreparedClip] = (),
    made: Mapping[str, PreparedClip | SinewError] | None = None,
) -> Iterator[PreparedClip]:
    """One prepared clip after the other; what is known already under its digest is not prepared again.

    made: by digest what ``prepare_new_clip`` has made of clips elsewhere, or why it could not.
    """
    preparation = digest_preparation(body)
    by_digest = {one.origin.digest: one for one in known}
    by_source = {one.origin.source: one for one in known}
    for source in sources:
        digest = digest_clip(source.digest, preparation)
        one = by_digest.get(digest)
        if one is None:
            new = (made or {}).get(digest) or prepare_new_clip(body, read_source_clip(source), source.source, digest)
            if isinstance(new, SinewError):
                raise new
            one = _keep_tags(replace(new, name=source.name), by_source.get(source.source), source)
        elif one.name != source.name:  # the same motion under another name is another clip
            proposed = tuple(tag for tag in one.tags if tag.is_proposal)
            one = _keep_tags(replace(one, tags=proposed), by_source.get(source.source), source)
        tags = one.tags
        if source.tags is not None:
            own = () if any(tag.is_proposal for tag in source.tags) else tuple(tag for tag in tags if tag.is_proposal)
            tags = (*place_tags(source.tags, source.fps, one.times_s), *own)
        one = replace(one, name=source.name, tags=tags, origin=replace(one.origin, source=source.source))
        yield replace(one, deeds=_gather_deeds(body, one, by_source.get(source.source), source))


def digest_clip(source_digest: str, preparation: str) -> str:
    """What a clip of a library is known by: its source's digest, and that of how it is prepared."""
    return compute_digest(source_digest, preparation)


def _keep_tags(one: PreparedClip, before: PreparedClip | None, source: LibrarySource) -> PreparedClip:
    """A clip that was prepared anew with the tags that somebody gave it before, or with those of its source's name."""
    length = len(one)
    if before is None:
        given = tuple(Tag(name, 0, length) for name in source.styles)
    else:
        kept = (tag for tag in before.tags if not tag.is_proposal and tag.start < length)
        given = tuple(replace(tag, stop=min(tag.stop, length)) for tag in kept)
    return replace(one, tags=(*given, *one.tags))


def find_deeds(body: BodyModel, one: PreparedClip, given: Sequence[Deed] | None = None) -> tuple[Deed, ...]:
    """The deeds of a clip: those that somebody gave it (its own, where none are told), and Sinew's proposals."""
    own = tuple(deed for deed in one.deeds or () if not deed.is_proposal) if given is None else tuple(given)
    pos, quat = (array.astype(np.float64) for array in (one.local_pos, one.local_quat_wxyz))
    clip = Clip(body.skeleton, LIBRARY_FPS, pos, quat, one.name)
    return merge_deeds(own, propose_deeds(body, clip, one.tags))


def _gather_deeds(
    body: BodyModel, one: PreparedClip, before: PreparedClip | None, source: LibrarySource
) -> tuple[Deed, ...]:
    """What the source says of deeds, or else what the library had; proposals for the rest."""
    if source.deeds is not None:
        return find_deeds(body, one, place_deeds(source.deeds, source.fps, one.times_s))
    own = one.deeds if one.deeds is not None else (before.deeds if before is not None else ()) or ()
    return find_deeds(body, one, [deed for deed in own if not deed.is_proposal and deed.stop <= len(one)])


def find_mirror(body: BodyModel) -> ClipMirror | str:
    """What mirrors clips of the body; or why nothing can, as a sentence."""
    try:
        return ClipMirror(body)
    except RigError as error:
        return f"There are no mirrored copies: {error.message}"


def gather_library(body: BodyModel, clips: Sequence[PreparedClip]) -> Library:
    """A library of prepared clips."""
    if not clips:
        raise BadMotion("There are no clips for a library", "Choose at least one Action or motion file")
    pos, quat = (
        freeze_array(np.concatenate([getattr(one, name) for one in clips], dtype=np.float64))
        for name in ("local_pos", "local_quat_wxyz")
    )
    return Library(
        Clip(body.skeleton, LIBRARY_FPS, pos, quat, LIBRARY),
        tuple(one.name for one in clips),
        np.cumsum([0, *map(len, clips)]),
        np.concatenate([one.contacts for one in clips]),
        name_feet(body),
        tags=tuple(one.tags for one in clips),
        origins=tuple(one.origin for one in clips),
        times_s=np.concatenate([one.times_s for one in clips]),
        deeds=tuple(one.deeds or () for one in clips),
    )


def add_mirrored(library: Library, mirror: ClipMirror) -> Library:
    """A library with the mirror images of its clips behind them."""
    feet, motion, count = library.feet, library.motion, len(library)
    others = [feet.index(other) if (other := _other_foot(foot)) in feet else i for i, foot in enumerate(feet)]
    image = mirror.mirror(motion)
    pos = freeze_array(np.concatenate([motion.local_pos, image.local_pos]))
    quat = np.concatenate([motion.local_quat_wxyz, image.local_quat_wxyz])
    del image  # a library is large
    return Library(
        Clip(motion.skeleton, motion.fps, pos, quat, motion.name),
        (*library.names, *(f"{name}{MIRRORED}" for name in library.names)),
        np.concatenate([library.starts, library.starts[1:] + len(motion)]),
        np.concatenate([library.contacts, library.contacts[:, others]]),
        feet,
        np.concatenate([np.full(count, -1), np.arange(count)]),
        library.tags * 2,
        (*library.origins, *(replace(origin, notes=()) for origin in library.origins)),
        np.tile(library.times_s, 2),
        library.deeds * 2,
    )


def _other_foot(name: str) -> str:
    return name[:-1] + {"L": "R", "R": "L"}.get(name[-1:], "")
