# SPDX-License-Identifier: GPL-3.0-or-later
"""``library build``: a folder or files become a library."""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ....core.control.tracking.library_building import LibrarySource
from ....core.control.tracking.library_files import LIBRARY_FILE, StoredLibrary
from ....core.errors import BadSettings, SinewError
from ....core.motion.style_names import WAYS
from ....core.paths import is_plain_file
from ...library.assembling import assemble, make_library_body, open_library, require_untrained, write_library
from ...library.file_sources import find_motion_files, make_file_sources
from ...scene import saving
from ..job_arguments import add_where
from ..lines import indented, path_argument, say, say_aside
from ..progress import ProgressLine
from ..registering import registered
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
    require_library_name(arguments.out)
    require_untrained(arguments.out.resolve())
    if not arguments.scale > 0.0:
        raise BadSettings(f"The scale is {arguments.scale}", "Give metres a unit above zero, such as --scale 0.01")
    with registered():
        sources = make_file_sources(find_motion_files(arguments.files), arguments.scale, arguments.tags)
        before = _read_before(arguments)
        body = before.body if before else make_library_body(_find_onto(arguments) or sources)
        clips = assemble(
            body, sources, before.clips if before else (), progress_of(sources), skip_source, arguments.where
        )
    stored = StoredLibrary(body, tuple(clips), arguments.mirror, arguments.scale)
    write_library(arguments.out.resolve(), stored)
    first = f"{arguments.out}: built in {time.monotonic() - begun:.1f} s"
    say(*indented(first, LIBRARY_FILE.describe(stored)))
    return 0


def _find_onto(arguments: argparse.Namespace) -> list[LibrarySource]:
    """Whose skeleton it is to be; none for that of the files."""
    if arguments.onto is None:
        return []
    scale = arguments.onto_scale
    if scale is None:
        scale = arguments.scale if arguments.onto.suffix.lower() == ".bvh" else 1.0
    return make_file_sources(find_motion_files([arguments.onto]), scale)


def _read_before(arguments: argparse.Namespace) -> StoredLibrary | None:
    """The library that is there already, if what it was made with is what is asked for now."""
    if not is_plain_file(arguments.out):
        return None
    before = open_library(arguments.out.resolve())  # what is no library is not written over
    same = before.scale == arguments.scale and arguments.onto is None
    return before if same else None


def require_library_name(path: Path) -> None:
    """Find out at once that a library could not be written."""
    if not path.name.endswith(".npz"):
        raise BadSettings(f"'{path}' has the wrong ending", f"Give a file that ends in {LIBRARY_FILE.ending}")
    saving.require_writable_folder(path.resolve().parent)


def progress_of(sources: list[LibrarySource]) -> Callable[[int, str], None]:
    """Shows how many of the sources are prepared."""
    line = ProgressLine(sys.stderr)

    def show(done: int, name: str) -> None:
        step = max(len(sources) // 10, 1)
        if sys.stderr.isatty() or done % step == 0:
            line.say(f"{100 * done // len(sources):3d} %: {name}")
        if done == len(sources):
            line.end()

    return show


def skip_source(name: str, error: SinewError) -> None:
    """Say which file is not in the library, and why."""
    say_aside(f"'{name}' is left out: {error}")


VERB = Verb(_add_arguments, _run)
