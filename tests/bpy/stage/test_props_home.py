# SPDX-License-Identifier: GPL-3.0-or-later
"""Where loose things went comes home as Actions on them, whatever carries, scales or turns them."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from sinew.bridge.jobs import requests
from sinew.core.errors import RigError
from sinew.core.geometry.quaternions import to_matrix
from sinew.core.motion import PropMotion

from ..helpers.finished_jobs import fall, finish, for_everybody, job_of, shown, stage_of, take_of
from ..helpers.interface import animation, hero, new_actions
from ..helpers.rigs import arm, digest, wave
from ..helpers.stage_objects import mesh, on_stage, read, sphere


@pytest.fixture
def hero_here(addon, monkeypatch):
    """Hero waves through frames 1 to 20 at 24 frames a second."""
    for_everybody(monkeypatch)
    bpy.context.scene.render.fps = 24
    return hero()


def collected(*motions, **words):
    """A job's result with these props' motions, each a function of the job."""
    job = job_of(action="Wave", **words)
    made = [motion(job) for motion in motions]
    finish(job, take_of(job, props=made))
    return requests.collect(job), made


def falling(name, spin=(1.0, 2.0, 3.0)):
    return lambda job: fall(job, name, spin)


def still(name):
    def motion(job):
        prop = next(prop for prop in stage_of(job).props if prop.name == name)
        frames = len(job.clip())
        return PropMotion(name, np.tile(prop.pos, (frames, 1)), np.tile(prop.quat_wxyz, (frames, 1)))

    return motion


def assert_shows(obj, motion, *, metres=1.0, stretch=None, tolerance=1e-4):
    """The object shows just that motion, one frame a scene frame, from frame 1 on."""
    for index in range(len(motion)):
        matrix = shown(obj, 1 + index)
        assert matrix[:3, 3] * metres == pytest.approx(motion.pos[index], abs=tolerance)
        axes = to_matrix(motion.quat_wxyz[index]) @ (np.eye(3) if stretch is None else stretch)
        np.testing.assert_allclose(matrix[:3, :3], axes, atol=tolerance)


def test_a_ball_that_falls_gets_an_action(hero_here):
    ball = sphere("Ball")
    ball.location = (1, 2, 3)
    written, (motion,) = collected(falling("Ball"))
    (made,) = written.props
    assert (made.obj, made.where) == (ball, "ACTION")
    assert made.action.name == "Ball Wave, simulated" == ball.animation_data.action.name
    assert_shows(ball, motion)
    assert shown(ball, 1)[:3, 3] == pytest.approx([1, 2, 3])
    collected(falling("Ball"))
    assert ball.animation_data.action != made.action and made.action.users > 0  # no take is lost by the next


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"])
def test_every_rotation_mode(hero_here, mode):
    ball = sphere("Ball")
    ball.rotation_mode = mode
    written, (motion,) = collected(falling("Ball", (9.0, 2.0, -3.0)))
    assert_shows(ball, motion)
    assert_smooth(written.props[0].action)


def assert_smooth(action):
    """No channel jumps: what is between the keys is shown too, by motion blur and by slow motion."""
    curves = digest(action)
    assert {path.partition("_")[0] for path, *_ in curves} == {"location", "rotation", "scale"}
    for path, _, _, keys in curves:
        values = [co[1] for co, _ in keys]
        if path.startswith("rotation") and len(values) > 1:
            assert np.abs(np.diff(values)).max() < 2.0


@pytest.mark.parametrize("scale", [(2, 2, 2), (0.5, 2, 3), (-1, 1, 1), (1, -2, -0.5)])
def test_scaled_and_mirrored_things(hero_here, scale):
    box = mesh("Box", "PROP")
    box.scale, box.rotation_euler = scale, (0.3, 0.4, 0.5)
    bpy.context.view_layer.update()
    first = np.array(box.matrix_world)
    written, (motion,) = collected(falling("Box"))
    stretch = to_matrix(motion.quat_wxyz[0]).T @ first[:3, :3]
    assert_shows(box, motion, stretch=stretch)
    np.testing.assert_allclose(shown(box, 1), first, atol=1e-5)
    sizes = [keys for path, _, _, keys in digest(written.props[0].action) if path == "scale"]
    assert [len(keys) for keys in sizes] == [1, 1, 1]


def test_delta_transforms_stay(hero_here):
    box = mesh("Box", "PROP")
    box.location, box.rotation_euler, box.scale = (1, 0, 2), (0.2, 0, 0), (1, 2, 1)
    box.delta_location, box.delta_rotation_euler, box.delta_scale = (0, 0, 1), (0, 0.7, 0), (2, 1, 1)
    bpy.context.view_layer.update()
    first = np.array(box.matrix_world)
    _, (motion,) = collected(falling("Box"))
    stretch = to_matrix(motion.quat_wxyz[0]).T @ first[:3, :3]
    assert_shows(box, motion, stretch=stretch)
    assert tuple(box.delta_location) == (0, 0, 1)


def test_units_and_frame_rates(hero_here):
    bpy.context.scene.unit_settings.scale_length = 0.1
    ball = sphere("Ball", radius=1.0)
    ball.location = (10, 0, 30)
    _, (motion,) = collected(falling("Ball"), scale=2.0)
    assert motion.pos[0] == pytest.approx([2, 0, 6])
    assert_shows(ball, motion, metres=0.2, tolerance=1e-3)


def test_a_take_at_another_rate_is_on_the_scene_s_frames(hero_here):
    ball = sphere("Ball")
    written, (motion,) = collected(falling("Ball"), true_fps=12.0)
    # Twenty frames of 1/12 s are thirty-nine of 1/24 s.
    assert written.props[0].action.frame_range[1] == 39
    assert shown(ball, 39)[:3, 3] == pytest.approx(motion.pos[-1], abs=1e-4)
    assert shown(ball, 21)[:3, 3] == pytest.approx(motion.pos[10], abs=1e-4)


def parent(obj, carrier, keep=True):
    obj.parent = carrier
    if keep:
        bpy.context.view_layer.update()
        obj.matrix_parent_inverse = carrier.matrix_world.inverted()


def test_a_thing_on_a_parent_that_moves(hero_here):
    cart = bpy.data.objects.new("Cart", None)
    bpy.context.scene.collection.objects.link(cart)
    cart.location, cart.rotation_euler, cart.scale = (1, 2, 3), (0.4, 0, 1), (2, 2, 2)
    for frame, place in ((1, 0.0), (20, 5.0)):
        cart.location.x = place
        cart.keyframe_insert("location", frame=frame)
    ball = sphere("Ball")
    parent(ball, cart)
    ball.location = (0.3, 0, 1)
    bpy.context.scene.frame_set(1)
    first = shown(ball, 1)
    written, (motion,) = collected(falling("Ball"))
    assert written.props[0].where == "ACTION" and ball.parent == cart
    assert_shows(ball, motion, stretch=to_matrix(motion.quat_wxyz[0]).T @ first[:3, :3], tolerance=1e-3)


def test_a_thing_in_a_hand_leaves_the_hand_that_has_a_take_now(hero_here):
    ball = sphere("Ball")
    ball.parent, ball.parent_type, ball.parent_bone = hero_here, "BONE", "bone2"
    job = job_of(action="Wave")
    assert "mesh.npz" not in job.spec.inputs  # it is no part of the body
    motion = fall(job, "Ball")
    finish(job, take_of(job, main=(0, 3, 0), props=[motion]))
    requests.collect(job)
    assert_shows(ball, motion, tolerance=1e-3)


def test_a_thing_on_another_thing_lets_it_go_first(hero_here):
    table, cup = mesh("Table", "PROP"), mesh("A cup", "PROP")
    cup.parent = table
    cup.location = (0, 0, 2)
    written, (first, second) = collected(falling("Table"), falling("A cup", (0, 0, 1)))
    assert [made.obj for made in written.props] == [table, cup]
    assert_shows(table, first, tolerance=1e-3)
    assert_shows(cup, second, tolerance=1e-3)


def test_a_parent_of_uneven_scale_would_make_it_lean_so_a_copy_falls(hero_here):
    cart = bpy.data.objects.new("Cart", None)
    bpy.context.scene.collection.objects.link(cart)
    cart.scale = (1, 1, 3)
    box = mesh("Box", "PROP")
    box.parent = cart
    bpy.context.view_layer.update()
    first, before = np.array(box.matrix_world), animation()["objects"]["Box"]
    written, (motion,) = collected(falling("Box"))
    (made,) = written.props
    assert made.where == "COPY" and made.obj != box and made.obj.data == box.data and made.obj.parent is None
    assert animation()["objects"]["Box"] == before and made.obj.sinew.role == "NONE"
    assert_shows(made.obj, motion, stretch=to_matrix(motion.quat_wxyz[0]).T @ first[:3, :3])
    assert len(read().props) == 1


def held_by_a_constraint(ball):
    ball.constraints.new("LIMIT_LOCATION").use_min_z = True
    ball.constraints[0].min_z = 3.0


def driven(ball):
    ball.driver_add("location", 0).driver.expression = "1.0"


@pytest.mark.parametrize("hold", [held_by_a_constraint, driven])
def test_what_would_fight_the_keys_stays_and_a_copy_falls(hero_here, hold):
    ball = sphere("Ball")
    ball.location = (1, 2, 3)
    hold(ball)
    written, (motion,) = collected(falling("Ball"))
    (made,) = written.props
    assert made.where == "COPY"
    assert_shows(made.obj, motion)
    assert shown(ball, 20)[:3, 3] == pytest.approx([1, 2, 3])


@pytest.mark.parametrize("place", ["COPY", "NLA"])
def test_things_go_where_the_character_goes(hero_here, place):
    ball = sphere("Ball")
    roll(ball)
    own = digest(ball.animation_data.action)
    written, (motion,) = collected(falling("Ball"), place=place)
    (made,) = written.props
    assert made.where == place
    assert_shows(made.obj, motion)
    assert digest(bpy.data.actions["Roll"]) == own
    assert read().props[0].pos == pytest.approx(motion.pos[0], abs=1e-6)


def roll(ball, name="Roll"):
    """An Action of the ball's own: it rolls along X and fades."""
    for frame, place in ((1, 0.0), (20, 4.0)):
        ball.location.x, ball.color[3] = place, 1.0 - frame / 40
        ball.keyframe_insert("location", frame=frame)
        ball.keyframe_insert("color", frame=frame)
    ball.animation_data.action.name = name
    bpy.context.scene.frame_set(1)


def test_the_thing_s_own_action_is_left_alone_and_what_else_it_does_goes_on(hero_here):
    ball = sphere("Ball")
    roll(ball)
    own = digest(bpy.data.actions["Roll"])
    _, (motion,) = collected(falling("Ball"))
    assert_shows(ball, motion)
    assert digest(bpy.data.actions["Roll"]) == own and bpy.data.actions["Roll"].use_fake_user
    bpy.context.scene.frame_set(20)
    assert ball.color[3] == pytest.approx(0.5)


def test_what_stays_where_it_is_gets_nothing(hero_here):
    sphere("Ball")
    before = animation()
    written, _ = collected(still("Ball"))
    assert written.props == () and new_actions(before) == ["Wave, simulated"]


def test_what_stays_though_its_keys_say_otherwise_is_kept_there(hero_here):
    ball = sphere("Ball")
    roll(ball)
    written, (motion,) = collected(still("Ball"))
    assert len(written.props) == 1
    assert_shows(ball, motion)


def test_a_projectile_waits_where_it_will_appear(hero_here):
    ball = sphere("Ball", "PROJECTILE", start_frame=9, speed=0.0)
    ball.location = (1, 1, 2)
    for frame, size in ((8, 0.0), (9, 1.0)):  # how animators hide things
        ball.scale = (size, size, size)
        ball.keyframe_insert("scale", frame=frame)
    written, (motion,) = collected(falling("Ball"))
    assert len(written.props) == 1
    assert_shows(ball, motion)
    for frame in (1, 8, 9):
        assert shown(ball, frame)[:3, 3] == pytest.approx([1, 1, 2], abs=1e-5)
    assert shown(ball, 12)[2, 3] < 1.99


def test_the_next_job_sees_the_thing_where_it_was_put(hero_here):
    ball = sphere("Ball", "PROJECTILE", start_frame=5, speed=0.0)
    ball.location = (1, 1, 2)
    for _ in range(2):
        collected(falling("Ball"))
        ball.sinew.start_frame = 15  # when the take has it far down
        (part,) = stage_of(job_of(action="Wave")).props
        assert part.pos == pytest.approx([1, 1, 2], abs=1e-6)
    assert ball.animation_data.action.name == "Ball Wave, Ball dropped 2"


def test_one_that_cannot_be_written_keeps_all_from_it(hero_here):
    sphere("Ball")
    sphere("Cup").location.x = 1.0
    job = job_of(action="Wave")
    finish(job, take_of(job, props=[fall(job, "Ball"), fall(job, "Cup")]))
    bpy.data.objects["Cup"].name = "Mug"
    before = animation()
    with pytest.raises(RigError, match="'Cup'") as caught:
        requests.collect(job)
    assert "old name" in caught.value.hint and animation() == before
    bpy.data.objects["Mug"].name = "Cup"
    assert len(requests.collect(job).props) == 2


def test_tweak_mode_is_refused_before_anything_is_written(hero_here):
    ball = sphere("Ball")
    roll(ball)
    job = job_of(action="Wave")
    finish(job, take_of(job, props=[fall(job, "Ball")]))
    track = ball.animation_data.nla_tracks.new()
    track.strips.new("Roll", 1, bpy.data.actions["Roll"])
    ball.animation_data.action = None
    track.select = track.strips[0].select = True
    ball.animation_data.nla_tracks.active = track
    ball.animation_data.use_tweak_mode = True
    assert ball.animation_data.use_tweak_mode
    before = {action.name for action in bpy.data.actions}
    with pytest.raises(RigError, match="tweak mode"):
        requests.collect(job)
    assert {action.name for action in bpy.data.actions} == before


def test_a_collection_instance_falls_too(hero_here):
    store = bpy.data.collections.new("Store")
    block = mesh("Block", "NONE")
    bpy.context.scene.collection.objects.unlink(block)
    store.objects.link(block)
    empty = bpy.data.objects.new("Crate", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", store
    bpy.context.scene.collection.objects.link(empty)
    on_stage(empty, "PROP")
    _, (motion,) = collected(falling("Crate"))
    assert_shows(empty, motion)


def test_scene_and_selection_are_as_before(hero_here):
    ball = sphere("Ball")
    cart = bpy.data.objects.new("Cart", None)
    bpy.context.scene.collection.objects.link(cart)
    parent(ball, cart)
    other = arm("Other")
    wave(other, "Other")
    bpy.context.scene.frame_set(7)
    place = Matrix(other.matrix_world)
    collected(falling("Ball"))
    assert bpy.context.scene.frame_current == 7 and other.matrix_world == place
    assert bpy.context.view_layer.objects.active == other
