# SPDX-License-Identifier: GPL-3.0-or-later
"""What is ready is asked of another process, and the panel says it and offers what is missing."""

import os
import stat
import sys
import time

import bpy
import pytest

from sinew.bridge.setup import installing, packages, preferences, readiness
from sinew.bridge.setup.installing import InstallationView
from sinew.bridge.setup.readiness import Readiness, parse_answer
from sinew.panels.ready import SINEW_PT_ready

from ..helpers.panel_drawing import Page

ALL = {"version": "3.11", "numpy": "1.26.4", "scipy": "1", "cma": "4", "coacd": "1", "mujoco": "4.0.1", "pybullet": ""}
LEARNER = {"safetensors": "0.8.0", "torch": "2.13.0+cpu"}
NO_TORCH = ALL | {"safetensors": "0.8.0", "torch": ""}


def answered(seconds=60.0):
    """Check, and wait as Blender's timer would."""
    readiness.check_readiness()
    stop = time.monotonic() + seconds
    while readiness.poll_readiness() is not None:
        assert time.monotonic() < stop
        time.sleep(0.02)
    return readiness.current_readiness()


def test_it_is_known_too_where_blender_is_started_with_a_file(addon, tmp_path):
    readiness._check_soon()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.app.timers.is_registered(readiness._first_check)


@pytest.fixture
def know(monkeypatch):
    """Let this be what is known of the machine."""

    def know(answer, install=None, online=True):
        monkeypatch.setattr(readiness, "_known", [parse_answer("python", answer, preferences.wants_cluster())])
        monkeypatch.setattr(installing, "_seen", [install] if install else [])
        monkeypatch.setattr(installing, "may_go_online", lambda: online)
        return Page(SINEW_PT_ready)

    return know


def test_the_workers_python_is_asked_and_says_what_it_has(addon):
    assert readiness.current_readiness() is None
    known = answered()
    assert known.simulates and known.engine.startswith("MuJoCo ") and known.python == sys.executable
    assert known.version == "{}.{}".format(*sys.version_info[:2]) and known.problem == ""


def test_checking_does_not_wait_for_the_answer(addon, tmp_path, monkeypatch):
    monkeypatch.setenv("SINEW_PYTHON", str(fake_python(tmp_path, "sleep 60")))
    readiness.check_readiness()
    assert (
        bpy.app.timers.is_registered(readiness.poll_readiness)
        and readiness.poll_readiness() == readiness.PERIOD_S
        and readiness.current_readiness() is None
    )


@pytest.mark.parametrize(("script", "said"), [("exit 1", "does not answer"), (None, "cannot be run")])
def test_a_python_that_is_none_is_named(addon, tmp_path, monkeypatch, script, said):
    path = fake_python(tmp_path, script) if script else tmp_path / "nothing"
    monkeypatch.setenv("SINEW_PYTHON", str(path))
    known = answered()
    assert str(path) in known.problem and said in known.problem and not known.simulates
    assert str(path)[:20] in Page(SINEW_PT_ready).text


def test_another_python_is_looked_at_as_soon_as_it_is_chosen(addon, tmp_path):
    bpy.context.preferences.addons["sinew"].preferences.worker_python = str(tmp_path / "nothing")
    assert "nothing" in readiness.current_readiness().problem


def test_all_ready_is_one_line(addon, know):
    page = know(ALL | LEARNER)
    assert page.texts == ["Ready to simulate and to learn"]
    assert [button.idname for button in page.buttons] == ["sinew.try_mannequin", "sinew.add_street", "sinew.open_help"]


def test_what_is_missing_is_offered_by_one_button(addon, know):
    page = know(NO_TORCH)
    assert "Simulate: ready, with MuJoCo 4.0.1" in page.texts
    assert "Skills, Direct, Respond, Improvise: ready" in page.texts  # a library plays untrained
    learns = "Bounds and Style, training in Direct, training in Respond, training in Improvise"
    assert f"{learns}: needs PyTorch" in page.text
    assert not any(text.startswith("Learn:") for text in page.texts)  # learning skills works without it
    assert page.button("sinew.install_missing").text.startswith("Install PyTorch (about ")
    page = know(NO_TORCH | {"mujoco": "", "scipy": ""})
    assert "Simulate: needs MuJoCo" in page.texts
    assert page.button("sinew.install_missing").text.startswith("Install MuJoCo and PyTorch (about ")
    assert not bpy.ops.sinew.try_mannequin.poll()


def test_ray_is_asked_for_only_where_jobs_go_to_a_cluster(addon, know):
    assert know(ALL | LEARNER | {"ray": "2.60.0"}).texts == ["Ready to simulate and to learn"]
    bpy.context.preferences.addons["sinew"].preferences.where = "ray"
    page = know(ALL | LEARNER)
    assert "On a cluster: needs Ray" in page.texts
    assert page.button("sinew.install_missing").text.startswith("Install Ray (about ")
    assert know(ALL | LEARNER | {"ray": "2.60.0"}).texts == ["Ready to simulate and to learn on Ray 2.60.0"]
    assert "On a cluster: ready, with Ray 2.60.0" in know(NO_TORCH | {"ray": "2.60.0"}).texts


def test_without_online_access_it_offers_to_allow_it(addon, know):
    page = know(NO_TORCH, online=False)
    assert page.button("sinew.install_missing") is None
    assert "must be allowed to go online" in page.text
    assert page.button("extensions.userpref_allow_online")
    assert not bpy.ops.sinew.install_missing.poll()
    with pytest.raises(RuntimeError, match="allow it in Preferences > System > Network"):
        bpy.ops.sinew.install_missing()


def test_an_installation_shows_how_far_it_is_and_can_be_cancelled(addon, know):
    page = know(NO_TORCH, InstallationView("running", "Downloading torch (190 MB)", 0.4))
    assert page.bars == [(0.4, "Downloading torch (190 MB)")]
    assert page.button("sinew.install_cancel") and not page.button("sinew.install_missing")
    page = know(NO_TORCH, InstallationView("running", "Unpacking"))
    assert "Unpacking" in page.texts and page.bars == []


def test_a_failed_installation_says_why_and_may_be_tried_again(addon, know):
    page = know(NO_TORCH, InstallationView("failed", "ERROR: No matching distribution found"))
    assert "No matching distribution" in page.text and page.button("sinew.install_missing")
    assert page.button("wm.path_open").filepath == str(installing.log_path())


def test_before_the_first_answer_nothing_is_claimed(addon):
    page = Page(SINEW_PT_ready)
    assert "ready..." in page.text and not page.button("sinew.install_missing")
    with pytest.raises(RuntimeError, match="does not know yet"):
        bpy.ops.sinew.install_missing()
    with pytest.raises(RuntimeError, match="Nothing is being installed"):
        bpy.ops.sinew.install_cancel()


def test_without_numpy_nothing_is_offered_but_another_python():
    known = parse_answer("python", ALL | LEARNER | {"numpy": ""})
    assert not known.simulates and known.missing == () and "has no NumPy" in known.problem


@pytest.mark.parametrize("lacking", ["scipy", "cma", "coacd", "mujoco"])
def test_nothing_simulates_without_all_it_needs(lacking):
    known = parse_answer("python", ALL | LEARNER | {lacking: ""})
    assert not known.simulates and not known.learns and known.missing == (lacking,)


def test_bullet_will_do_for_an_engine():
    assert parse_answer("python", ALL | LEARNER | {"mujoco": "", "pybullet": "3.2.7"}).engine == "Bullet 3.2.7"


def test_workers_are_told_of_both_folders_and_no_trace_is_left(addon, jobs_folder):
    own = packages.site_of(packages.installed_root())
    own.mkdir(parents=True)
    packages.apply_packages()
    told = os.environ["SINEW_PACKAGES"].split(os.pathsep)
    assert told[0].endswith(os.path.join("site-packages")) and str(own) in told
    packages.withdraw_packages()
    assert "SINEW_PACKAGES" not in os.environ


def test_a_value_from_outside_is_left_alone(addon, monkeypatch):
    packages.withdraw_packages()
    monkeypatch.setenv("SINEW_PACKAGES", "/mine")
    packages.apply_packages()
    packages.withdraw_packages()
    assert os.environ["SINEW_PACKAGES"] == "/mine"


def test_a_readiness_that_is_not_known_promises_nothing():
    assert not Readiness("python").simulates and not Readiness("python").learns


def fake_python(folder, script):
    """A program that is no Python."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(
    "answer", [1, None, [], {}, "yes", ALL, ALL | {"safetensors": "1", "torch": 2}, ALL | LEARNER | {"version": None}]
)
def test_what_is_no_answer_is_told_and_not_tripped_over(answer):
    known = parse_answer("python", answer)
    assert not known.simulates and known.version == "" and "does not answer" in known.problem


@pytest.mark.skipif(os.name == "nt", reason="a script as a program is POSIX")
@pytest.mark.parametrize("said", ["1", "{}", "[" * 5000, '{"version": 3}', "NaN", ""])
def test_a_program_that_says_something_else_is_no_python(addon, tmp_path, monkeypatch, said):
    other = tmp_path / "python"
    other.write_text(f"#!/bin/sh\necho '{said}'\n", encoding="utf-8")
    other.chmod(0o755)
    monkeypatch.setattr(readiness.preferences, "preferred_python", lambda: str(other))
    assert "does not answer" in answered().problem
