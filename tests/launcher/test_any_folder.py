# SPDX-License-Identifier: GPL-3.0-or-later
"""A clone works in a folder of any name: dashes, spaces, letters beyond ASCII, and what a shell would take apart."""

import os
import re
import shutil
import subprocess

import pytest

NAME = "sinew-main  Ü (2) 名 'x' $HOME"
ROOMS = ("bench", "bridge", "core", "docs", "operators", "panels", "presets", "requirements", "tools")
FILES = ("__init__.py", "sinew", "pyproject.toml", "blender_manifest.toml", "LICENSE")


@pytest.fixture(scope="module")
def clone(root, tmp_path_factory):
    """A copy of what the project is, with the environment of this one."""
    if os.name == "nt" or not (root / ".venv").exists():
        pytest.skip("needs the launcher's own environment, and a link to it")
    home = tmp_path_factory.mktemp("clones") / NAME
    home.mkdir()
    for room in ROOMS:
        shutil.copytree(root / room, home / room, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        shutil.copy(root / file, home / file)
    (home / ".venv").symlink_to((root / ".venv").resolve(), target_is_directory=True)
    return home


def sinew(clone, *words, cwd=None):
    """What the launcher of the clone does, from another folder."""
    command = [str(clone / "sinew"), *words]
    return subprocess.run(command, cwd=cwd or clone.parent, capture_output=True, text=True, check=False, timeout=200)


def test_it_is_clean_for_the_linter(clone):
    done = sinew(clone, "test", "--only", "lint")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_motion_is_simulated_and_its_take_listed(clone, tmp_path):
    out = tmp_path / "ein Blatt-Ü.blend"
    words = ("simulate", "walk", "--method", "sampling", "--frames", "1:8", "--set", "quality=draft", "--out", str(out))
    done = sinew(clone, *words)
    assert done.returncode == 0 and out.is_file(), done.stdout + done.stderr
    done = sinew(clone, "takes", str(out))
    assert done.returncode == 0 and "walk" in done.stdout, done.stdout + done.stderr


def test_a_zip_is_built(clone):
    done = sinew(clone, "build", "--no-wheels")
    assert done.returncode == 0, done.stdout + done.stderr
    assert list((clone / "dist").glob("*.zip"))


@pytest.mark.parametrize("verb", ["test", "bench", "fuzz", "graph"])
def test_every_verb_explains_itself(clone, verb):
    done = sinew(clone, verb, "--help")
    assert done.returncode == 0 and "usage" in done.stdout and "Traceback" not in done.stderr


def test_our_own_modules_have_names_that_can_be_imported(root):
    """What the linter would see to, if it did not look at the folder of the clone as well."""
    paths = [path for room in ROOMS if room != "presets" for path in (root / room).rglob("*.py")]
    parts = {part for path in paths for part in path.relative_to(root).with_suffix("").parts}
    assert paths and {part for part in parts if not re.fullmatch(r"[a-z_][a-z0-9_]*", part)} == set()
