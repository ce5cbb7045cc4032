# SPDX-License-Identifier: GPL-3.0-or-later
"""Is the environment whole? Asked at every launch, so it costs a few file reads and imports nothing heavy.

Standard library of Python 3.8, because it runs on whatever Python the user has.
"""

from __future__ import annotations

import os

# Blender version -> the environment's folder and its requirements.
VERSIONS = {
    "4.5": (".venv", "requirements/blender-4.5.txt"),
    "5.0": (".venv-5.0", "requirements/blender-5.0.txt"),
}
DEFAULT = "4.5"
PYTHON = (3, 11)
"""The Python that the bpy wheels are built for."""

_FORMAT = "sinew environment 1"


class Failure(Exception):
    """What stopped the launcher, in one line for the user."""


class Environment:
    """One virtual environment beside the launcher, and the marker that says it was finished."""

    def __init__(self, root: str, blender: str) -> None:
        name, requirements = VERSIONS[blender]
        self.name = name
        self.blender = blender
        self.folder = os.path.join(root, name)
        self.requirements = os.path.join(root, *requirements.split("/"))
        self.marker = os.path.join(self.folder, "sinew-environment.txt")
        if os.name == "nt":
            self.python = os.path.join(self.folder, "Scripts", "python.exe")
            self.packages = os.path.join(self.folder, "Lib", "site-packages")
        else:
            self.python = os.path.join(self.folder, "bin", "python")
            self.packages = os.path.join(self.folder, "lib", "python%d.%d" % PYTHON, "site-packages")

    def flaw(self) -> str:
        """Why the environment cannot be used as it is, or '' if it is whole."""
        if not os.path.isdir(self.folder) or os.listdir(self.folder) in ([], [LOCK]):
            return "first use"
        marker = self.read_marker()
        if marker[:1] != [_FORMAT]:
            return "it was not finished"
        # access() follows the link, so a Python that was uninstalled is seen here.
        if not os.access(self.python, os.X_OK):
            return "its Python is gone"
        if "python " + self._python_version() not in marker:
            return "its Python has changed"
        if _after("requires ", marker) != required(self.requirements):
            return "the requirements have changed"
        present = set(self.installed())
        missing = [name for name in _after("holds ", marker) if name not in present]
        if missing:
            return "%s is missing" % missing[0]
        return ""

    def imports(self) -> bool:
        """Whether bpy was once imported here; it may still want libraries of the system."""
        return "imports bpy" in self.read_marker()

    def read_marker(self) -> list[str]:
        """The marker's lines, or [] where there is none."""
        try:
            with open(self.marker, encoding="utf-8") as stream:
                return stream.read().splitlines()
        except (OSError, UnicodeDecodeError):
            return []

    def write_marker(self, imports: bool) -> None:
        """Say that the environment is finished. Written last, and whole or not at all."""
        lines = [_FORMAT, "python " + self._python_version()]
        lines += ["requires " + line for line in required(self.requirements)]
        lines += ["holds " + name for name in self.installed()]
        lines += ["imports bpy"] if imports else []
        with open(self.marker + ".part", "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(self.marker + ".part", self.marker)

    def installed(self) -> list[str]:
        """What lies in site-packages: packages and their dist-info folders, sorted."""
        try:
            return sorted(name for name in os.listdir(self.packages) if name != "__pycache__")
        except OSError:
            return []

    def _python_version(self) -> str:
        """The version that the environment was made with, from its pyvenv.cfg."""
        try:
            with open(os.path.join(self.folder, "pyvenv.cfg"), encoding="utf-8") as stream:
                for line in stream:
                    key, _, value = line.partition("=")
                    if key.strip() == "version":
                        return value.strip()
        except (OSError, UnicodeDecodeError):
            pass
        return "unknown"


LOCK = "sinew-environment.lock"


def required(path: str) -> list[str]:
    """The requirements of a file and of those it refers to by ``-r``, without comments."""
    lines = []
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            text = line.partition("#")[0].strip()
            if text.startswith("-r "):
                lines += required(os.path.join(os.path.dirname(path), text[3:].strip()))
            elif text:
                lines.append(text)
    return lines


def _after(prefix: str, lines: list[str]) -> list[str]:
    return [line[len(prefix) :] for line in lines if line.startswith(prefix)]
