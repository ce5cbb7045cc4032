# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages beside a Python: found by the version they were made for, and only by that one."""

import os
import subprocess
import sys

import pytest

WORDS = "import runpy, sys; runpy.run_path(sys.argv[1])['load_package'](); import sinew_beside; print(sinew_beside.x)"


def beside(root, folder, monkeypatch):
    """What a Python says that is told of a package in ``folder``."""
    folder.mkdir(parents=True)
    (folder / "sinew_beside.py").write_text("x = 'found'\n")
    # Whatever a Python has itself comes first: this must not shadow it.
    (folder / "json.py").write_text("raise RuntimeError('shadowed')\n")
    monkeypatch.setenv("SINEW_PACKAGES", os.pathsep.join(["/nowhere", str(folder)]))
    command = [sys.executable, "-c", WORDS, str(root / "core" / "entry.py")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_packages_for_this_python_are_found(root, tmp_path, monkeypatch):
    folder = tmp_path / "python{}.{}".format(*sys.version_info[:2]) / "site-packages"
    assert beside(root, folder, monkeypatch).stdout == "found\n"


@pytest.mark.parametrize("version", ["3.7", "{}.{}1".format(*sys.version_info[:2])])
def test_packages_for_another_python_are_not(root, tmp_path, monkeypatch, version):
    done = beside(root, tmp_path / f"python{version}" / "site-packages", monkeypatch)
    assert "No module named 'sinew_beside'" in done.stderr
