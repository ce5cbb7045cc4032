# SPDX-License-Identifier: GPL-3.0-or-later
"""The session of tools/session without the clicking: from the zip to disabling it, over a quit with a job running."""

import subprocess
import sys

import pytest


@pytest.fixture
def desk(root, tmp_path, monkeypatch):
    """A Blender of its own, as a module, with an empty user folder and the small zip; workers use this Python."""
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setenv("SINEW_PYTHON", sys.executable)
    from tools.session.desk import Desk

    archive = tmp_path / "sinew.zip"
    build = [sys.executable, str(root / "tools" / "build.py"), "--no-wheels", "--out", str(archive)]
    subprocess.run(build, check=True, capture_output=True)
    made = Desk([sys.executable], str(tmp_path / "session"), str(archive), light=True)
    yield made
    made.close()


def test_the_whole_session_without_the_clicking(desk):
    from tools.session import steps
    from tools.session.console import complaints

    desk.start()
    for step in steps.STEPS:
        step(desk)
    assert complaints(desk.log, desk.expected) == []
