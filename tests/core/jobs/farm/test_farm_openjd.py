# SPDX-License-Identifier: GPL-3.0-or-later
"""Open Job Description: a template whose own words are always the same, whatever a scene is called."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farm_tools import needs_openjd, run_openjd
from sinew.core.errors import BadSettings
from sinew.core.jobs.farm import FarmOrder
from sinew.core.jobs.farm.openjd import FILE_NAME, encode_template, make_template

ODD = 'He said "hi"\n$(touch pwned) {{Param.Blender}} {blender} \'; rm -rf ~ \\ `x` é\u2028 --seed=9'
ORDER = FarmOrder(
    title=ODD,
    takes=3,
    seed=5,
    options=(("armature", ODD), ("action", "-b"), ("method", "sampling"), ("set", "quality=draft"), ("set", ODD)),
    frames=(1, 2, 9),
    addon="bl_ext.user_default.sinew",
)


def without_defaults(template):
    """The template as text, but for what parameters are."""
    bare = [{**one, "default": None} for one in template["parameterDefinitions"]]
    return json.dumps({**template, "parameterDefinitions": bare})


def test_names_are_values_of_parameters_and_nothing_else():
    odd, plain = (
        make_template(FarmOrder("x", 3, 5, (("armature", name), ("set", f"bones={name}")), (1,))) for name in (ODD, "A")
    )
    assert without_defaults(odd) == without_defaults(plain)
    given = {one["name"]: one["default"] for one in odd["parameterDefinitions"]}
    assert given["Armature"] == ODD and given["Set"] == f"bones={ODD}"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200))
def test_no_name_changes_the_template(name):
    odd, plain = (make_template(FarmOrder(one, 2, 0, (("armature", one), ("set", one)), (1,))) for one in (name, "A"))
    assert without_defaults(odd) == without_defaults(plain)
    assert (
        json.loads(encode_template(FarmOrder("x", 1, options=(("action", name),))))["parameterDefinitions"][-1][
            "default"
        ]
        == name
    )


def test_everything_that_is_referred_to_is_there():
    template = make_template(ORDER)
    known = {f"Param.{one['name']}" for one in template["parameterDefinitions"]}
    names = [step["name"] for step in template["steps"]]
    assert names == ["Takes", "Merge", "Render"]
    for place, step in enumerate(template["steps"]):
        tasks = step.get("parameterSpace", {}).get("taskParameterDefinitions", ())
        own = {f"Task.Param.{one['name']}" for one in tasks}
        used = set(re.findall(r"{{(.*?)}}", json.dumps(step)))
        assert used <= known | own and own <= used
        assert step.get("dependencies", []) == ([{"dependsOn": names[place - 1]}] if place else [])
    assert len(known) == len(template["parameterDefinitions"]) <= 50


def test_nothing_is_rendered_unless_frames_are_given():
    template = make_template(FarmOrder("shot", 1))
    assert [step["name"] for step in template["steps"]] == ["Takes", "Merge"]
    assert "RenderFrames" not in {one["name"] for one in template["parameterDefinitions"]}


def test_a_seed_that_the_format_cannot_hold_is_refused():
    with pytest.raises(BadSettings, match="seeds up to 9223372036854775807"):
        make_template(FarmOrder("shot", 1, seed=2**63))


@needs_openjd
@pytest.mark.parametrize("order", [ORDER, FarmOrder("shot", 1), FarmOrder("shot", 1000, 2**63 - 1, frames=(0,))])
def test_the_template_is_valid(order, tmp_path):
    path = tmp_path / FILE_NAME
    path.write_bytes(encode_template(order))
    done = run_openjd("check", path)
    assert done.returncode == 0, done.stdout


@needs_openjd
@pytest.mark.parametrize(
    "wrong", ["Takes=0", "Takes=1001", "Takes=many", "Seed=1.5", "RenderFrames=x", "RenderFrames=", "Other=1"]
)
def test_a_parameter_out_of_range_is_refused_before_anything_runs(wrong, tmp_path):
    path = tmp_path / FILE_NAME
    path.write_bytes(encode_template(ORDER))
    done = run_openjd("run", path, "--step", "Render", "-p", wrong, "-p", "Blender=false")
    assert done.returncode != 0 and wrong.partition("=")[0] in done.stdout + done.stderr
    assert "exited with code" not in done.stdout


@needs_openjd
def test_names_reach_the_program_as_they_are(tmp_path):
    path, said = tmp_path / FILE_NAME, tmp_path / "said"
    path.write_bytes(encode_template(ORDER))
    program = tmp_path / "blender"
    program.write_text(f"#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done > '{said}'\n")
    program.chmod(0o755)
    done = run_openjd("run", path, "--step", "Takes", "-tp", "Take=2", "-p", f"Blender={program}", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    words = said.read_bytes().decode().split("\0")[:-1]
    assert words[:6] == ["--addons", ORDER.addon, "-b", str(tmp_path / "scene.blend"), "-c", "sinew"]
    results = f"--results={tmp_path / 'results'}"
    assert words[6:11] == ["farm", "take", "2", "--takes=3", results]
    rest = [f"--armature={ODD}", "--action=-b", "--method=sampling", "--set=quality=draft", f"--set={ODD}", "--seed=5"]
    assert words[11:] == rest
    assert not (tmp_path / "pwned").exists()
