# SPDX-License-Identifier: GPL-3.0-or-later
"""What a farm is asked for: takes of a scene, one .blend with all of them, and rendered frames."""

import re
import unicodedata
from dataclasses import dataclass

from ...errors import BadSettings
from ...limits import LARGEST_SEED
from ...texts import one_line

MOST_TAKES = 1000
LAST_FRAME = 1_048_574
"""The last frame that Blender knows."""
MOST_FRAMES = 10_000
SCENE_NAME = "scene.blend"
"""The scene as it was when it was exported, beside the template: who goes on working changes no task."""
RESULTS_NAME = "results"
"""The folder, beside the template unless a farm is told otherwise, for all that tasks write."""

_LONGEST_TEXT = 1024  # of a parameter in an Open Job Description
_LONGEST_TITLE = 80
_MOST_OPTIONS = 36  # such a template has at most 50 parameters
_RANGE = re.compile(r"\s*(\d{1,7})\s*(?:-\s*(\d{1,7})\s*)?")


@dataclass(frozen=True)
class FarmOption:
    """An option of ``simulate`` in an order. key: what a farm calls it, ``set_2`` for the second ``--set``."""

    key: str
    name: str
    value: str


@dataclass(frozen=True)
class FarmOrder:
    """Takes to be made of a scene, and what is to be made of them.

    options: (name, value) of ``simulate``'s options without dashes, the seed and the number of takes left out.
    scene, results: where the nodes see scene and results; only formats that know no relative paths read them.
    frames: to be rendered of every take, in order; none for no rendering.
    blender: the program on the nodes, '' for what the format has for it. addon: the module of Sinew that Blender is
        told to enable, '' where it is enabled already.
    """

    title: str
    takes: int
    seed: int = 0
    options: tuple[tuple[str, str], ...] = ()
    frames: tuple[int, ...] = ()
    blender: str = ""
    addon: str = ""
    scene: str = SCENE_NAME
    results: str = RESULTS_NAME

    def __post_init__(self) -> None:
        if not 1 <= self.takes <= MOST_TAKES:
            raise BadSettings(f"{self.takes} takes are asked for", f"Give a number from 1 to {MOST_TAKES}: --takes 20")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise BadSettings(f"The seed is {self.seed}", f"Give a whole number from 0 to {LARGEST_SEED}")
        if len(self.options) > _MOST_OPTIONS:
            raise BadSettings(
                f"There are {len(self.options)} options, and a farm takes {_MOST_OPTIONS}",
                "Set what all takes share in the scene's panels",
            )
        for name, value in (*self.options, ("blender", self.blender), ("addon", self.addon)):
            _require_plain(name, value)

    @property
    def numbered_options(self) -> tuple[FarmOption, ...]:
        """The options, each with a key that no other one has."""
        names = [name for name, _ in self.options]
        found = []
        for place, (name, value) in enumerate(self.options):
            several = names.count(name) > 1
            key = f"{name}_{names[: place + 1].count(name)}" if several else name
            found.append(FarmOption(key, name, value))
        return tuple(found)

    @property
    def short_title(self) -> str:
        """The title on one line that is not too long for any farm."""
        return one_line(self.title, _LONGEST_TITLE)


def parse_frame_list(text: str) -> tuple[int, ...]:
    """Frames from a text such as '1-120' or '1,50,100-110': each once, in order."""
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last <= LAST_FRAME:
            raise BadSettings(
                f"'{text}' is no list of frames", f"Write frames from 0 to {LAST_FRAME}, such as 1-120 or 1,50,100-110"
            )
        if len(found) + last - first >= MOST_FRAMES:
            raise BadSettings(f"'{text}' has too many frames", f"Render at most {MOST_FRAMES} of a take")
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def write_frame_list(frames: tuple[int, ...]) -> str:
    """Frames in order as a text, with a dash where they follow each other."""
    runs: list[list[int]] = []
    for frame in frames:
        if runs and frame == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], frame]
        else:
            runs.append([frame])
    return ",".join("-".join(map(str, run)) for run in runs)


def _require_plain(name: str, value: str) -> None:
    """Refuse what a farm would refuse later, without a word of which name it was."""
    odd = [letter for letter in value if unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\r\n"]
    if odd:
        raise BadSettings(
            f"'{value}' has the character {odd[0]!r}, which no farm takes for --{name}", "Give it another name"
        )
    if len(value) > _LONGEST_TEXT:
        raise BadSettings(
            f"What --{name} says has {len(value)} characters", f"A farm takes at most {_LONGEST_TEXT}: say less"
        )
