# SPDX-License-Identifier: GPL-3.0-or-later
"""Real captures through Blender's importer: wrong frame rates and units are found, right ones raise no alarm."""

import bpy
import pytest

from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig.rig_reader import RigMotion, read_rig
from sinew.core.motion.unit_checks import check_frame_rate, check_scale

CMU_UNIT_M = 0.0564444


def read(path, scale: float, **options) -> RigMotion:
    left = open_input(str(path), scale)
    obj = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
    return read_rig(obj, scale=left, **options)


def test_a_backflip_labelled_120_is_found_to_be_60_and_right_once_it_is_corrected(scene, shared_mocap):
    path = shared_mocap / "odd" / "cmu_88_01_wrong_frame_time.bvh"
    finding = check_frame_rate(read(path, CMU_UNIT_M).clip)
    assert finding.suggested_fps == 60.0
    assert finding.factor == pytest.approx(0.5, rel=1e-3)
    assert finding.gravity_m_s2 == pytest.approx(4.0 * 9.81, rel=0.15)
    assert "recorded at 60 frames a second, not 120" in finding.message
    assert "--fps 60" in finding.hint
    corrected = read(path, CMU_UNIT_M, true_fps=finding.suggested_fps)
    assert check_frame_rate(corrected.clip) is None


@pytest.mark.parametrize("name", ["13_13_jump_forward", "16_03_jump_high", "49_04_run_leap", "83_57_hop_turn180"])
def test_a_jump_is_right_as_labelled_and_found_out_at_any_other_rate(scene, shared_mocap, name):
    clip = read(shared_mocap / "cmu" / f"{name}.bvh", CMU_UNIT_M).clip
    assert clip.fps == pytest.approx(120.0)
    assert check_frame_rate(clip) is None
    # 24 is what Blender's importer makes of every file unless it is told to look.
    for label in (24.0, 30.0, 60.0, 240.0):
        assert check_frame_rate(clip.with_fps(label)).suggested_fps == 120.0


@pytest.mark.parametrize(
    "name",
    [
        "07_01_walk",
        "09_01_run",
        "16_08_run_sudden_stop",
        "16_51_run_turn_left90",
        "49_06_cartwheel",
        "82_12_style_happy_walk",
        "127_23_run_dive_roll",
        "83_27_stairs_up",
        "88_01_backflip_ft60fix",
    ],
)
def test_nothing_is_said_of_files_that_are_right(scene, shared_mocap, name):
    clip = read(shared_mocap / "cmu" / f"{name}.bvh", CMU_UNIT_M).clip
    assert check_frame_rate(clip) is None
    assert check_scale(clip) is None


def test_units_that_were_not_given_are_found(scene, shared_mocap):
    clip = read(shared_mocap / "cmu" / "49_04_run_leap.bvh", 1.0).clip
    finding = check_scale(clip)
    assert finding.suggested_scale == pytest.approx(CMU_UNIT_M, rel=0.01)
    assert 25.0 < finding.height_m < 30.0
    assert check_frame_rate(clip.with_fps(240.0)) is None
