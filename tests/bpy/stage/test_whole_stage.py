# SPDX-License-Identifier: GPL-3.0-or-later
"""From two armatures and a ball in a scene through physics, and home: everybody and everything has an Action."""

import json
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from sinew.bridge import cli
from sinew.bridge.cli import running
from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import requests
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.scene.saving import save_blend

from ..helpers.finished_jobs import fall, finish, for_everybody, job_of, shown, take_of
from ..helpers.rigs import arm, wave
from ..helpers.stage_objects import on_stage, sphere


def test_two_people_and_a_ball(addon, monkeypatch, root):
    for_everybody(monkeypatch)
    open_input("punch")
    main = requests.find_armature()
    rival = main.copy()
    rival.data, rival.name = main.data.copy(), "Rival"
    rival.animation_data.action = main.animation_data.action.copy()
    rival.animation_data.action.name = "punch back"
    bpy.context.scene.collection.objects.link(rival)
    rival.location.x += 2.0
    on_stage(rival, "CHARACTER")
    ball = sphere("Ball", radius=0.2, mass=2.0)
    ball.location = (1.0, 0.0, 1.5)
    scene = bpy.context.scene
    fps = scene.render.fps / scene.render.fps_base
    last = 1 + round(fps)  # a second
    job = job_of(main.name, frames=(1, last), engine="mujoco")
    words = [
        sys.executable,
        str(Path(__file__).parents[1] / "helpers" / "whole_stage_worker.py"),
        str(root / "core" / "entry.py"),
    ]
    subprocess.run([*words, str(job.folder)], check=False, capture_output=True, timeout=120)
    assert job.status().state == "done", (job.status().message, job.status().hint)
    report = job.result().report
    assert [one["name"] for one in report["characters"]] == [main.name, "Rival"]
    assert {"body", "cast1_body"} <= report.keys()
    written = requests.collect(job)
    assert [one.obj.name for one in (written, *written.others, *written.props)] == [main.name, "Rival", "Ball"]
    assert [one.action.name for one in written.others] == ["punch back, simulated"]
    # Both hold the same pose for a while, two metres apart.
    apart = read_rig(rival).clip.world()[0][:10] - read_rig(main).clip.world()[0][:10]
    assert np.abs(apart - [2.0, 0.0, 0.0]).max() < 0.05
    heights = np.array([shown(ball, frame)[2, 3] for frame in range(1, last + 1)])
    seconds = np.arange(len(heights)) / fps
    falls = seconds < 0.4
    np.testing.assert_allclose(heights[falls], 1.5 - 4.905 * seconds[falls] ** 2, atol=0.03)
    assert heights[-1] == pytest.approx(0.2, abs=0.06)


def test_the_command_line_brings_everybody_home(addon, monkeypatch, tmp_path, capsys):
    for_everybody(monkeypatch)
    for name, x in (("Hero", 0.0), ("Anna", 2.0)):
        obj = arm(name)
        wave(obj, f"{name} waves")
        obj.location.x = x
    on_stage(bpy.data.objects["Anna"], "CHARACTER")
    sphere("Ball").location = (0, 3, 3)
    save_blend(tmp_path / "two.blend")

    def by_hand(job):
        finish(job, take_of(job, props=[fall(job, "Ball")]))
        return job.status()

    monkeypatch.setattr(running, "run_to_end", by_hand)
    out, report = tmp_path / "out.blend", tmp_path / "out.json"
    words = ["simulate", tmp_path / "two.blend", "--armature", "Hero", "--out", out, "--report", report]
    assert cli.main([str(word) for word in words]) == 0
    told = json.loads(report.read_text())
    assert [(one["armature"], one["action"]) for one in told["characters"]] == [
        ("Hero", "Hero waves, simulated"),
        ("Anna", "Anna waves, simulated"),
    ]
    assert told["props"] == [{"object": "Ball", "action": "Ball Hero waves, simulated"}]
    said = capsys.readouterr().out
    assert "Anna: Action 'Anna waves, simulated'" in said and "Ball: Action 'Ball Hero waves, simulated'" in said
    open_input(str(out))
    moved = {obj.name: obj.animation_data.action.name for obj in bpy.context.scene.objects}
    assert moved == {
        "Hero": "Hero waves, simulated",
        "Anna": "Anna waves, simulated",
        "Ball": "Ball Hero waves, simulated",
    }
    assert {"Hero waves", "Anna waves"} <= {action.name for action in bpy.data.actions}
