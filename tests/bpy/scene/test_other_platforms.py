# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's side assumes of Windows and macOS: spellings of a file's name, consoles, and files that are open."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import bpy
import pytest

from sinew.bridge.jobs import ownership
from sinew.bridge.scene import muted_output
from sinew.bridge.scene.muted_output import mute_output
from sinew.bridge.scene.saving import save_blend
from sinew.core import files
from sinew.core.errors import CannotWrite


def test_a_file_is_the_open_one_however_its_name_is_spelt(scene, tmp_path):
    """Of a disk that does not tell capitals apart, another spelling is the same file; here a second name is."""
    path = tmp_path / "Shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    os.link(path, tmp_path / "SHOT.BLEND")
    assert ownership.is_open_file(str(tmp_path / "SHOT.BLEND"))
    (tmp_path / "other.blend").write_bytes(path.read_bytes())
    assert not ownership.is_open_file(str(tmp_path / "other.blend"))


def test_output_is_muted_where_the_process_has_none():
    """As of a Blender that was started without a console."""
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); os.close(1); os.close(2)\n"
        "from sinew_muted import mute_output\n"
        "with mute_output(errors=True):\n    pass\n"
        "open(sys.argv[2], 'w').write('went on')\n"
    )
    source = mute_output.__wrapped__.__code__.co_filename
    folder = os.path.dirname(source)
    with tempfile.TemporaryDirectory() as name:
        shutil.copy(source, os.path.join(name, "sinew_muted.py"))
        told = os.path.join(name, "told")
        subprocess.run([sys.executable, "-c", script, name, told], check=False, cwd=folder)
        with open(told, encoding="utf-8") as stream:
            assert stream.read() == "went on"


@pytest.mark.parametrize(("platform", "library"), [("win32", "ucrtbase"), ("linux", None), ("darwin", None)])
def test_what_c_keeps_back_is_let_go_of_by_its_own_library(monkeypatch, platform, library):
    asked, flushed = [], []

    def load(name):
        asked.append(name)
        return SimpleNamespace(fflush=flushed.append)

    monkeypatch.setattr(muted_output.ctypes, "CDLL", load)
    monkeypatch.setattr(muted_output.sys, "platform", platform)
    with mute_output():
        pass
    assert set(asked) == {library} and flushed == [None, None], "before and after"


def test_a_c_library_of_another_name_is_done_without(monkeypatch, capfd):
    def gone(name):
        raise OSError("Could not find module")

    monkeypatch.setattr(muted_output.ctypes, "CDLL", gone)
    with mute_output():
        print("nobody sees this")
    print("and this they do")
    assert capfd.readouterr().out == "and this they do\n"


def test_a_blend_that_is_open_elsewhere_keeps_its_content(scene, tmp_path, monkeypatch):
    path = tmp_path / "shot.blend"
    path.write_bytes(b"before")
    monkeypatch.setattr(files, "_WINDOWS", True)
    monkeypatch.setattr(files, "_PAUSES_S", (0.001,))
    refused = []

    def in_use(*_):
        refused.append(1)
        raise PermissionError(errno.EACCES, "in use")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", in_use)
        with pytest.raises(CannotWrite, match=r"shot\.blend"):
            save_blend(path)
    assert len(refused) == 2 and path.read_bytes() == b"before" and os.listdir(tmp_path) == ["shot.blend"]
    save_blend(path)
    assert path.read_bytes() != b"before"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp932"])
def test_titles_are_listed_on_consoles_of_any_encoding(root, tmp_path, encoding):
    script = (
        "import runpy, sys; runpy.run_path(sys.argv[1])['load_package']()\n"
        "from sinew.core import jobs; from sinew.core.motion.plain_walk import plain_walk\n"
        "jobs.create(plain_walk().frames(0, 4), method='passthrough', settings={}, title='歩く é 👣')\n"
        "from sinew.bridge.cli import lines; lines.prepare_streams()\n"
        "lines.say(jobs.all_jobs()[0].spec.title)\n"
    )
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "SINEW_JOBS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(root / "core" / "entry.py")],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and b"Traceback" not in done.stderr and done.stdout.strip()
