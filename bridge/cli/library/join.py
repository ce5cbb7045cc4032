# SPDX-License-Identifier: GPL-3.0-or-later
"""``library join``: ways from clip to clip, where none lead there by themselves."""

import argparse

from ....core.control.graph.transitions.library_joining import JOIN_WITHIN_M, join_library
from ....core.control.tracking.library_files import LIBRARY_FILE
from ...library.assembling import open_library, write_library
from ..lines import indented, path_argument, say
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar=f"FILE{LIBRARY_FILE.ending}", help="the library")
    add("--out", type=path_argument, metavar=f"FILE{LIBRARY_FILE.ending}", help="where to (default: the same file)")
    add(
        "--within",
        type=float,
        default=JOIN_WITHIN_M,
        metavar="M",
        help=f"metres between moments that may be joined (default {JOIN_WITHIN_M:g}); more joins more, and less well",
    )


def _run(arguments: argparse.Namespace) -> int:
    """Join, and write the library whole."""
    found = join_library(open_library(arguments.file.resolve()), arguments.within)
    out = arguments.out or arguments.file
    write_library(out.resolve(), found.stored)
    ways = "1 way" if len(found.joins) == 1 else f"{len(found.joins)} ways"
    names = [clip.name for clip in found.stored.clips[-len(found.joins) :]]
    say(*indented(f"{out}: {ways} from clip to clip, over {found.widest_m:.2f} m at most", names))
    return 0


VERB = Verb(_add_arguments, _run)
