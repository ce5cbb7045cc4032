# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in panels, tooltips and Blender's console: they are shown, make no row of their own and command no terminal."""

import ast
import json
import logging
from pathlib import Path

import bpy
import pytest

from sinew.bridge import cli
from sinew.bridge.jobs import monitor, reports, status_bar
from sinew.bridge.jobs.job_views import JobView
from sinew.bridge.scene import console_log
from sinew.bridge.scene.report_lines import fit_line
from sinew.core import jobs
from sinew.core.jobs.events import append_event
from sinew.panels.jobs import SINEW_PT_jobs
from sinew.tools.fuzz.blend_properties import draw_panels

from ..helpers.interface import hero, simulate, tick_to_end
from ..helpers.panel_drawing import Layout, Page, SkillsLayout

ROOT = Path(__file__).resolve().parents[3]
NASTY = "\u202eevil\nrow \x1b[2J\x07"
# Keywords of Blender's layouts and dialogs that people read.
READ = {"text", "placeholder", "message", "title"}


def fits(node: ast.expr) -> bool:
    """Whether what is shown is our own word, or made fit for a line."""
    if isinstance(node, ast.IfExp):
        return fits(node.body) and fits(node.orelse)
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "fit_line"
    )


def raw_texts(path: Path) -> list[int]:
    """Lines of a source in which something is shown as it comes."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        shown = [word.value for word in node.keywords if word.arg in READ]
        if node.func.attr == "poll_message_set":
            shown += node.args
        if ast.unparse(node.func).startswith(("bpy.ops.sinew.", "super()", "self.report")):
            continue  # an operator of ours, which sees to it itself
        found += [node.lineno for value in shown if not fits(value)]
    return found


def drawn() -> list[Path]:
    rooms = [*(ROOT / "panels").rglob("*.py"), *(ROOT / "operators").rglob("*.py")]
    return [*sorted(rooms), ROOT / "bridge" / "jobs" / "status_bar.py", ROOT / "bridge" / "setup" / "preferences.py"]


# Whose 'text' is a line that was wrapped and made fit before.
WRAPPED = {"drawing.py": 1}


@pytest.mark.parametrize("path", drawn(), ids=lambda path: path.name)
def test_what_is_drawn_goes_through_the_one_place(path):
    assert len(raw_texts(path)) <= WRAPPED.get(path.name, 0), f"use write_line or fit_line in lines {raw_texts(path)}"


def test_a_job_with_any_words_is_drawn_in_lines(addon, tmp_path, reported):
    hero()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    job = monitor.job_of(simulate())
    jobs.wait(job)
    path = job.folder / "spec.json"
    spec = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(spec | {"title": NASTY, "method": NASTY}), encoding="utf-8")
    finding = {"kind": NASTY, "message": NASTY, "hint": NASTY}
    append_event(job.events, "started", 2, pid=1, host="x")
    append_event(job.events, "finding", 2, finding=finding)
    measured = {"doing": NASTY, NASTY: 1.0}
    append_event(job.events, "progress", 2, step=1, total=2, measurements=measured)
    append_event(job.events, "progress", 2, step=2, total=2, measurements=measured)
    append_event(job.events, "failed", 2, message=NASTY, hint=NASTY)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    view = tick_to_end()
    assert view.state in ("failed", "missing") and "evil" in view.title
    for word in (view.title, view.method, view.message, view.hint, *view.notes, *view.summary, view.doing, view.file):
        assert word.isprintable()
    page = Page(SINEW_PT_jobs)
    assert "evil" in page.text and all(text.isprintable() for text in page.texts)
    assert all(text.isprintable() for text in (status_bar.text_of([view]) or ("",))[:1])


def test_a_running_job_with_any_words_is_drawn_in_lines(addon, monkeypatch):
    curves = ((NASTY, (1.0, 2.0)),)
    view = JobView(
        "1", NASTY, NASTY, "running", NASTY, 0.5, curves=curves, doing=NASTY, notes=(NASTY,), summary=(NASTY,)
    )
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [view])
    page = Page(SINEW_PT_jobs)
    assert page.text.count("evil") >= 4
    assert all(text.isprintable() for text in (*page.texts, *(text for _, text in page.bars)))


def test_objects_and_actions_of_any_name_are_drawn_in_lines(addon, tmp_path):
    obj = hero()
    obj.name = NASTY
    obj.animation_data.action.name = NASTY
    obj.animation_data.action.pose_markers.new(NASTY)
    bpy.context.scene.sinew.armature = obj
    bpy.context.view_layer.objects.active = obj
    seen = []
    label = Layout.label

    def noting(self, text="", icon="NONE"):
        seen.append(text)
        label(self, text, icon)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Layout, "label", noting)
        for name in ("library", "character"):
            module = __import__(f"sinew.panels.{name}", fromlist=["x"])
            Page(getattr(module, f"SINEW_PT_{name}"), layout=SkillsLayout)
    assert any("evil" in text for text in seen) and all(text.isprintable() for text in seen)
    draw_panels()


def test_what_is_logged_in_blender_is_lines(addon, capfd):
    for name in ("sinew.bridge.jobs.monitor", "sinew.core.body.build"):
        log = logging.getLogger(name)
        log.warning("The job in '%s' is odd", NASTY)
        try:
            raise ValueError(NASTY)
        except ValueError:
            log.exception("A bug with '%s'", NASTY)
    lines = capfd.readouterr().err.rstrip("\n").split("\n")
    assert all(line.isprintable() for line in lines)
    records = [line for line in lines if not line.startswith("    ")]
    assert len(records) == 4 and all(line.startswith("sinew: ") for line in records)


def test_others_log_as_before_without_the_add_on(scene, capfd):
    log = logging.getLogger("sinew")
    assert console_log._handler not in log.handlers and log.propagate
    with console_log.log_in_lines():
        assert not log.propagate
        logging.getLogger("sinew.core.body").warning("a\nb")
    assert capfd.readouterr().err == "sinew: a\\nb\n"
    assert console_log._handler not in log.handlers and log.propagate


def test_the_command_line_logs_in_lines(capfd, monkeypatch, scene):
    from sinew.bridge.cli import clips

    def names(*_words):
        logging.getLogger("sinew.core.motion").warning("Odd: %s", NASTY)
        return ()

    monkeypatch.setattr(clips.stock, "stock_names", names)
    cli.main(["clips"])
    said = capfd.readouterr().err
    assert "evil" in said and all(line.isprintable() for line in said.rstrip("\n").split("\n"))


def test_reports_and_reasons_are_lines(addon, capfd):
    reports.report_to_user(NASTY, "WARNING")
    said = capfd.readouterr()
    assert "evil" in said.out + said.err and "\x1b" not in said.out + said.err
    assert fit_line(NASTY).isprintable() and fit_line("x" * 5000) != "x" * 5000
