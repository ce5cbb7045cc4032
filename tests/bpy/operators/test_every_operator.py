# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk over all operators: each says what it is, why not, and what went wrong, and what it changes can be undone."""

import ast
import re
from pathlib import Path

import bpy
import pytest

from sinew import operators
from sinew.bridge.jobs import monitor, notices
from sinew.bridge.setup import readiness
from sinew.operators.armature_verb import ArmatureVerb
from sinew.operators.presets.preset_verb import PresetAdd, PresetUse
from sinew.operators.takes.take_verb import TakeVerb

from ...stock_clips import needs_stock
from ..helpers import operator_cases
from ..helpers.interface import refusal
from ..helpers.operator_steps import call, one_step, state
from ..helpers.skilled_mannequin import mannequin

OPS = bpy.ops.sinew
CLASSES = {cls.bl_idname.removeprefix("sinew."): cls for cls in operators._CLASSES}
# Words that an animator would have to look up.
JARGON = re.compile(
    r"\b(poll|execut|invok|bpy|dict|tuple|None\b|idname|datablock|data-block|subprocess|PPO|SAMCON|CMA|MDP|quaternion)",
    re.I,
)
KNOWN_OPTIONS = {"REGISTER", "UNDO", "INTERNAL", "BLOCKING", "UNDO_GROUPED", "PRESET"}


@pytest.fixture
def forgetful(addon, monkeypatch):
    """Nothing that another test has left is remembered, and no worker is ever started."""
    monkeypatch.setattr(readiness, "_known", [])
    monkeypatch.setattr(notices, "_said", [])
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    return addon


def test_every_operator_has_its_lines_and_no_line_is_of_none(addon):
    known = set(CLASSES)
    assert known == set(dir(OPS)), "an operator is registered that the list does not have, or the other way round"
    assert set(operator_cases.REFUSED) | set(operator_cases.ALWAYS) == known, "when is it refused? Say so in verbs.py"
    assert not set(operator_cases.REFUSED) & set(operator_cases.ALWAYS)
    wrong = set(operator_cases.WRONG) | set(operator_cases.ELSEWHERE["wrong"]) | set(operator_cases.NEVER_WRONG)
    assert wrong >= {name for name, cls in CLASSES.items() if explains(cls)}, "how does it fail? Say so in verbs.py"
    undone = set(operator_cases.UNDONE) | set(operator_cases.ELSEWHERE["undone"])
    assert undone == {name for name, cls in CLASSES.items() if "UNDO" in cls.bl_options}, "what does it change?"
    assert wrong <= known
    still = set(operator_cases.STILL) | set(operator_cases.STILL_BY_NATURE)
    assert still == known - undone, "does it change the file? Then there must be a step"


def explains(cls):
    """Whether errors that are meant for people can come up in an operator."""
    wrapped = any(hasattr(getattr(cls, name, None), "__wrapped__") for name in ("execute", "prepare"))
    return wrapped or issubclass(cls, ArmatureVerb | TakeVerb | PresetUse | PresetAdd)


@pytest.mark.parametrize("kind", ["wrong", "undone"])
def test_what_is_tested_elsewhere_is(kind):
    for name, place in operator_cases.ELSEWHERE[kind].items():
        path, _, test = place.partition("::")
        text = (Path(__file__).parents[1] / path).read_text()
        found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == test]
        assert found, f"{name}: there is no {place}"
        body = ast.get_source_segment(text, found[0])
        there = kind == "wrong" or "one_step(" in body or ("ed.undo()" in body and "ed.redo()" in body)
        assert there, f"{place} does not go back and forth"


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_it_says_what_it_is_in_plain_words(addon, name):
    cls, rna = CLASSES[name], getattr(OPS, name).get_rna_type()
    assert cls.__name__ == f"SINEW_OT_{name}" and cls.__module__.startswith("sinew.operators.")
    assert rna.name == cls.bl_label and rna.name[0].isupper() and not rna.name.endswith(".")
    assert rna.description.strip() and not JARGON.search(rna.description), rna.description
    options = next(vars(kind)["bl_options"] for kind in cls.__mro__ if "bl_options" in vars(kind))
    assert options and options <= KNOWN_OPTIONS
    for prop in rna.properties:
        if prop.identifier != "rna_type":
            assert prop.name and prop.description and not JARGON.search(prop.description), prop.identifier
    # An operator that only makes sense with what its button gives it is no use in the search.
    asks = hasattr(cls, "invoke") and "filter_glob" in rna.properties  # it lets the file be chosen itself
    if {"job", "batch", "number", "filepath"} & set(rna.properties.keys()) and not asks:
        assert "INTERNAL" in options


@pytest.mark.parametrize("name", sorted(operator_cases.REFUSED))
def test_it_says_why_not_and_what_to_do(forgetful, name):
    for scene, message in operator_cases.REFUSED[name]:
        bpy.ops.wm.read_homefile(use_empty=True)
        readiness._known.clear()
        scene()
        assert not getattr(OPS, name).poll(), scene.__doc__
        with refusal(re.escape(message)):
            call(name)


@pytest.mark.parametrize("name", sorted(operator_cases.WRONG))
def test_what_goes_wrong_is_one_message_and_changes_nothing(forgetful, name):
    scene, values, words = operator_cases.WRONG[name]
    scene()
    before = state()
    with refusal(*map(re.escape, words)):
        call(name, values)
    assert state() == before


@pytest.mark.parametrize("name", sorted(operator_cases.ALWAYS))
def test_it_is_always_offered(forgetful, name):
    assert getattr(OPS, name).poll()


@pytest.mark.parametrize("name", sorted(operator_cases.UNDONE))
def test_it_is_one_step_back_and_forth(forgetful, name):
    bpy.ops.ed.undo_push(message="Original")
    scene, values = operator_cases.UNDONE[name]
    scene()
    bpy.ops.ed.undo_push(message="Scene")
    one_step(name, values)


@pytest.mark.parametrize("name", sorted(operator_cases.STILL))
def test_without_a_step_nothing_of_the_file_is_changed(forgetful, name):
    scene, values = operator_cases.STILL[name]
    scene()
    before = state()
    assert call(name, values) == {"FINISHED"}
    assert state() == before


@needs_stock
def test_what_takes_a_body_is_one_step_too(forgetful):
    bpy.ops.ed.undo_push(message="Original")
    mannequin("walk", "run")
    bpy.ops.sinew.graph_skill_add_all()
    bpy.ops.ed.undo_push(message="Skills")
    one_step("graph_propose")
    one_step("graph_distances")
    one_step("graph_learn")
    bpy.context.scene.sinew.armature.sinew_transitions.clear()
    bpy.ops.ed.undo_push(message="No transitions")
    one_step("graph_transition_add", {"source": "walk", "target": "run"})
    one_step("try_mannequin")


def test_the_walk_can_see_a_change(forgetful):
    operator_cases.chosen()
    before = state()
    bpy.context.scene.sinew.armature.sinew_body.mass_kg = 80.0
    assert state() != before
    assert monitor.watched_jobs() == []
