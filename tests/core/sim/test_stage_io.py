# SPDX-License-Identifier: GPL-3.0-or-later
"""Stage parts travel to the worker unchanged and become a stage there, or are refused by name."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import Shape
from sinew.core.errors import BadFile, BadStage
from sinew.core.files import read_arrays, write_arrays
from sinew.core.sim import engines
from sinew.core.sim.aiming import aim_throw
from sinew.core.sim.assembly import assemble_stage, require_apart
from sinew.core.sim.stage import Character, Stage, Terrain
from sinew.core.sim.stage_io import stage_from_arrays, stage_to_arrays
from sinew.core.sim.stage_parts import Finding, Mesh, ObstaclePart, PropPart, PushPart, StageParts

from .bodies import ball, brick, chain, rest_pose

CUBE = Mesh(
    [[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)],
    [
        tri
        for a, b, c, d in [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        for tri in ((a, b, c), (a, c, d))
    ],
)
QUAT = np.array([0.5, 0.5, -0.5, 0.5])


def everything():
    return StageParts(
        characters=("Other", "Hero"),
        terrain=Terrain(np.arange(12.0).reshape(3, 4), 0.25, np.array([-1.0, 2.0])),
        obstacles=(ObstaclePart("Würfel", CUBE, 0.3), ObstaclePart("Other", CUBE)),
        props=(
            PropPart("Crate", 5.0, np.array([1.0, 2.0, 3.0]), mesh=CUBE, quat_wxyz=QUAT, friction=0.5),
            PropPart(
                "Ball",
                0.4,
                np.array([0.0, 0.0, 1.0]),
                shape=Shape("sphere", np.array([0.1, 0.0, 0.0]), np.zeros(3)),
                velocity=np.array([1.0, 2.0, 3.0]),
                appears_s=0.5,
            ),
        ),
        pushes=(PushPart("Push", "Hero", "ball", np.array([0.0, 100.0, 0.0]), 0.25, 0.1),),
        gravity=np.array([0.0, 0.0, -1.62]),
        friction=0.7,
        ground=False,
        self_collision=True,
        findings=(Finding("left_out", "'Cup' was left out", "Move it"),),
    )


def flat(value):
    """A stage as plain values that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.tolist()
    if isinstance(value, tuple):
        return [flat(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: flat(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


@pytest.mark.parametrize("parts", [everything(), StageParts()], ids=["everything", "nothing"])
def test_what_is_written_is_what_is_read(tmp_path, parts):
    write_arrays(tmp_path / "stage.npz", *stage_to_arrays(parts))
    assert flat(stage_from_arrays(*read_arrays(tmp_path / "stage.npz"))) == flat(parts)


def test_a_stage_of_a_newer_version_is_refused():
    arrays, meta = stage_to_arrays(StageParts())
    with pytest.raises(BadFile, match="newer"):
        stage_from_arrays(arrays, {**meta, "schema": 99})


@pytest.mark.parametrize("name", ["gravity", "prop0_state", "obstacle1_triangles", "pushes", "terrain_heights"])
def test_a_missing_array_is_a_bad_file(name):
    arrays, meta = stage_to_arrays(everything())
    del arrays[name]
    with pytest.raises(BadFile, match="incomplete"):
        stage_from_arrays(arrays, meta)


@pytest.mark.parametrize("meta", [{}, {"schema": 1}, {"schema": 1, "props": 3, "terrain_spacing": None}])
def test_words_that_are_no_stage_are_a_bad_file(meta):
    with pytest.raises(BadFile):
        stage_from_arrays({"gravity": np.zeros(3)}, meta)


def test_parts_become_a_stage():
    parts = replace(everything(), terrain=None, ground=True)
    stage, findings = assemble_stage(parts, [chain(2), ball()])
    assert [(character.name, character.self_collision) for character in stage.characters] == [
        ("Other", True),
        ("Hero", True),
    ]
    assert [(obstacle.name, obstacle.friction) for obstacle in stage.obstacles] == [("Würfel", 0.3), ("Other", 1.0)]
    assert len(stage.obstacles[0].pieces) == 1 and len(stage.obstacles[0].pieces[0]) == 8
    assert stage.props[0].pieces and stage.props[0].shape is None
    assert stage.props[1].shape is parts.props[1].shape and stage.props[1].appears_s == 0.5
    assert (stage.pushes[0].character, stage.pushes[0].bone, stage.pushes[0].start_s) == (1, "ball", 0.25)
    assert stage.terrain is None and stage.friction == 0.7
    assert findings == parts.findings


def drop(parts, seconds=0.8):
    """How high a ball of 10 cm is that was let go at 1 m."""
    stage, _ = assemble_stage(replace(parts, characters=("Hero",)), [ball()])
    world = engines.get_engine("mujoco").compile(stage, 1, threads=1)
    try:
        state = world.state_of(rest_pose(ball(), (0.5, 0.5, 1.0))[None], np.zeros((1, 6)))
        _, rows = world.rollout(state, np.zeros((1, 1, 0)), substeps=int(seconds * 120))
        return float(rows.link_pos[0, 0, 0, 2])
    finally:
        world.close()


def test_an_assembled_stage_can_be_simulated():
    step = Mesh(CUBE.vertices * [1.0, 1.0, 0.4], CUBE.triangles)
    assert drop(StageParts()) == pytest.approx(0.1, abs=0.01)
    assert drop(StageParts(obstacles=(ObstaclePart("Step", step),))) == pytest.approx(0.5, abs=0.01)
    assert drop(StageParts(terrain=Terrain(np.full((4, 4), 0.2), 1.0, np.array([-1.0, -1.0])))) == pytest.approx(
        0.3, abs=0.01
    )
    assert drop(StageParts(ground=False)) == pytest.approx(1.0 - 0.5 * 9.81 * 0.64, abs=0.1)
    assert drop(StageParts(ground=False, gravity=np.zeros(3))) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("push", "words", "fix"),
    [
        (PushPart("Shove", "Nobody", "ball", np.ones(3), 0.0, 0.1), "'Nobody', who is not on the stage", "armature"),
        (PushPart("Shove", "Hero", "nose", np.ones(3), 0.0, 0.1), "'nose', which has no body", "ball"),
    ],
)
def test_a_push_on_nothing_is_refused(push, words, fix):
    with pytest.raises(BadStage, match=words) as caught:
        assemble_stage(StageParts(("Hero",), pushes=(push,)), [ball()])
    assert "'Shove'" in caught.value.message and fix in caught.value.hint


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PropPart("Stone", 0.0, np.zeros(3), mesh=CUBE), "'Stone' has a mass of 0 kg"),
        (lambda: PropPart("Stone", float("nan"), np.zeros(3), mesh=CUBE), "'Stone' has a mass of nan kg"),
        (lambda: PropPart("Stone", 1.0, np.zeros(3), mesh=CUBE, friction=-1.0), "'Stone' has a friction of -1"),
        (lambda: PropPart("Stone", 1.0, np.zeros(3)), "'Stone' needs"),
        (lambda: PushPart("Shove", "Hero", "", np.ones(3), 0.0, 0.1), "'Shove' has no bone"),
        (lambda: PushPart("Shove", "Hero", "hips", np.ones(3), 0.0, -0.1), "'Shove' lasts -0.1 s"),
        (lambda: PushPart("Shove", "Hero", "hips", np.ones(3), 0.0, 0.0), "'Shove' lasts 0 s"),
        (lambda: PushPart("Shove", "Hero", "hips", np.array([np.inf, 0, 0]), 0.0, 0.1), "not a number"),
        (lambda: Mesh([[np.nan, 0.0, 0.0]], np.zeros((0, 3))), "not numbers"),
        (lambda: Mesh(np.zeros((3, 3)), [[0, 1, 3]]), "faces between others"),
    ],
)
def test_impossible_parts_are_refused_where_they_are_made(make, words):
    with pytest.raises(BadStage, match=words):
        make()


def characters(*places):
    stage = Stage(tuple(Character(chain(4), f"Hero {number}") for number in range(len(places))))
    return stage, np.concatenate([rest_pose(chain(4), place) for place in places])


def test_five_characters_in_one_place_are_refused_by_name():
    with pytest.raises(BadStage, match=r"'Hero 0', 'Hero 1', .*, 'Hero 4' begin in one place") as caught:
        require_apart(*characters(*[(0.0, 0.0, 1.0)] * 5))
    assert "Move them apart" in caught.value.hint


def test_only_those_that_overlap_are_named():
    with pytest.raises(BadStage, match="'Hero 0', 'Hero 2' begin"):
        require_apart(*characters((0, 0, 1), (2, 0, 1), (0.02, 0, 1)))


def test_characters_side_by_side_are_welcome():
    require_apart(*characters((0, 0, 1), (0.3, 0, 1), (0, 0.3, 1), (0, 0, 2)))
    require_apart(Stage((Character(brick()),)), rest_pose(brick()))


def flown(start, velocity, gravity, seconds):
    return start + velocity * seconds + 0.5 * gravity * seconds**2


def test_a_throw_meets_what_moves():
    times = np.arange(0.0, 3.0, 1 / 30)
    targets = np.stack([2.0 + 1.5 * times, np.sin(2.0 * times), 1.0 + 0.2 * times], -1)
    start, gravity = np.array([0.0, -4.0, 0.5]), np.array([0.0, 0.0, -9.81])
    velocity, meets_s = aim_throw(start, 12.0, gravity, targets, 1 / 30)
    assert np.linalg.norm(velocity) == pytest.approx(12.0)
    there = [np.interp(meets_s, times, targets[:, axis]) for axis in range(3)]
    assert np.linalg.norm(flown(start, velocity, gravity, meets_s) - there) < 0.01


def test_a_throw_waits_for_one_that_stands_after_the_clip():
    velocity, meets_s = aim_throw(np.zeros(3), 2.0, np.zeros(3), np.array([[3.0, 0.0, 0.0]] * 5), 1 / 30)
    assert meets_s == pytest.approx(1.5)
    assert velocity == pytest.approx([2.0, 0.0, 0.0])


def test_a_throw_that_is_too_slow_goes_straight():
    velocity, meets_s = aim_throw(
        np.zeros(3), 1.0, np.array([0.0, 0.0, -9.81]), np.array([[0.0, 50.0, 0.0]] * 5), 1 / 30
    )
    assert meets_s is None
    assert velocity == pytest.approx([0.0, 1.0, 0.0])
