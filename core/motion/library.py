# SPDX-License-Identifier: GPL-3.0-or-later
"""Many clips on one skeleton as flat arrays with ranges: what a method takes that learns from all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, BadMotion
from ..geometry.flags import find_runs
from ..geometry.quaternions import Array
from .clip import Clip, Tag
from .deeds import Deed, deeds_from_rows, deeds_to_rows, require_deed_inside
from .io.npz import clip_from_arrays, clip_to_arrays
from .skeleton import freeze_array

LIBRARY = "library"
"""What a job calls its attachment with a library."""
FORMAT = 1
"""Newest format of what a library says beyond its motion, names and starts."""

_AGAIN = "Make the library again"
_ARRAYS = ("starts", "contacts", "mirrors", "times_s")

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class ClipOrigin:
    """Where a clip of a library is from.

    source: the file or the Action. digest: hash of the source's motion and of how it was prepared; '' where nobody
    asked. notes: what was found and done, in sentences.
    """

    source: str = ""
    digest: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Library:
    """Clips one after the other, at one frame rate: K clips, F frames in all.

    motion: all their frames as one clip. names: of each clip. starts: (K + 1,) first frame of each, then their number.
    contacts: (F, N) whether a foot is on the ground, for N feet called ``feet`` ('foot.L', 'foot.R', …); N is 0 where
        clips were not prepared.
    mirrors: (K,) which clip a clip is the mirror image of, left for right; -1 for one that was given.
    tags: (K,) of each clip its style tags, in frames of the clip. origins: (K,) where each is from.
    times_s: (F,) seconds in its source of every frame: sources may have been trimmed, and flights retimed.
    deeds: (K,) of each clip what is done in it and when, in frames of the clip.
    """

    motion: Clip
    names: tuple[str, ...]
    starts: NDArray[np.int64]
    contacts: Flags = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    feet: tuple[str, ...] = ()
    mirrors: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    tags: tuple[tuple[Tag, ...], ...] = ()
    origins: tuple[ClipOrigin, ...] = ()
    times_s: Array = field(default_factory=lambda: np.zeros(0))
    deeds: tuple[tuple[Deed, ...], ...] = ()

    def __post_init__(self) -> None:
        count, frames = len(self.names), len(self.motion)
        starts = np.array(self.starts, dtype=np.int64)
        if not count or starts.shape != (count + 1,):
            raise BadMotion("The library does not say where its clips are", _AGAIN)
        if starts[0] != 0 or starts[-1] != frames or (np.diff(starts) < 1).any():
            raise BadMotion("The library's clips do not fill its frames", _AGAIN)
        contacts = np.array(self.contacts, dtype=bool) if self.feet else np.zeros((frames, 0), dtype=bool)
        if contacts.shape != (frames, len(self.feet)):
            raise BadMotion(f"The library has contacts {contacts.shape} for {len(self.feet)} feet", _AGAIN)
        mirrors = np.array(self.mirrors, dtype=np.int64) if len(self.mirrors) else np.full(count, -1)
        if mirrors.shape != (count,) or (mirrors >= count).any() or (mirrors[mirrors[mirrors >= 0]] >= 0).any():
            raise BadMotion("The library does not say which clips are mirrored", _AGAIN)
        frame = np.arange(frames) - np.repeat(starts[:-1], np.diff(starts))
        times_s = np.array(self.times_s, dtype=float) if len(self.times_s) else frame / self.motion.fps
        if times_s.shape != (frames,):
            raise BadMotion("The library does not say where in its source each frame is", _AGAIN)
        own = {"starts": starts, "contacts": contacts, "mirrors": mirrors, "times_s": times_s}
        for name, array in own.items():
            object.__setattr__(self, name, freeze_array(array))
        object.__setattr__(self, "tags", self.tags or ((),) * count)
        object.__setattr__(self, "origins", self.origins or (ClipOrigin(),) * count)
        object.__setattr__(self, "deeds", self.deeds or ((),) * count)
        if {len(self.tags), len(self.origins), len(self.deeds)} != {count}:
            raise BadMotion("The library does not have tags, deeds and an origin for each clip", _AGAIN)
        for clip, length in enumerate(np.diff(starts)):
            for tag in self.tags[clip]:
                require_tag_inside(tag, self.names[clip], int(length))
            for deed in self.deeds[clip]:
                require_deed_inside(deed, self.names[clip], int(length))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Clip]:
        return (self.clip(index) for index in range(len(self)))

    def clip(self, index: int) -> Clip:
        """One of the clips."""
        frames, motion = self.frames_of(index), self.motion
        pos, quat = motion.local_pos[frames], motion.local_quat_wxyz[frames]
        return Clip(motion.skeleton, motion.fps, pos, quat, self.names[index], self.tags[index])

    def frames_of(self, index: int) -> slice:
        """Where a clip's frames are among all of them."""
        return slice(int(self.starts[index]), int(self.starts[index + 1]))

    def clip_of_frame(self) -> NDArray[np.int64]:
        """(F,) which clip a frame is of."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @property
    def mirrored(self) -> Flags:
        """(K,) whether a clip is the mirror image of another one."""
        return np.asarray(self.mirrors >= 0)

    @property
    def duration_s(self) -> float:
        """Seconds of all clips, each from its first frame to its last."""
        return float((np.diff(self.starts) - 1).sum() / self.motion.fps)

    def tag_names(self) -> tuple[str, ...]:
        """The names of all tags, in the order of the alphabet; those that are only proposed, too."""
        return tuple(sorted({tag.name for tags in self.tags for tag in tags}))

    def is_only_proposed(self, name: str) -> bool:
        """Whether nobody has given any frame this tag, so that Sinew's proposals stand for it."""
        return all(tag.is_proposal for tags in self.tags for tag in tags if tag.name == name)

    def find_frames(self, name: str) -> Flags:
        """(F,) which frames have a tag of this name. Proposals count only where nobody has given that tag."""
        mask, proposals = np.zeros(len(self.motion), dtype=bool), self.is_only_proposed(name)
        for start, tags in zip(self.starts, self.tags, strict=False):
            for tag in tags:
                if tag.name == name and (proposals or not tag.is_proposal):
                    mask[start + tag.start : start + tag.stop] = True
        return mask

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) as a job attaches it."""
        arrays, meta = clip_to_arrays(self.motion)
        arrays |= {name: np.asarray(getattr(self, name)) for name in _ARRAYS}
        clips = {
            "clips": list(self.names),
            "library_format": FORMAT,
            "feet": list(self.feet),
            "clip_tags": [[[tag.name, tag.start, tag.stop, tag.is_proposal] for tag in tags] for tags in self.tags],
            "clip_deeds": [deeds_to_rows(deeds) for deeds in self.deeds],
            "origins": [[origin.source, origin.digest, list(origin.notes)] for origin in self.origins],
        }
        return arrays, {**meta, **clips}


def require_tag_inside(tag: Tag, clip: str, frames: int) -> None:
    """Refuse a style tag that ends beyond its clip."""
    if tag.stop > frames:
        last = f"its last frame is {frames - 1}"
        raise BadMotion(f"Style tag '{tag.name}' goes to frame {tag.stop - 1} of '{clip}'", f"End it sooner: {last}")


def tag_frames(
    tags: Sequence[Tag], clip: str, frames: int, name: str, first: int, last: int, *, remove: bool = False
) -> tuple[Tag, ...]:
    """The tags of a clip of so many frames with a style for those from ``first`` to ``last``; or without it there.

    Ranges of the same name become one where they meet; proposals of that name make room.
    """
    require_tag_inside(Tag(name, first, last + 1), clip, frames)
    flags = np.zeros(frames, dtype=bool)
    for tag in tags:
        if tag.name == name and (remove or not tag.is_proposal):
            flags[tag.start : tag.stop] = True
    flags[first : last + 1] = not remove
    own = (Tag(name, start, stop) for start, stop in find_runs(flags))
    return (*own, *(tag for tag in tags if tag.name != name))


def make_library(clips: Sequence[Clip]) -> Library:
    """A library of clips that share one skeleton and one frame rate; others are refused by name."""
    if not clips:
        raise BadMotion("There are no clips for a library", "Choose at least one Action")
    first = clips[0]
    for clip in clips:
        if clip.skeleton.names != first.skeleton.names:
            raise BadMotion(f"'{clip.name}' has other bones than '{first.name}'", "Choose Actions of one armature")
        if clip.fps != first.fps:
            raise BadMotion(
                f"'{clip.name}' has {clip.fps:g} frames a second and '{first.name}' {first.fps:g}",
                "Bring them to one frame rate",
            )
    pos = freeze_array(np.concatenate([clip.local_pos for clip in clips]))
    quat = np.concatenate([clip.local_quat_wxyz for clip in clips])
    motion = Clip(first.skeleton, first.fps, pos, quat, LIBRARY)
    starts, names = np.cumsum([0, *map(len, clips)]), tuple(clip.name for clip in clips)
    return Library(motion, names, starts, tags=tuple(clip.tags for clip in clips))


def library_from_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Library:
    """The inverse of ``to_arrays``; what is no library is refused. One may be without tags and contacts."""
    version = meta.get("library_format", 0)
    if not isinstance(version, int) or version > FORMAT:
        raise BadFile(f"The library was written by a newer Sinew (format {version})", "Update Sinew")
    own = {name: array for name, array in arrays.items() if name not in _ARRAYS}
    motion = clip_from_arrays(own, dict(meta), is_library=True)
    names = meta.get("clips")
    if not isinstance(names, list):
        raise BadMotion("The library does not say where its clips are", _AGAIN)
    try:
        return Library(
            motion,
            tuple(str(name) for name in names),
            arrays.get("starts", np.zeros(0)),
            arrays.get("contacts", np.zeros((0, 0))),
            tuple(str(foot) for foot in meta.get("feet", ())),
            arrays.get("mirrors", np.zeros(0)),
            tuple(tuple(_tag(*words) for words in tags) for tags in meta.get("clip_tags", ())),
            tuple(ClipOrigin(str(s), str(d), tuple(map(str, notes))) for s, d, notes in meta.get("origins", ())),
            arrays.get("times_s", np.zeros(0)),
            _deeds(meta.get("clip_deeds", ()), names, arrays.get("starts", np.zeros(0))),
        )
    except (TypeError, ValueError, IndexError) as error:
        raise BadMotion(f"The library is not whole: {error}", _AGAIN) from error


def _deeds(rows: Any, names: list[Any], starts: np.ndarray) -> tuple[tuple[Deed, ...], ...]:
    """Deeds of each clip; none in what was written before there were any."""
    lengths = np.diff(starts)
    return tuple(
        deeds_from_rows(own, str(name), int(length))
        for own, name, length in zip(rows, names, lengths, strict=bool(rows))
    )


def _tag(name: Any, start: Any, stop: Any, is_proposal: Any = False) -> Tag:
    return Tag(str(name), int(start), int(stop), bool(is_proposal))
