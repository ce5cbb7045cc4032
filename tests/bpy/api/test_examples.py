# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python API: what docs/python.md shows runs as it stands, and the page says what the docstrings say."""

import re
from pathlib import Path

import bpy
import pytest

import sinew
from deed_clips import make_deeds
from sinew import api
from sinew.core.control.tracking.library_files import LIBRARY_FILE, store_library
from sinew.core.motion.io.npz import save_clip
from sinew.core.motion.plain_walk import plain_walk
from sinew.tools import reference

PAGE = Path(sinew.__file__).parent / "docs" / "python.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def run_example(text):
    space = {}
    exec(compile(text.replace("bl_ext.user_default.sinew", "sinew"), str(PAGE), "exec"), space)
    return space


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with what the examples read."""
    (tmp_path / "clips").mkdir()
    save_clip(tmp_path / "clips" / "walk.npz", plain_walk())
    LIBRARY_FILE.write_content(tmp_path / "kicks.library.npz", *store_library(make_deeds()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_examples():
    assert len(EXAMPLES) == 5


def test_ten_lines_push_a_walk_retime_it_and_save_both(addon, here, capsys):
    lines = [line for line in EXAMPLES[0].splitlines() if line and not line.startswith("from")]
    assert len(lines) <= 10
    space = run_example(EXAMPLES[0])
    pushed, later = space["pushed"], space["later"]
    assert pushed.report["method"] == "sampling" and pushed.report["seed"] == 3
    assert capsys.readouterr().out.splitlines()[0] == pushed.sentences[0]
    assert later.report["edits"]["key_moments"][0]["result_frame"] == pytest.approx(14)
    kept, source = pushed.action.name, "walk"
    bpy.ops.wm.open_mainfile(filepath=str(here / "walks.blend"))
    assert kept in bpy.data.actions and source in bpy.data.actions and bpy.data.actions[kept].use_fake_user
    assert [obj.sinew.force for obj in bpy.data.objects if obj.sinew.role == "PUSH"] == [120.0]


def test_what_cannot_be_says_so(addon, here, capsys):
    run_example(EXAMPLES[1])
    assert "nobody.library.npz" in capsys.readouterr().out


def test_a_library_is_built_and_directed(addon, here, capsys):
    along = run_example(EXAMPLES[2])["along"]
    assert along.report["method"] == "direct_bake" and along.action.frame_range[1] > 20
    assert capsys.readouterr().out.split()[0] == along.armature.name


def test_a_deed_is_done_on_cue(addon, here):
    kick = run_example(EXAMPLES[3])["kick"]
    assert abs(kick.report["respond"]["cues"][0]["done_frame"] - 60) <= 1


def test_progress_goes_to_a_function(addon, here, capsys):
    work = run_example(EXAMPLES[4])["work"]
    assert work.job.has_result() and capsys.readouterr().out.splitlines()[-1].startswith("walk")


def test_the_page_is_made_of_the_docstrings():
    assert PAGE.read_text("utf-8") == reference.make_page(), "run: python tools/reference.py"


def test_the_reference_has_all_that_the_module_has():
    listed = [name for _, names in reference.GROUPS for name in names]
    assert sorted(listed) == sorted(reference.public_names()) == sorted(api.__all__)
    assert all((getattr(api, name).__doc__ or "").strip() for name in listed)
    assert api.__doc__ and api.simulate.__module__ == "sinew.bridge.api.simulating"
