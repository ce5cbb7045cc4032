# SPDX-License-Identifier: GPL-3.0-or-later
"""The tutorials of CONTRIBUTING.md, followed in a copy of the project.

What a fenced block is stands on its first line: ``python PATH`` is a new file, ``diff PATH`` adds lines to one,
``python in PATH`` is an excerpt, with ``...`` where something is left out, and ``sh`` has commands.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("__init__.py", "blender_manifest.toml", "pyproject.toml", "core", "bridge", "operators", "panels", "presets")
_BLOCK = re.compile(r"^( *)```(\w+)(?: (in )?([^\n]+))?\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block. kind: 'file', 'diff', 'excerpt' or 'sh'. path: what it is about, '' for commands."""

    kind: str
    path: str
    text: str


def blocks(page: str, heading: str) -> list[Block]:
    """The blocks below a heading, in their order."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert section, f"there is no '## {heading}'"
    found = []
    for _, language, within, path, text in _BLOCK.findall(section[1]):
        kind = {"python": "excerpt" if within else "file"}.get(language, language)
        assert kind in ("file", "diff", "excerpt", "sh"), f"nobody knows what to do with a block of {language}"
        found.append(Block(kind, path, textwrap.dedent(text)))
    return found


def has_excerpt(text: str, source: str) -> bool:
    """Whether a source has the pieces of an excerpt, each as whole lines and in that order."""
    place = 0
    for piece in re.split(r"^\.\.\.\n", text, flags=re.MULTILINE):
        # Its indentation in the source is the excerpt's own, or that of the block that it was taken from.
        places = [
            found.start()
            for indent in ("", "    ", "        ", "            ")
            if (found := re.compile(re.escape(textwrap.indent(piece, indent))).search(source, place))
        ]
        if not places:
            return False
        place = min(places)
    return True


def add_lines(text: str, source: str) -> str:
    """The source with the lines of a diff that begin with '+', after those that begin with a blank."""
    lines = text.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line.startswith(" "))
    assert source.count(before) == 1, f"these lines are not there, or not once:\n{before}"
    return source.replace(before, before + "".join(line[1:] for line in lines if line.startswith("+")))


class Checkout:
    """A copy of the project, in which a tutorial is followed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "out").mkdir(parents=True)
        unwanted = shutil.ignore_patterns("__pycache__", "data")
        for part in (*PARTS, "tests"):
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=unwanted)
            else:
                shutil.copy(source, folder / part)
        self.written: list[str] = []

    def follow(self, block: Block) -> None:
        """Write, add or compare what a block has; commands are for ``run``."""
        path = self.folder / block.path
        if block.kind == "file":
            assert not path.exists(), f"{block.path} is there already"
            path.write_text(block.text, encoding="utf-8")
            self.written.append(block.path)
        elif block.kind == "diff":
            path.write_text(add_lines(block.text, path.read_text(encoding="utf-8")), encoding="utf-8")
            self.written.append(block.path)
        elif block.kind == "excerpt":
            assert has_excerpt(block.text, path.read_text(encoding="utf-8")), f"{block.path} has no such lines any more"

    def run(self, command: str) -> None:
        """Run a command of the tutorial with this Python; one that fails shows what it said."""
        known = {".venv/bin/python": [sys.executable], "./sinew": [sys.executable, "bridge/cli/__main__.py"]}
        program, *words = shlex.split(command)
        # A test within a test is a session of its own.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        done = subprocess.run(
            [*known[program], *words], cwd=self.folder, capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def commands(found: list[Block], program: str) -> list[str]:
    """The commands of these blocks that are of this program."""
    lines = [line for block in found if block.kind == "sh" for line in block.text.splitlines()]
    return [line for line in lines if line.startswith(f"{program} ")]
