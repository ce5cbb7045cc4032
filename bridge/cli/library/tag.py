# SPDX-License-Identifier: GPL-3.0-or-later
"""``library tag``: a style for frames of a clip."""

import argparse
from dataclasses import replace

from ....core.control.tracking.library_building import find_deeds
from ....core.control.tracking.library_files import LIBRARY_FILE
from ....core.motion.library import tag_frames
from ...library.assembling import open_library, write_library
from ..lines import path_argument, say
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar=f"FILE{LIBRARY_FILE.ending}", help="the library")
    add("clip", metavar="CLIP", help="the name of the clip, as 'library show --json' has it")
    add("name", metavar="NAME", help="the style")
    add("first", type=int, metavar="FIRST", help="its first frame, from 0, of 60 a second")
    add("last", type=int, metavar="LAST", help="its last frame")
    add("--remove", action="store_true", help="take the tag off these frames instead")


def _run(arguments: argparse.Namespace) -> int:
    """Tag the frames, and write the library whole."""
    path = arguments.file.resolve()
    stored, span = open_library(path), (arguments.first, arguments.last)
    index = stored.find_clip(arguments.clip)
    clip = stored.clips[index]
    tags = tag_frames(clip.tags, clip.name, len(clip), arguments.name, *span, remove=arguments.remove)
    clip = replace(clip, tags=tags)
    clip = replace(clip, deeds=find_deeds(stored.body, clip))  # proposals have the names of style tags
    clips = (*stored.clips[:index], clip, *stored.clips[index + 1 :])
    write_library(path, replace(stored, clips=clips))
    what = "are no longer" if arguments.remove else "are"
    say(f"{arguments.file}: frames {span[0]} to {span[1]} of '{arguments.clip}' {what} '{arguments.name}'")
    return 0


VERB = Verb(_add_arguments, _run)
