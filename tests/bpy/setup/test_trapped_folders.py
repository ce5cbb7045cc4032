# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender works in a folder full of traps, and no Python that Sinew starts from it steps into one."""

import os
import time

import bpy
import pytest

from sinew.bridge.setup import installing, packages, preferences, readiness
from trapped_folder import TrappedFolder


@pytest.fixture
def trap(addon, tmp_path, monkeypatch):
    """Where this Blender works, with a .blend of the folder open."""
    trapped = TrappedFolder(tmp_path / "shot")
    bpy.ops.wm.save_as_mainfile(filepath=str(trapped.folder / "shot.blend"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(trapped.folder)]))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(trapped.folder)
    return trapped


def wait_for(poll):
    stop = time.monotonic() + 60.0
    while poll() is not None:
        assert time.monotonic() < stop
        time.sleep(0.02)


def test_asking_what_is_ready_is_not_caught(trap):
    readiness.check_readiness()
    wait_for(readiness.poll_readiness)
    assert readiness.current_readiness().simulates and trap.sprung == []


def test_an_installation_is_not_caught(trap, tmp_path, monkeypatch):
    (tmp_path / "shelf").mkdir()
    monkeypatch.setenv("SINEW_WHEELS", str(tmp_path / "shelf"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(trap.folder))
    installing.start_installation(("cma",), readiness.sys.executable)
    wait_for(installing.poll_installation)
    assert "no cma==" in installing.current_installation().doing and trap.sprung == []


def test_packages_beside_the_jobs_of_a_file_are_not_code(trap, monkeypatch):
    """A folder of jobs may lie with the file or belong to many; what lies beside it is not ours."""
    monkeypatch.setenv("SINEW_JOBS", str(trap.folder / "jobs"))
    planted = packages.site_of(trap.folder / "packages")
    trap.lay(planted)
    assert str(planted) not in [str(folder) for folder in packages.package_folders()]


def test_a_python_that_hangs_on_the_open_file_is_not_used(trap, monkeypatch):
    class Old:
        worker_python = "//python"

    monkeypatch.setattr(preferences, "_own", Old)
    (trap.folder / "python").write_text("#!/bin/sh\n")
    (trap.folder / "python").chmod(0o755)
    assert preferences.preferred_python() != str(trap.folder / "python")
