# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures from skeletons, the mannequin's skin, and the stage that it stands on."""

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Matrix, Quaternion, Vector
from mathutils.kdtree import KDTree

from sinew.bridge import mannequin
from sinew.bridge.mannequin.build import dress
from sinew.bridge.rig.armatures import armature_from_skeleton, skeleton_of
from sinew.core.geometry.quaternions import from_rotation_vector, normalize, rotate, to_matrix
from sinew.core.motion import Skeleton
from sinew.core.motion.io import stock


def body_of(armature):
    return next(child for child in armature.children if child.type == "MESH")


def points_of(mesh):
    points = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3).astype(float)


def weights_of(body):
    """(V, G) the weights of every vertex."""
    weights = np.zeros((len(body.data.vertices), len(body.vertex_groups)))
    for vertex in body.data.vertices:
        for entry in vertex.groups:
            weights[vertex.index, entry.group] = entry.weight
    return weights


def some_skeleton(seed=0, bones=24):
    """A tree of bones that point anywhere, far from the stock one."""
    rng = np.random.default_rng(seed)
    parents = [-1] + [int(rng.integers(max(0, i - 3), i)) for i in range(1, bones)]
    return Skeleton(
        tuple(f"bone {i}" for i in range(bones)),
        np.array(parents),
        rng.normal(size=(bones, 3)) * 0.15,
        normalize(rng.normal(size=(bones, 4))),
        rng.uniform(0.08, 0.4, bones),
    )


@pytest.fixture
def dressed(scene):
    return mannequin.build(scene)


@pytest.mark.parametrize(("skeleton", "tolerance"), [(stock.stock_skeleton(), 1e-6), (some_skeleton(), 2e-5)])
def test_bones_rest_as_the_skeleton_does(scene, skeleton, tolerance):
    armature = armature_from_skeleton(skeleton, "Test", scene.collection)
    heads, quats = skeleton.rest_world()
    assert len(armature.data.bones) == len(skeleton)
    for index, name in enumerate(skeleton.names):
        bone = armature.data.bones[name]
        found = np.array(bone.matrix_local)
        assert np.abs(found[:3, :3] - to_matrix(quats[index])).max() < tolerance
        assert np.abs(found[:3, 3] - heads[index]).max() < tolerance
        assert bone.length == pytest.approx(skeleton.lengths[index], abs=1e-5)
        parent = int(skeleton.parents[index])
        assert (bone.parent.name if bone.parent else None) == (skeleton.names[parent] if parent >= 0 else None)
        assert not bone.use_connect


def test_skeleton_of_reads_the_armature_back(scene):
    skeleton = some_skeleton(3)
    found = skeleton_of(armature_from_skeleton(skeleton, "Test", scene.collection).data)
    for name in skeleton.names:
        a, b = skeleton.index(name), found.index(name)
        assert found.rest_world()[0][b] == pytest.approx(skeleton.rest_world()[0][a], abs=1e-5)
        assert to_matrix(found.rest_world()[1][b]) == pytest.approx(to_matrix(skeleton.rest_world()[1][a]), abs=2e-5)


def test_bones_without_length_are_kept(scene):
    skeleton = Skeleton(("a", "b"), np.array([-1, 0]), np.zeros((2, 3)), np.eye(4)[[0, 0]], np.array([0.3, 0.0]))
    armature = armature_from_skeleton(skeleton, "Test", scene.collection)
    assert {bone.name for bone in armature.data.bones} == {"a", "b"}
    mannequin.build(scene, skeleton)


def test_edit_mode_and_selection_of_the_user_stay(scene):
    bpy.ops.wm.read_factory_settings(use_empty=False)
    cube = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="EDIT")
    mannequin.build(bpy.context.scene)
    assert bpy.context.view_layer.objects.active == cube
    assert cube.mode == "EDIT"
    assert bpy.context.selected_objects == [cube]
    assert [s.name for s in bpy.data.scenes] == ["Scene"]


def test_body_is_one_smooth_skin_of_two_materials(dressed):
    mesh = body_of(dressed).data
    assert 3000 <= len(mesh.vertices) <= 8000
    materials = np.array([polygon.material_index for polygon in mesh.polygons])
    assert len(mesh.materials) == 2
    assert min(np.mean(materials == 0), np.mean(materials == 1)) > 0.1
    assert all(polygon.use_smooth for polygon in mesh.polygons)
    assert not mesh.validate()
    # Every edge has a face on both sides, and they look outward: the whole has the volume of a slim person.
    edges = np.zeros(len(mesh.edges), dtype=int)
    np.add.at(edges, [loop.edge_index for loop in mesh.loops], 1)
    assert (edges == 2).all()
    points = points_of(mesh)
    mesh.calc_loop_triangles()
    corners = np.array([points[list(triangle.vertices)] for triangle in mesh.loop_triangles])
    volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert 0.03 < volume < 0.08


def test_weights_are_whole_and_blend_only_between_neighbours(dressed):
    body = body_of(dressed)
    weights = weights_of(body)
    skeleton = stock.stock_skeleton()
    assert [group.name for group in body.vertex_groups] == list(skeleton.names)
    assert np.abs(weights.sum(axis=1) - 1.0).max() < 1e-5
    assert (weights.max(axis=0) == 1.0).all()
    blended = weights[(weights > 0).sum(axis=1) > 1]
    assert len(blended) > 200
    for row in blended:
        first, second = np.flatnonzero(row)
        assert skeleton.parents[second] == first


def test_body_is_symmetric(dressed):
    body = body_of(dressed)
    points, weights = points_of(body.data), weights_of(body)
    names = [group.name for group in body.vertex_groups]
    swap = [names.index({"L": n[:-1] + "R", "R": n[:-1] + "L"}.get(n[-1], n) if "." in n else n) for n in names]
    tree = KDTree(len(points))
    for index, point in enumerate(points):
        tree.insert(point, index)
    tree.balance()
    for index, point in enumerate(points * [-1, 1, 1]):
        # Parts may touch: one of the vertices that are there must be the mirrored one.
        found = [other for _, other, _ in tree.find_range(point, 2e-6)]
        assert any(np.abs(weights[other] - weights[index, swap]).max() < 1e-5 for other in found)


def test_body_stands_on_the_ground(dressed):
    points = points_of(body_of(dressed).data)
    assert abs(points[:, 2].min()) < 3e-3
    assert points[:, 2].max() == pytest.approx(1.619, abs=5e-3)


def test_skin_goes_where_the_bones_go(dressed):
    clip = stock.load_stock("cartwheel")
    pos, quat = clip.world()
    frame = 75
    for index, name in enumerate(clip.skeleton.names):
        pose = Matrix.Translation(Vector(pos[frame, index])) @ Quaternion(quat[frame, index]).to_matrix().to_4x4()
        dressed.pose.bones[name].matrix = pose
        bpy.context.view_layer.update()
    body = body_of(dressed)
    rest, weights = points_of(body.data), weights_of(body)
    posed = points_of(body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
    heads, quats = clip.skeleton.rest_world()
    for index in range(len(clip.skeleton)):
        mine = weights[:, index] == 1.0
        inverse = quats[index] * [1, -1, -1, -1]
        expected = pos[frame, index] + rotate(quat[frame, index], rotate(inverse, rest[mine] - heads[index]))
        assert np.abs(posed[mine] - expected).max() < 1e-4
    # Blended skin stays near its joint instead of flying off.
    blended = weights.max(axis=1) < 1.0
    distance = np.linalg.norm(posed[blended, None] - pos[frame][None], axis=2).min(axis=1)
    assert distance.max() < 0.25


def test_same_mannequin_every_time_and_at_every_size(scene):
    first, second = (points_of(body_of(mannequin.build(scene)).data) for _ in range(2))
    assert np.array_equal(first, second)
    small = stock.stock_skeleton()
    big = Skeleton(small.names, small.parents, small.rest_pos * 1.25, small.rest_quat_wxyz, small.lengths * 1.25)
    assert points_of(body_of(mannequin.build(scene, big)).data) == pytest.approx(first * 1.25, abs=1e-4)


def test_any_skeleton_gets_capsules(scene):
    some = some_skeleton(5)
    ends = np.array([[0.0, some.lengths[parent], 0.0] if parent >= 0 else [0.0, 0.0, 0.0] for parent in some.parents])
    skeleton = Skeleton(some.names, some.parents, ends, some.rest_quat_wxyz, some.lengths)
    body = body_of(mannequin.build(scene, skeleton, "Other"))
    points, weights = points_of(body.data), weights_of(body)
    assert np.abs(weights.sum(axis=1) - 1.0).max() < 1e-6
    heads, quats = skeleton.rest_world()
    for bone in range(len(skeleton)):
        mine = points[weights[:, bone] > 0.5]
        along = (mine - heads[bone]) @ to_matrix(quats[bone])[:, 1]
        assert len(mine) > 50
        assert along.max() == pytest.approx(skeleton.lengths[bone], abs=0.25 * skeleton.lengths[bone])


def test_control_bones_are_left_bare(scene):
    skeleton = some_skeleton(5)
    armature = armature_from_skeleton(skeleton, "Rig", scene.collection)
    armature.data.bones["bone 3"].use_deform = False
    body = dress(armature, skeleton)
    weights = weights_of(body)
    assert not weights[:, 3].any()
    assert weights[:, 4].any()


def test_camera_of_the_set_sees_the_whole_motion(scene):
    armature = mannequin.build(scene)
    root = armature.pose.bones["pelvis"]
    for frame, place in ((1, (0.0, 0.0, 0.0)), (40, (1.5, 0.7, 3.0))):
        root.location = place
        root.keyframe_insert("location", frame=frame)
    turn = armature.pose.bones["upper_arm.L"]
    turn.rotation_quaternion = Quaternion(from_rotation_vector(np.array([0.0, 0.0, 2.0])))
    scene.frame_start, scene.frame_end = 1, 40
    scene.frame_set(7)
    stage = mannequin.build_set(scene)
    assert scene.frame_current == 7
    assert scene.camera == stage.camera
    assert scene.world is not None
    seen = []
    for frame in range(1, 41, 3):
        scene.frame_set(frame)
        ends = [end for bone in armature.pose.bones for end in (bone.head, bone.tail)]
        seen += [world_to_camera_view(scene, stage.camera, armature.matrix_world @ end) for end in ends]
    seen = np.array(seen)
    assert (seen[:, :2] > 0.0).all()
    assert (seen[:, :2] < 1.0).all()
    assert (seen[:, 2] > 0.0).all()
    # As near as it can be: something reaches the margin.
    assert max(seen[:, :2].max(), 1.0 - seen[:, :2].min()) > 0.8
    corners = np.array([stage.ground.matrix_world @ vertex.co for vertex in stage.ground.data.vertices])
    assert (corners[:, 2] == 0.0).all()
    assert corners.min() < -20.0
    assert corners.max() > 20.0


def test_set_keeps_the_users_world(scene):
    scene.world = bpy.data.worlds.new("Mine")
    mannequin.build_set(scene, (np.array([-1.0, -1.0, 0.0]), np.array([1.0, 1.0, 2.0])))
    assert scene.world.name == "Mine"


def test_bones_whose_own_axis_points_anywhere_are_dressed_from_joint_to_joint(scene):
    """As those of FBX files are: a leg straight down, whose bones have +X along it, and +Y to the side."""
    places = np.array([[0.0, 0.0, 1.0], [0.45, 0.0, 0.0], [0.4, 0.0, 0.0]])
    half = np.sqrt(0.5)
    quats = np.array([[half, 0.0, half, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])  # +X of the first is down
    skeleton = Skeleton(("thigh", "shin", "foot"), np.array([-1, 0, 1]), places, quats, np.array([0.45, 0.4, 0.1]))
    heads, _ = skeleton.rest_world()
    assert heads[2] == pytest.approx([0.0, 0.0, 0.15], abs=1e-6)
    points = points_of(body_of(mannequin.build(scene, skeleton)).data)
    assert np.abs(points[:, :2]).max() < 0.05  # nothing reaches to the side
    assert points[:, 2].max() == pytest.approx(1.0, abs=0.05) and 0.05 < points[:, 2].min() < 0.15
