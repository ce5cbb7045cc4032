# SPDX-License-Identifier: GPL-3.0-or-later
"""``library show``: what is in a library."""

import argparse

from ....core.control.tracking.library_files import LIBRARY_FILE, summarize_library
from ....core.errors import BadSettings
from ....core.files import write_whole
from ....core.geometry.png import encode_png
from ....core.measure.library_picture import draw_library
from ...library.assembling import find_changed, open_library
from ...library.file_sources import digest_files
from ..lines import indented, path_argument, say, say_json
from ..verb import Verb

_MOST_NAMED = 5


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("file", type=path_argument, metavar=f"FILE{LIBRARY_FILE.ending}")
    parser.add_argument("--json", action="store_true", help="print JSON: clips, frames, seconds, tags and more")
    parser.add_argument(
        "--sources",
        action="append",
        default=[],
        type=path_argument,
        metavar="FOLDER",
        help="where else to look whether files that it was made of have changed; may be repeated",
    )
    parser.add_argument(
        "--picture", type=path_argument, metavar="FILE.png", help="draw speed against turning, coloured by style tag"
    )


def _run(arguments: argparse.Namespace) -> int:
    """Print a few lines, or JSON; draw what was asked for."""
    if arguments.picture and arguments.picture.suffix.lower() != ".png":
        raise BadSettings(f"'{arguments.picture}' has the wrong ending", "Give a file that ends in .png")
    path = arguments.file.resolve()
    stored = open_library(path)
    digests, unread = digest_files(stored, [path.parent, *arguments.sources])
    changed = find_changed(stored, digests)
    if arguments.picture:
        write_whole(arguments.picture.resolve(), encode_png(draw_library(stored.body, stored.library)))
    if arguments.json:
        say_json({**summarize_library(stored), "changed": changed, "unread": unread, "note": stored.note})
        return 0
    lines = [*LIBRARY_FILE.describe(stored), *_tag_lines(summarize_library(stored)["tags"])]
    if changed:
        lines.append(f"Changed since it was built: {', '.join(changed)}. Build it again, or add them again")
    if unread:
        more = f", and {len(unread) - _MOST_NAMED} more" if len(unread) > _MOST_NAMED else ""
        lines.append(f"Whether these have changed was not looked at: {'; '.join(unread[:_MOST_NAMED])}{more}")
        lines.append("What is beside the library or below is looked at, and what is in --sources FOLDER")
    say(*indented(str(arguments.file), lines))
    return 0


def _tag_lines(tags: dict[str, dict[str, float]]) -> list[str]:
    return [
        f"{name:<12} {one['seconds']:7.1f} s{'  proposed' if one['proposed'] else ''}" for name, one in tags.items()
    ]


VERB = Verb(_add_arguments, _run)
