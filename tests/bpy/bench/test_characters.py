# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that nobody here made go through the panel's steps, and their page says what became of them."""

import argparse
from pathlib import Path

import numpy as np
import pytest

from sinew.bench import mocap
from sinew.bench.characters import command
from sinew.bench.characters.catalogue import CHARACTERS, characters_page
from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.errors import BadSettings

BY_NAME = {character.name: character for character in CHARACTERS}


def arguments(*words):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def test_every_character_of_the_folder_is_in_the_cast(shared_mocap):
    there = {path.relative_to(shared_mocap).as_posix() for path in mocap.mocap_files("skinned", "fbx")}
    assert there == {character.file for character in CHARACTERS}


def test_a_character_comes_home_and_its_source_is_as_it_was(addon, shared_mocap):
    row = command.take_through_panels(BY_NAME["arnaud"], "walk", method="passthrough")
    assert row["baked"] == "walk passthrough"
    assert row["source_untouched"] and row["in_nla"] and not row["fell"]
    assert row["clip_s"] == pytest.approx(1.3, abs=0.1)
    assert row["joint_error_m"] < 1e-3
    assert 60.0 < row["mass_kg"] < 90.0


def test_a_character_in_other_units_is_brought_to_its_size_by_the_button_that_offers_it(addon, shared_mocap):
    row = command.take_through_panels(BY_NAME["Fox"], "Walk", method="passthrough")
    assert "tall" in row["accepted"][0]
    assert row["mass_kg"] < 100.0  # in metres it would be 70,000 t


def test_what_is_refused_is_told_with_its_reason(addon, shared_mocap, monkeypatch):
    monkeypatch.setenv("SINEW_PYTHON", "/no/such/python")
    row = command.take_through_panels(BY_NAME["pab_walk"], BY_NAME["pab_walk"].action, method="passthrough")
    assert "baked" not in row and "/no/such/python" in row["refused"]
    assert "refused" in characters_page([row], {})


def test_bones_that_an_importer_made_a_hundred_times_too_long_are_as_long_as_they_look(shared_mocap):
    open_input(str(shared_mocap / BY_NAME["arnaud"].file))
    import bpy

    obj = next(found for found in bpy.context.scene.objects if found.type == "ARMATURE")
    assert max(bone.length for bone in obj.data.bones) * obj.scale[0] > 40.0  # a thigh of 47 m
    skeleton = read_rig(obj).clip.skeleton
    assert skeleton.lengths[skeleton.index("LeftUpLeg")] == pytest.approx(0.471, abs=0.002)
    assert np.all(skeleton.lengths < 0.5)


def test_without_the_folder_it_says_so(monkeypatch):
    monkeypatch.setattr(mocap, "FOLDER", Path("/no/such/folder"))
    assert "/no/such/folder" in command.measure(arguments())["skipped"]


def test_who_is_not_in_the_cast_is_refused():
    with pytest.raises(BadSettings, match="no character 'Bob'"):
        command.measure(arguments("--only", "Bob"))


def test_the_page_shows_figures_pictures_and_whose_they_are():
    row = {"character": "Fox", "action": "Survey", "seed": 0, "accepted": [], "links": 18, "mass_kg": 72.9}
    row |= {"baked": "Survey sampling", "clip_s": 3.4, "fell": False, "fell_at_s": None, "joint_error_m": 0.003}
    row |= {"source_untouched": True, "in_nla": True}
    text = characters_page(
        [row, {**row, "action": "Run", "fell": True, "fell_at_s": 0.5}], {"Fox": "images/characters/Fox.png"}
    )
    assert "![Fox, Survey](images/characters/Fox.png)" in text
    assert "| Survey | 3.4 s | yes | 3 mm |" in text and "| Run | 3.4 s | fell at 0.5 s |" in text
    assert "2 of 2 Actions were simulated and baked; 1 of these fell." in text
    assert "CC BY 4.0" in text
