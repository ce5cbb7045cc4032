# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes of the verbs about libraries: Actions are read in slices, and prepared on a thread one by one."""

import itertools
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.control.character import BodyChoices, build_plain_body
from ...core.control.tracking.library_building import (
    LIBRARY_FPS,
    LibrarySource,
    PreparedClip,
    digest_clip,
    digest_preparation,
    find_deeds,
    prepare_clip,
    prepare_clips,
)
from ...core.control.tracking.library_files import LIBRARY_FILE, StoredLibrary
from ...core.control.tracking.skeleton_matching import describe_skeleton_difference
from ...core.control.tracking.source_preparation import clean_source
from ...core.errors import BadFile, NotLearned
from ...core.measure.library_picture import draw_library
from ...core.motion import Clip
from ...core.motion.clip import Tag
from ...core.motion.deeds import Deed
from ...core.motion.style_names import find_name_styles
from ...core.paths import is_plain_file, real_path
from ..body.body_inputs import read_body_request
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.requests import Request, find_action, find_armature
from ..learned import paths
from ..learned.learned_file import learned_file
from ..rig.rig_reader import RigMotion
from ..scene.images import give_preview, image_of_pixels, show_image
from ..scene.time_slicing import Slices
from .action_deeds import place_action_deeds, propose_action_deeds
from .action_sources import SOURCE, digest_in_slices
from .action_tags import place_action_tags, propose_action_tags, tagged_action
from .assembling import is_trained_file, open_library, write_library
from .views import FAMILY


def build_recipe(armature: str, names: list[str], *, mirror: bool, scale: float) -> Recipe:
    """Make a library of these Actions of the armature; of one that it has already only what changed is prepared."""

    def steps(own: Preparation) -> Slices[Outcome]:
        own.title = armature
        obj = find_armature(armature)
        choices = read_body_request(obj).checked()
        path = learned_file(FAMILY).path_of(obj)
        before: StoredLibrary | None = yield lambda: _read_before(path)
        trained = yield lambda: path is not None and is_trained_file(path)
        clips, body, prepared = yield from _prepare_all(own, armature, names, scale, choices, before)
        stored = StoredLibrary(body, tuple(clips), mirror, scale)
        obj = find_armature(armature)
        place = _place_for(obj, path if before is not None and not trained else None)
        own.text = "Writing the library"
        yield lambda: write_library(place, stored)
        learned_file(FAMILY).refer(find_armature(armature), place)
        about, note = yield lambda: (LIBRARY_FILE.describe(stored)[0], stored.note)
        said = f"'{place.name}': {about}; {_describe_news(stored, before, prepared)}"
        return Outcome(said, (f"{said}. {note}",) if note else ())

    return steps


def _describe_news(stored: StoredLibrary, before: StoredLibrary | None, prepared: int) -> str:
    """What was done, in words: which clips had changed since, how many are new, how many are as they were."""
    old = {clip.origin.source: clip.origin.digest for clip in before.clips} if before is not None else {}
    changed = [
        clip.name for clip in stored.clips if old.get(clip.origin.source, clip.origin.digest) != clip.origin.digest
    ]
    news = [f"{prepared} prepared"]
    if changed:
        news.append(f"changed since: {', '.join(changed)}")
    if kept := len(stored.clips) - prepared:
        news.append(f"{kept} as they were")
    return "; ".join(news)


def _read_before(path: Path | None) -> StoredLibrary | None:
    """The library that the armature has, if it can be read."""
    if path is None or not is_plain_file(path):
        return None
    try:
        return open_library(path)
    except BadFile:
        return None  # it is made anew, elsewhere


def _prepare_all(
    own: Preparation,
    armature: str,
    names: Sequence[str],
    scale: float,
    choices: BodyChoices,
    before: StoredLibrary | None,
) -> Slices[tuple[list[PreparedClip], BodyModel, int]]:
    """The clips of all Actions, the body that they are for, and how many of them had to be prepared."""
    body = before.body if before is not None else None
    known = before.clips if before is not None else ()
    styles = find_name_styles(names)
    clips: list[PreparedClip] = []
    count = 0
    for number, name in enumerate(names):
        own.text = f"Looking at '{name}', {number + 1} of {len(names)}"
        digest = yield from digest_in_slices(armature, name, scale, own.slice_s)
        tags, fps = place_action_tags(find_armature(armature), find_action(name), styles[number]), _scene_fps()
        deeds = place_action_deeds(find_armature(armature), find_action(name), fps)
        full = digest_clip(digest, digest_preparation(body)) if body is not None else ""
        clip: Clip | None = None
        if not any(one.origin.digest == full for one in known):
            own.text = f"Reading '{name}', {number + 1} of {len(names)}"
            rig: RigMotion = yield from own.read(Request(armature, action=name, scale=scale))
            clip, count = rig.clip, count + 1
            if body is not None and describe_skeleton_difference(body.skeleton, clip.skeleton):
                # The armature is another one by now.
                return (yield from _prepare_all(own, armature, names, scale, choices, None))
            if body is None:
                body = yield (lambda first=clip: build_plain_body(clean_source(first)[0], choices))
        own.text = f"Preparing '{name}', {number + 1} of {len(names)}"
        source = LibrarySource(name, f"{SOURCE}{name}", digest, lambda read=clip: read, tags, fps, deeds=deeds)
        made = yield (lambda one=source, of=body: next(iter(prepare_clips(of, [one], known))))
        clips.append(made)
    assert body is not None
    return clips, body, count


def _scene_fps() -> float:
    render = bpy.context.scene.render
    return render.fps / render.fps_base


def _place_for(obj: bpy.types.Object, own: Path | None) -> Path:
    """Where the library goes: over the armature's own where that is beside the .blend, else to a name that is free.

    own: the armature's library, None where it has none that could be read, or a trained one, which stays as it is.
    """
    home = paths.folder(LIBRARY_FILE.folder)
    if own is not None and own.parent == real_path(home):
        return own
    stem = paths.file_stem(obj.name)
    names = (f"{stem}{f'-{number}' if number > 1 else ''}{LIBRARY_FILE.ending}" for number in itertools.count(1))
    return next(home / name for name in names if not os.path.lexists(home / name))


def propose_recipe(armature: str, scale: float) -> Recipe:
    """Mark what the Action does as proposals, in its pose markers."""

    def steps(own: Preparation) -> Slices[Outcome]:
        obj = find_armature(armature)
        action = tagged_action(obj)
        choices = read_body_request(obj).checked()
        name = action.name if action else ""
        rig: RigMotion = yield from own.read(Request(armature, action=name, scale=scale))
        given = _given_names(find_armature(armature), name)
        tags, deeds = yield lambda: _propose(rig.clip, choices, given)
        obj = find_armature(armature)
        step = rig.scene_fps / LIBRARY_FPS
        count = propose_action_tags(obj, tags, rig.frame_start, step)
        marked = propose_action_deeds(find_action(name), deeds, rig.frame_start, step)
        if not count and not marked:
            return Outcome(f"Nothing new to propose for '{name}'")
        styles = ", ".join(dict.fromkeys(tag.name for tag in tags))
        moments = f"; key moments of {', '.join(dict.fromkeys(marked))}: {len(marked)}" if marked else ""
        return Outcome(f"{count} ranges of '{name}' proposed: {styles}{moments}", undo_step="Propose Styles")

    return steps


def _given_names(obj: bpy.types.Object, name: str) -> tuple[Tag, ...]:
    """What the Action is said to be, in its frames: by its style tags, or else by its name."""
    tags = place_action_tags(obj, find_action(name), find_name_styles([name], "names")[0])
    return tuple(tag for tag in tags if not tag.is_proposal)


def _propose(clip: Clip, choices: BodyChoices, given: tuple[Tag, ...]) -> tuple[tuple[Tag, ...], tuple[Deed, ...]]:
    """Proposals for a clip, in frames of a library from the clip's beginning on. given: its own tags, in its frames."""
    body = build_plain_body(clean_source(clip)[0], choices)
    prepared = prepare_clip(body, replace(clip, tags=given))
    frames = np.rint(prepared.times_s * LIBRARY_FPS).astype(int)
    proposed = (tag for tag in prepared.tags if tag.is_proposal)
    tags = tuple(replace(tag, start=int(frames[tag.start]), stop=int(frames[tag.stop - 1]) + 1) for tag in proposed)
    deeds = tuple(
        replace(one, start=int(frames[one.start]), key=int(frames[one.key]), stop=int(frames[one.stop - 1]) + 1)
        for one in find_deeds(body, prepared)
    )
    return tags, deeds


def picture_recipe(armature: str) -> Recipe:
    """Draw the armature's library, for the panel and where pictures are shown."""

    def steps(own: Preparation) -> Slices[Outcome]:
        own.title, own.text = armature, "Drawing the library"
        path = learned_file(FAMILY).path_of(find_armature(armature))
        yield None
        if path is None:
            raise NotLearned(f"'{armature}' has no library yet", "Build one of its Actions")
        pixels = yield lambda: _draw(path)
        image = image_of_pixels(f"{armature} library", pixels)
        give_preview(image, pixels)
        shown = show_image(bpy.context, image)
        return Outcome(f"Picture '{image.name}': {'in the Image Editor' if shown else 'in the panel Library'}")

    return steps


def _draw(path: Path) -> np.ndarray:
    stored = open_library(path)
    return draw_library(stored.body, stored.library)
