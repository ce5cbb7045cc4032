# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages that come with the zip (``tools/site.py`` makes them of docs/), read in a browser without a network."""

from pathlib import Path

from ...core.paths import is_plain_file

_FOLDER = Path(__file__).resolve().parents[2] / "help"
PAGES = {
    "ACTION": "tutorial",
    "SKILLS": "graphs",
    "BOUNDS": "bounds_guide",
    "LIBRARY": "direct",
    "CUES": "respond",
    "ITSELF": "improvise",
}
"""The page about each thing that a character can do."""


def has_pages() -> bool:
    """Whether there are any; a checkout has them as Markdown alone. Cheap enough for ``draw`` and ``poll``."""
    return is_plain_file(_FOLDER / "index.html")


def page_address(page: str = "") -> str:
    """Where a page is, for a browser; '' for the first, and that as well where there is none of that name."""
    path = _FOLDER / f"{page or 'index'}.html"
    return (path if is_plain_file(path) else _FOLDER / "index.html").as_uri()
