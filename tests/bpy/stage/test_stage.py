# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage is read as the animator sees it, in metres and seconds."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from sinew.bridge.stage.solids import find_trunk
from sinew.core.geometry.quaternions import rotate
from sinew.core.motion.plain_walk import plain_walk

from ..helpers.interface import hero
from ..helpers.rigs import arm, wave
from ..helpers.stage_objects import CORNERS, DRUM, WEDGE, arrow, cast, mesh, on_stage, read, sphere, volume


@pytest.fixture
def hero_here(addon):
    """Hero waves through frames 1 to 20 at 24 frames a second."""
    bpy.context.scene.render.fps = 24
    return hero()


def test_an_empty_stage_has_ground_and_gravity(hero_here):
    parts = read()
    assert (parts.terrain, parts.obstacles, parts.props, parts.pushes, parts.findings) == (None, (), (), (), ())
    assert parts.ground and parts.friction == 1.0 and not parts.self_collision
    assert parts.gravity == pytest.approx([0, 0, -9.81])


def test_an_obstacle_is_read_where_it_shows_whatever_moves_it(hero_here):
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.1
    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler = (10, 0, 0), (0, 0, np.pi / 2)
    wall = mesh("Wall", friction=0.4)
    wall.parent, wall.location, wall.scale = parent, (5, 0, 1), (1, 2, 0.5)
    wall.modifiers.new("Array", "ARRAY").count = 2
    part = read(scale=2.0).obstacles[0]
    assert (part.name, part.friction) == ("Wall", pytest.approx(0.4))
    low, high = part.mesh.vertices.min(axis=0), part.mesh.vertices.max(axis=0)
    # Twice along the parent's Y; turned a quarter; 0.2 metres a unit.
    assert low == pytest.approx(np.array([10 - 2, 5 - 1, 0.5]) * 0.2, abs=1e-5)
    assert high == pytest.approx(np.array([10 + 2, 5 + 3, 1.5]) * 0.2, abs=1e-5)
    assert volume(part.mesh) == pytest.approx(2 * 8.0 * 0.2**3, rel=1e-4)


@pytest.mark.parametrize("scale", [(-1, 1, 1), (-1, -2, -3), (1, -1, 1)])
def test_a_mirrored_mesh_is_not_inside_out(hero_here, scale):
    mesh("Block", vertices=np.add(CORNERS, (2, 0, 0)).tolist()).scale = scale
    assert volume(read().obstacles[0].mesh) == pytest.approx(8.0 * abs(np.prod(scale)), rel=1e-5)
    crate = mesh("Crate", "PROP", shape="CONVEX", vertices=np.add(CORNERS, (2, 0, 0)).tolist())
    crate.scale = scale
    prop = read().props[0]
    assert volume(prop.mesh) == pytest.approx(8.0 * abs(np.prod(scale)), rel=1e-5)
    world = prop.pos + rotate(prop.quat_wxyz, prop.mesh.vertices)
    assert world.min(axis=0) == pytest.approx(np.min(np.multiply([(1, -1, -1), (3, 1, 1)], scale), axis=0), abs=1e-5)


def test_instances_and_curves_are_solid_too(hero_here):
    scene = bpy.context.scene
    block = mesh("Block", "NONE")
    store = bpy.data.collections.new("Store")
    store.objects.link(block)
    scene.collection.objects.unlink(block)
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection, instance.location = "COLLECTION", store, (0, 0, 5)
    scene.collection.objects.link(instance)
    on_stage(instance, "OBSTACLE")
    curve = bpy.data.curves.new("Pipe", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", 0.2
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (3, 0, 0, 1)
    pipe = bpy.data.objects.new("Pipe", curve)
    scene.collection.objects.link(pipe)
    on_stage(pipe, "OBSTACLE")
    first, second = read().obstacles
    assert first.mesh.vertices[:, 2].min() == pytest.approx(4) and volume(first.mesh) == pytest.approx(8)
    assert np.ptp(second.mesh.vertices, axis=0) == pytest.approx([3.0, 0.4, 0.4], abs=1e-3)


def test_what_is_hidden_is_not_on_the_stage_and_stand_ins_are(hero_here):
    mesh("Eye").hide_set(True)
    mesh("Screen").hide_viewport = True
    mesh("Stand-in").hide_render = True
    tucked = mesh("Tucked")
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    away.objects.link(tucked)
    bpy.context.scene.collection.objects.unlink(tucked)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    assert [part.name for part in read().obstacles] == ["Stand-in"]


def test_an_obstacle_in_edit_mode_is_read(hero_here):
    wall = mesh("Wall")
    bpy.context.view_layer.objects.active = wall
    wall.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.resize(value=(2, 2, 2))
    part = read().obstacles[0]
    assert wall.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert volume(part.mesh) == pytest.approx(64.0, rel=1e-4)


def test_a_moving_obstacle_stays_and_says_so(hero_here):
    door = mesh("Door")
    for frame, place in ((1, 0.0), (20, 4.0)):
        door.location.x = place
        door.keyframe_insert("location", frame=frame)
    mesh("Wall")
    bpy.context.scene.frame_set(15)
    parts = read()
    assert parts.obstacles[0].mesh.vertices[:, 0].max() == pytest.approx(1.0, abs=1e-5)
    assert [finding.kind for finding in parts.findings] == ["moving_obstacle"]
    assert "'Door'" in parts.findings[0].message and "prop" in parts.findings[0].hint


@pytest.mark.parametrize(
    ("make", "kind", "size"),
    [
        (lambda: sphere("Thing"), "sphere", (0.1, 0, 0)),
        (lambda: mesh("Thing", "PROP"), "box", (1, 1, 1)),
        (lambda: mesh("Thing", "PROP", *WEDGE), None, None),
        (lambda: mesh("Thing", "PROP", *DRUM), None, None),
        (lambda: sphere("Thing", shape="BOX"), "box", (0.1, 0.1, 0.1)),
        (lambda: mesh("Thing", "PROP", shape="SPHERE"), "sphere", (1, 0, 0)),
        (lambda: mesh("Thing", "PROP", shape="CONVEX"), None, None),
    ],
)  # fmt: skip
def test_a_prop_is_the_shape_that_it_looks_like_or_is_told_to_be(hero_here, make, kind, size):
    make()
    prop = read().props[0]
    assert (prop.shape.kind if prop.shape else None) == kind
    assert (prop.mesh is None) == (kind is not None)
    if kind:
        assert prop.shape.size == pytest.approx(size, rel=0.02)


def test_a_capsule_lies_along_the_longest_side(hero_here):
    mesh("Log", "PROP", np.multiply(CORNERS, (0.1, 2.0, 0.1)).tolist(), shape="CAPSULE")
    shape = read().props[0].shape
    radius = 0.1 * np.sqrt(2)
    assert shape.size == pytest.approx([radius, 2.0 - radius, 0.0], rel=1e-5)
    assert rotate(shape.quat_wxyz, np.array([0.0, 0.0, 1.0])) == pytest.approx([0, 1, 0], abs=1e-9)


def test_a_prop_has_its_own_frame(hero_here):
    turn = Matrix.Rotation(0.7, 4, "X") @ Matrix.Rotation(0.3, 4, "Z")
    crate = mesh("Crate", "PROP", shape="BOX", mass=12.0)
    crate.matrix_world = Matrix.Translation((1, 2, 3)) @ turn @ Matrix.Diagonal((0.5, 1, 2, 1))
    prop = read(scale=0.5).props[0]
    assert prop.mass == 12.0 and prop.pos == pytest.approx([0.5, 1.0, 1.5])
    assert prop.shape.size == pytest.approx([0.25, 0.5, 1.0], rel=1e-5)
    assert np.abs(prop.quat_wxyz @ np.array(turn.to_quaternion())) == pytest.approx(1.0)


def test_terrain_is_the_upper_surface_of_all_that_is_marked(hero_here):
    mesh("Plain", "TERRAIN", [(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [(0, 1, 2, 3)], friction=0.5)
    mesh("Mound", "TERRAIN", friction=0.8).location = (3, 0, 0)
    parts = read()
    field = parts.terrain
    columns = np.round((np.array([3.0, -3.0]) - field.origin[0]) / field.spacing).astype(int)
    row = round(-field.origin[1] / field.spacing)
    assert field.heights[row, columns] == pytest.approx([1.0, 0.0])
    assert parts.friction == pytest.approx(0.5)
    assert parts.findings == ()


def test_gravity_is_what_the_scene_says(hero_here):
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    assert read().gravity == pytest.approx([0, 0, -9.81]), "nobody has touched it"
    scene.gravity = (0, 0, -162.0)
    assert read().gravity == pytest.approx([0, 0, -1.62])
    assert read(scale=3.0).gravity == pytest.approx([0, 0, -1.62]), "a character's own scale is not the scene's"
    scene.use_gravity = False
    assert read().gravity == pytest.approx([0, 0, 0])


def test_the_stages_own_settings_are_read(hero_here):
    own = bpy.context.scene.sinew.stage
    own.ground, own.friction, own.self_collision = False, 0.25, True
    parts = read()
    assert (parts.ground, parts.friction, parts.self_collision) == (False, 0.25, True)


def test_a_steady_push_is_one_push(hero_here):
    push = arrow(force=150.0, duration=0.3)
    push.rotation_euler = (0, np.pi / 2, 0)
    push.scale = (1, 1, 7)
    (part,) = read().pushes
    assert (part.name, part.character, part.bone) == ("Push", "Hero", "bone1")
    assert part.force == pytest.approx([150, 0, 0], abs=1e-3)
    assert (part.start_s, part.duration_s) == (pytest.approx(4 / 24), pytest.approx(0.3))


def test_a_keyed_force_is_a_push_a_frame(hero_here):
    push = arrow(duration=4 / 24)
    for frame, force in ((5, 0.0), (7, 200.0)):
        push.sinew.force = force
        push.keyframe_insert("sinew.force", frame=frame)
    for curve in push.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    parts = read().pushes
    assert [part.force[2] for part in parts] == pytest.approx([100.0, 200.0])
    assert [part.start_s for part in parts] == pytest.approx([5 / 24, 6 / 24])
    assert [part.duration_s for part in parts] == pytest.approx([1 / 24, 2 / 24])


def test_a_turning_arrow_turns_the_push(hero_here):
    wheel = bpy.data.objects.new("Wheel", None)
    bpy.context.scene.collection.objects.link(wheel)
    arrow(duration=3 / 24).parent = wheel
    for frame, angle in ((5, 0.0), (6, np.pi / 2), (7, np.pi)):
        wheel.rotation_euler.x = angle
        wheel.keyframe_insert("rotation_euler", frame=frame)
    forces = [part.force for part in read().pushes]
    assert np.array(forces) == pytest.approx(np.array([[0, 0, 100], [0, -100, 0], [0, 0, -100]]), abs=1e-3)


def test_a_push_ends_with_the_clip_and_one_outside_is_left_out(hero_here):
    arrow("Early", start_frame=-3, duration=6 / 24)
    arrow("Late", start_frame=19, duration=5.0)
    arrow("Gone", start_frame=40)
    parts = read()
    assert [(part.name, part.start_s, part.duration_s) for part in parts.pushes] == [
        ("Early", 0.0, pytest.approx(2 / 24)),
        ("Late", pytest.approx(18 / 24), pytest.approx(1 / 24)),
    ]
    assert [finding.kind for finding in parts.findings] == ["left_out"]
    assert "'Gone'" in parts.findings[0].message and "frame 40" in parts.findings[0].message


def test_seconds_are_those_of_the_true_frame_rate(hero_here):
    arrow(duration=0.5)
    sphere("Ball", "PROJECTILE", start_frame=13)
    parts = read(true_fps=12.0)
    assert parts.pushes[0].start_s == pytest.approx(4 / 12) and parts.pushes[0].duration_s == pytest.approx(0.5)
    assert parts.props[0].appears_s == pytest.approx(1.0)


def test_a_push_on_somebody_else_waits_for_them(hero_here):
    other = arm("Other")
    wave(other)
    other.location.x = 2.0
    arrow(armature=other)
    parts = read()
    assert parts.pushes == () and "'Other', who is not simulated" in parts.findings[0].message
    on_stage(other, "CHARACTER")
    parts = read()
    assert [part.character for part in parts.pushes] == ["Other"] and parts.findings == ()


def test_a_projectile_flies_along_its_own_axis(hero_here):
    ball = sphere("Ball", "PROJECTILE", mass=0.5, speed=8.0, start_frame=7, aim="AXIS", bone="gone")
    for frame, place in ((1, 0.0), (7, 3.0)):
        ball.location.x = place
        ball.keyframe_insert("location", frame=frame)
    ball.rotation_euler = (0, np.pi / 2, 0)
    (part,) = read().props
    assert part.appears_s == pytest.approx(6 / 24) and part.mass == 0.5
    assert part.pos == pytest.approx([3, 0, 0]) and part.velocity == pytest.approx([8, 0, 0], abs=1e-5)


def test_a_projectile_meets_the_bone(hero_here):
    sphere("Ball", "PROJECTILE", speed=6.0, start_frame=3, bone="bone2").location = (0.5, -2, 0.5)
    parts, clip = read(), cast().motions["Hero"].clip
    ball = parts.props[0]
    assert np.linalg.norm(ball.velocity) == pytest.approx(6.0)
    pos, quat = clip.world()
    index = clip.skeleton.index("bone2")
    middles = pos[:, index] + rotate(quat[:, index], np.array([0, clip.skeleton.lengths[index] / 2, 0]))
    after = np.arange(len(clip)) / clip.fps - ball.appears_s
    flight = ball.pos + after[:, None] * ball.velocity + 0.5 * after[:, None] ** 2 * parts.gravity
    assert np.linalg.norm(flight - middles, axis=1)[after >= 0].min() < 0.15


def test_a_projectile_without_a_target_meets_the_character(hero_here):
    ball = sphere("Ball", "PROJECTILE", speed=6.0, start_frame=3)
    ball.location, ball.rotation_euler = (0.5, -2, 0.5), (0, np.pi, 0)  # its axis points to the ground
    parts, clip = read(), cast().motions["Hero"].clip
    part = parts.props[0]
    assert np.linalg.norm(part.velocity) == pytest.approx(6.0) and parts.findings == ()
    after = np.arange(len(clip)) / clip.fps - part.appears_s
    flight = part.pos + after[:, None] * part.velocity + 0.5 * after[:, None] ** 2 * parts.gravity
    nearest = np.linalg.norm(flight[:, None] - clip.world()[0], axis=-1)[after >= 0].min()
    assert nearest < 0.6  # two bones of a metre: the ball came within one of a joint


def test_without_a_bone_it_is_thrown_at_the_trunk(addon):
    clip = plain_walk()
    assert find_trunk(clip) == "chest"


def test_a_projectile_of_somebody_who_is_not_simulated_is_left_out(hero_here):
    other = arm("Other")
    wave(other)
    other.location.x = 2.0
    sphere("Ball", "PROJECTILE", armature=other)
    parts = read()
    assert parts.props == () and "'Other', who is not simulated" in parts.findings[0].message


def test_a_projectile_without_speed_is_dropped(hero_here):
    sphere("Ball", "PROJECTILE", speed=0.0).location = (0, -2, 3)
    parts = read()
    assert not parts.props[0].velocity.any() and parts.findings == ()


def test_a_projectile_that_cannot_reach_says_so(hero_here):
    sphere("Ball", "PROJECTILE", speed=0.5, bone="bone2").location = (0, -20, 0.5)
    parts = read()
    assert parts.props[0].velocity[1] > 0.4
    assert parts.findings[0].kind == "out_of_reach" and "'Ball'" in parts.findings[0].message


def test_a_projectile_outside_of_the_clip_is_left_out(hero_here):
    sphere("Ball", "PROJECTILE", start_frame=90)
    parts = read()
    assert parts.props == () and "'Ball'" in parts.findings[0].message
