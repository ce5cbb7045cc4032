# SPDX-License-Identifier: GPL-3.0-or-later
"""Files are read for panels on a thread: what is drawn meanwhile says so, and what is there is shown afterwards."""

import threading
import time

import bpy
import pytest

from sinew.bridge.learned import file_views
from sinew.bridge.learned.file_views import FileViews
from sinew.bridge.learned.learned_file import learned_file
from sinew.core.control.graph.model.io import save_graph
from sinew.panels import skills as panel

from ...stock_clips import needs_stock
from ..helpers.graphs import unlearned
from ..helpers.panel_drawing import SkillsLayout, draw_wide


@pytest.fixture
def aside(monkeypatch):
    """As where Blender has a window."""
    monkeypatch.setattr(file_views, "reads_aside", lambda: True)


def poll_to_end(views):
    """Do what the timer does until nothing is read any more."""
    until_s = time.monotonic() + 30.0
    while views._poll_threads() is not None:
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_a_file_is_read_once_aside_and_again_when_it_changes(scene, aside, tmp_path):
    read, threads = [], []

    def look(path):
        read.append(path.read_text())
        threads.append(threading.current_thread())
        return read[-1]

    path, views = tmp_path / "a.txt", FileViews(look, "meanwhile")
    path.write_text("one")
    for text, times in (("one", 1), ("other", 2)):
        path.write_text(text)
        assert views.view(path) == "meanwhile"
        poll_to_end(views)
        assert [views.view(path) for _ in range(3)] == [text] * 3 and len(read) == times
    assert threading.main_thread() not in threads
    path.write_text("at once")
    assert views.view(path, wait=True) == "at once" and threads[-1] is threading.main_thread()


def test_without_a_window_it_is_read_at_once_and_a_bug_is_raised_where_it_is_looked_at(scene, aside, monkeypatch):
    def look(path):
        raise ZeroDivisionError

    views = FileViews(look, "meanwhile")
    assert views.view(file_views.Path("nowhere")) == "meanwhile"
    poll_to_end(views)
    with pytest.raises(ZeroDivisionError):
        views.view(file_views.Path("nowhere"))
    monkeypatch.undo()
    with pytest.raises(ZeroDivisionError):
        FileViews(look, "meanwhile").view(file_views.Path("nowhere"))


def test_few_are_kept(scene, tmp_path):
    views = FileViews(lambda path: path.name, "meanwhile")
    for number in range(40):
        assert views.view(tmp_path / str(number)) == str(number)
    assert len(views._kept) <= file_views._MOST_KEPT


@needs_stock
def test_a_panel_draws_before_its_file_is_read(addon, aside, tmp_path):
    obj, graph = unlearned("walk")
    bpy.context.scene.sinew.armature = obj
    path = tmp_path / "mine.graph.npz"
    save_graph(path, graph)
    obj.sinew_graph.file = str(path)
    page = draw_wide(panel.SINEW_PT_skills, SkillsLayout)
    assert "The file is being read" in page.text and "mode" not in page.props
    file = learned_file("graph")
    assert file.why_none(obj) == ""  # the click reads it anyway
    poll_to_end(file._views)
    page = draw_wide(panel.SINEW_PT_skills, SkillsLayout)
    assert "being read" not in page.text and "mode" in page.props
