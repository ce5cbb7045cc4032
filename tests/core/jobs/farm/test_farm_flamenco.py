# SPDX-License-Identifier: GPL-3.0-or-later
"""Flamenco: a job type whose script is always the same, whatever a scene is called, and the tasks that it makes."""

import json
import re
from dataclasses import replace
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farm_tools import command_words, compile_flamenco, needs_quickjs
from sinew.core.errors import BadSettings
from sinew.core.jobs.farm import FarmOrder
from sinew.core.jobs.farm.flamenco import _SCRIPT, encode_job_type, make_job_type

ODD = 'He said "hi"\n$(touch pwned) {{Param.Blender}} {blender} */ \'; rm -rf ~ \\ `${x}` é\u2028 </script> %7B'
ORDER = FarmOrder(
    title=ODD,
    takes=3,
    seed=5,
    options=(("armature", ODD), ("action", "-b"), ("method", "sampling"), ("set", "quality=draft"), ("set", ODD)),
    frames=(1, 2, 3, 9),
    scene="/share/shot/scene.blend",
    results="/share/shot/results",
)
VARIABLES = {"blender": "/opt/blender", "blenderArgs": "-b -y", "Param.Blender": "HACKED", "x": "HACKED"}


def script(order=ORDER):
    return encode_job_type(order).decode("ascii")


def submitted(order=ORDER, **changed):
    """Settings as a submission has them: everything, as it was shown."""
    return {one["key"]: one["default"] for one in make_job_type(order)["settings"]} | changed


def test_names_are_data_after_a_script_that_has_none():
    text, fixed = script(), _SCRIPT.read_text("utf-8").rstrip()
    assert text.startswith(fixed)
    data = re.fullmatch(r"\s*const JOB_TYPE = (.*);\n\nconst OPTIONS = (.*);\n", text.removeprefix(fixed), re.DOTALL)
    assert json.loads(data[1]) == make_job_type(ORDER)
    assert json.loads(data[2])[0] == ["armature", "armature"]
    assert {one["type"] for one in make_job_type(ORDER)["settings"]} == {"string", "int32"}


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200))
def test_no_name_is_more_than_a_text_of_the_script(name):
    order = replace(ORDER, title=name, options=(("armature", name),))
    text = script(order).removeprefix(_SCRIPT.read_text("utf-8").rstrip())
    data = text[text.index("{") : text.rindex("};\n\nconst OPTIONS") + 1]
    assert json.loads(data) == make_job_type(order)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"results": "/share/{jobs}/x"}, "braces"),
        ({"scene": "/a{/s.blend"}, "braces"),
        ({"seed": 2**31}, "seeds up to"),
    ],
)
def test_what_flamenco_would_misread_is_refused(wrong, said):
    with pytest.raises(BadSettings, match=said):
        encode_job_type(replace(ORDER, **wrong))


@needs_quickjs
def test_the_tasks_and_what_they_wait_for():
    tasks, kind = compile_flamenco(script(), submitted(chunk_size=3))
    assert kind == make_job_type(ORDER)
    takes, renders = ["take 1", "take 2", "take 3"], ["1: 1-3", "1: 9-9", "2: 1-3", "2: 9-9", "3: 1-3", "3: 9-9"]
    assert [task["name"] for task in tasks] == [*takes, "merge", *(f"render {name}" for name in renders)]
    assert {task["type"] for task in tasks} == {"blender"}
    assert [task["dependencies"] for task in tasks] == [[]] * 3 + [[0, 1, 2]] + [[3]] * 6
    assert all(len(task["commands"]) == 1 for task in tasks)


@needs_quickjs
def test_names_reach_the_program_as_they_are_whatever_variables_there_are():
    tasks, _ = compile_flamenco(script(), submitted())
    words = command_words(tasks[1]["commands"][0], VARIABLES)
    assert words[:7] == ["/opt/blender", "-b", "-y", "-b", "/share/shot/scene.blend", "-c", "sinew"]
    said = [unquote(word) for word in words if word.startswith("--armature=")]
    assert said == [f"--armature={ODD}"]
    assert [unquote(word) for word in words if word.startswith("--set=")] == ["--set=quality=draft", f"--set={ODD}"]
    assert "HACKED" not in str(words)
    assert {"--encoded", "--takes=3", "--seed=5", "--results=/share/shot/results", "--action=-b"} <= set(words)
    render = command_words(tasks[-1]["commands"][0], VARIABLES)
    assert render[3:] == [
        "-b",
        "/share/shot/results/takes/3.blend",
        "-o",
        "/share/shot/results/frames/3-####",
        "-f",
        "1,2,3,9",
    ]


@needs_quickjs
def test_what_a_submission_leaves_out_is_as_exported():
    assert compile_flamenco(script(), {})[0] == compile_flamenco(script(), submitted())[0]


@needs_quickjs
def test_an_addon_is_enabled_and_no_frames_are_no_rendering():
    tasks, _ = compile_flamenco(script(), submitted(addon="bl_ext.x.sinew", render_frames=" "))
    assert [task["name"] for task in tasks] == ["take 1", "take 2", "take 3", "merge"]
    assert command_words(tasks[0]["commands"][0], VARIABLES)[3:6] == ["--addons", "bl_ext.x.sinew", "-b"]


@needs_quickjs
@pytest.mark.parametrize(
    "wrong",
    [
        {"takes": 0},
        {"takes": 1001},
        {"takes": 1.5},
        {"takes": "3"},
        {"seed": -1},
        {"chunk_size": 0},
        {"render_frames": "3-1"},
        {"render_frames": "1,,2"},
        {"render_frames": "x"},
    ],
)
def test_a_setting_out_of_range_is_told_by_its_name(wrong):
    with pytest.raises(RuntimeError, match=f"{next(iter(wrong))} is"):
        compile_flamenco(script(), submitted(**wrong))
