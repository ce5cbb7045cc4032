# SPDX-License-Identifier: GPL-3.0-or-later
"""``library build``: a folder or files become a library."""

import argparse
import sys
import time

from ....core.control.tracking.library_files import LIBRARY_FILE
from ....core.errors import SinewError
from ....core.motion.style_names import WAYS
from ...api.libraries import Shown, build_library
from ...api.registering import registered
from ..job_arguments import add_where
from ..lines import indented, path_argument, say, say_aside
from ..progress import ProgressLine
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("files", nargs="+", type=path_argument, metavar="FOLDER|FILE", help="motion files, or folders of them")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the files (default 1)")
    add("--out", type=path_argument, required=True, metavar=f"FILE{LIBRARY_FILE.ending}", help="the library to write")
    add(
        "--mirror",
        action="store_true",
        default=True,
        help="have every clip mirrored, too, left for right (the default)",
    )
    add("--no-mirror", dest="mirror", action="store_false", help="without mirrored copies")
    add(
        "--onto",
        type=path_argument,
        metavar="FILE",
        help="whose skeleton the clips are brought onto (default: the first's)",
    )
    add(
        "--onto-scale",
        type=float,
        metavar="S",
        help="metres a unit of that file (default: as of the files for a .bvh, else 1)",
    )
    add(
        "--tags",
        choices=WAYS,
        default="auto",
        help="whether the word before the first underscore of a file's name is a style tag: where two files have it "
        "(auto), always (names) or never (none)",
    )
    add_where(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Prepare what is new, write the library whole, and say what is in it."""
    begun = time.monotonic()
    with registered():
        stored = build_library(
            arguments.files,
            arguments.out,
            scale=arguments.scale,
            mirror=arguments.mirror,
            onto=arguments.onto,
            onto_scale=arguments.onto_scale,
            tags=arguments.tags,
            where=arguments.where,
            progress=show_progress(),
            skipped=skip_source,
        )
    first = f"{arguments.out}: built in {time.monotonic() - begun:.1f} s"
    say(*indented(first, LIBRARY_FILE.describe(stored)))
    return 0


def show_progress() -> Shown:
    """Shows how many of the sources are prepared."""
    line = ProgressLine(sys.stderr)

    def show(done: int, total: int, name: str) -> None:
        if sys.stderr.isatty() or done % max(total // 10, 1) == 0:
            line.say(f"{100 * done // total:3d} %: {name}")
        if done == total:
            line.end()

    return show


def skip_source(name: str, error: SinewError) -> None:
    """Say which file is not in the library, and why."""
    say_aside(f"'{name}' is left out: {error}")


VERB = Verb(_add_arguments, _run)
