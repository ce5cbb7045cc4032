# SPDX-License-Identifier: GPL-3.0-or-later
"""``library add``: more files for a library."""

import argparse
import time

from ....core.control.tracking.library_files import LIBRARY_FILE
from ....core.motion.style_names import WAYS
from ...api.libraries import extend_library
from ...api.registering import registered
from ..job_arguments import add_where
from ..lines import indented, path_argument, say
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
    with registered():
        stored, added = extend_library(
            arguments.file, arguments.files, scale=arguments.scale, tags=arguments.tags, where=arguments.where
        )
    names = ", ".join(added)
    first = f"{arguments.file}: {names} added in {time.monotonic() - begun:.1f} s"
    say(*indented(first, LIBRARY_FILE.describe(stored)))
    return 0


VERB = Verb(_add_arguments, _run)
