# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew build``: a zip that Blender accepts, with the extension in it and nothing else."""

import subprocess
import sys
import zipfile

import pytest


@pytest.fixture(scope="module")
def built(root, tmp_path_factory):
    """Two zips of the same sources."""
    folder = tmp_path_factory.mktemp("build")
    paths = [folder / "first.zip", folder / "second.zip"]
    for path in paths:
        command = [sys.executable, str(root / "tools" / "build.py"), "--out", str(path)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return paths


def test_only_the_extension_is_in_it(built):
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
    assert {"__init__.py", "blender_manifest.toml", "LICENSE", "core/entry.py", "bridge/cli/__main__.py"} <= set(names)
    shipped = {"__init__.py", "blender_manifest.toml", "LICENSE", "README.md"}
    rooms = {"bridge", "core", "operators", "panels", "presets"}
    assert {name.split("/")[0] for name in names} <= shipped | rooms
    assert [name for name in names if "__pycache__" in name or name.endswith((".pyc", "ruff.toml"))] == []


def test_every_module_is_in_it(built, root):
    with zipfile.ZipFile(built[0]) as archive:
        names = set(archive.namelist())
    rooms = [path for room in ("bridge", "core", "operators", "panels") for path in (root / room).rglob("*.py")]
    data = [path for path in (root / "presets").rglob("*") if path.suffix in (".json", ".py")]
    assert {path.parent.name for path in data} == {"bodies", "gains", "body"}
    assert {path.relative_to(root).as_posix() for path in rooms + data} <= names


def test_the_same_sources_give_the_same_bytes(built):
    assert built[0].read_bytes() == built[1].read_bytes()


def test_a_folder_that_cannot_be_written_is_named(root, tmp_path):
    (tmp_path / "file").write_text("")
    command = [sys.executable, str(root / "tools" / "build.py"), "--out", str(tmp_path / "file" / "x.zip")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert str(tmp_path / "file") in done.stderr
