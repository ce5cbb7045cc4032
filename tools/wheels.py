# SPDX-License-Identifier: GPL-3.0-or-later
"""The wheels that go into the extension's zip, so that simulating needs no download.

``requirements/wheels.txt`` names each by its hash. They are kept in ``dist/wheels``, a folder for each platform and
Python, and fetched again only where one is missing or is not what it should be.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PINS = os.path.join(ROOT, "requirements", "wheels.txt")
CACHE = os.path.join(ROOT, "dist", "wheels")

# Blender's name of a platform -> what wheels for it may be called. MuJoCo has none for Macs with Intel's processors.
PLATFORMS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_14_0_arm64",),
}
# Blender 4.5 and 5.0 run on the first, Blender 5.1 and later on the second.
PYTHONS = ("3.11", "3.13")
# What besides: the Blender that Linux distributions build for their own Python.
MORE_PYTHONS = {"linux-x64": ("3.14",)}


class MissingWheel(Exception):
    """A wheel that cannot be had, in one line for the user."""


def bundle(platform: str, pythons: tuple[str, ...] = (), cache: str = CACHE) -> list[str]:
    """The paths of all wheels for a platform, each file name once, fetched where the cache has none.

    pythons: for which, none for all that the platform's Blenders run on.
    """
    found: dict[str, str] = {}
    for python in pythons or pythons_for(platform):
        folder = os.path.join(cache, "%s-%s" % (platform, python))
        if not _is_whole(folder):
            _fetch(folder, platform, python)
        found.update({os.path.basename(path): path for path in _wheels(folder)})
    return [found[name] for name in sorted(found)]


def pythons_for(platform: str) -> tuple[str, ...]:
    """The Pythons that Blenders for this platform run on."""
    return PYTHONS + MORE_PYTHONS.get(platform, ())


def pins() -> dict[str, set[str]]:
    """The hashes that each package's wheels may have, by its name as files spell it."""
    with open(PINS, encoding="utf-8") as stream:
        text = re.sub(r"#.*", "", stream.read()).replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line.strip()]
    return {
        words[0].partition("==")[0].replace("-", "_"): {word.rpartition(":")[2] for word in words[1:]}
        for words in lines
    }


def _is_whole(folder: str) -> bool:
    """Whether the folder holds one wheel of every pinned package, and nothing that was not pinned."""
    wanted = pins()
    seen = [os.path.basename(path).partition("-")[0] for path in _wheels(folder)]
    return sorted(seen) == sorted(wanted) and all(
        _digest(path) in wanted[name] for path, name in zip(_wheels(folder), seen)
    )


def _fetch(folder: str, platform: str, python: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "-r", PINS, "--dest", folder, "--python-version", python]
    for tag in PLATFORMS[platform]:
        command += ["--platform", tag]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not _is_whole(folder):
        errors = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("ERROR")]
        said = errors[-1] if errors else "pip ended with exit code %d" % done.returncode
        raise MissingWheel("the wheels for %s with Python %s cannot be fetched: %s" % (platform, python, said))


def _wheels(folder: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.whl")))


def _digest(path: str) -> str:
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()
