# SPDX-License-Identifier: GPL-3.0-or-later
"""``library add``: more files for a library."""

import argparse
import time

from ....core.control.tracking.library_files import LIBRARY_FILE
from ....core.motion.style_names import WAYS
from ...library.assembling import add_to_library, open_library, write_library
from ...library.file_sources import find_motion_files, make_file_sources
from ..job_arguments import add_where
from ..lines import indented, path_argument, say
from ..registering import registered
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("file", type=path_argument, metavar=f"FILE{LIBRARY_FILE.ending}", help="the library")
    parser.add_argument("files", nargs="+", type=path_argument, metavar="FOLDER|FILE", help="what to add")
    parser.add_argument("--scale", type=float, metavar="S", help="metres a unit (default: as the library was built)")
    parser.add_argument("--tags", choices=WAYS, default="auto", help="as for 'library build'")
    add_where(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Prepare what is added, and write the library whole."""
    begun = time.monotonic()
    path = arguments.file.resolve()
    stored = open_library(path)
    scale = stored.scale if arguments.scale is None else arguments.scale
    with registered():
        given = {tag.name for clip in stored.clips for tag in clip.tags if not tag.is_proposal}
        sources = make_file_sources(find_motion_files(arguments.files), scale, arguments.tags, given)
        stored = add_to_library(stored, sources, where=arguments.where)
    write_library(path, stored)
    names = ", ".join(source.name for source in sources)
    first = f"{arguments.file}: {names} added in {time.monotonic() - begun:.1f} s"
    say(*indented(first, LIBRARY_FILE.describe(stored)))
    return 0


VERB = Verb(_add_arguments, _run)
