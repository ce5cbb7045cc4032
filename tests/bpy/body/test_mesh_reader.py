# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh that is fitted is the one that Blender shows at rest; what cannot be fitted is refused by name."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from sinew.bridge.body.mesh_reader import read_mesh
from sinew.bridge.body.mesh_surface import compute_outer_areas
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.errors import RigError

from ..helpers.rigs import arm
from ..helpers.skinned_meshes import skin, tube


def posed(armature):
    """Bent out of rest, as an animator leaves it: none of it may show in what is read."""
    for bone in armature.pose.bones:
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (0.7, -0.2, 0.4)
    armature.pose.bones[0].location = (0.3, 0.1, -0.2)
    bpy.context.view_layer.update()
    return armature


@pytest.fixture
def rig(scene):
    return posed(arm())


def read(armature):
    """The mesh and the rig that it was read with."""
    rig = read_rig(armature, frames=(1, 2))
    return read_mesh(armature, rig.clip.skeleton, rig.metres_per_unit), rig


def shown_at_rest(armature, *meshes):
    """(V, 3) metres: where Blender shows the vertices in rest position, seen from where the armature stands."""
    armature.data.pose_position = "REST"
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = []
    for mesh in meshes:
        evaluated = mesh.evaluated_get(depsgraph)
        found += [evaluated.matrix_world @ vertex.co for vertex in evaluated.to_mesh().vertices]
        evaluated.to_mesh_clear()
    armature.data.pose_position = "POSE"
    away = np.array(found) - np.array(armature.matrix_world.translation)
    return away * bpy.context.scene.unit_settings.scale_length


def assert_lands_where_it_shows(armature, *meshes):
    mesh, rig = read(armature)
    assert mesh.vertices == pytest.approx(shown_at_rest(armature, *meshes), abs=2e-5)
    # The bones of the same rig run through the middle of it.
    heads, _ = rig.clip.skeleton.rest_world()
    reach = np.linalg.norm(mesh.vertices[:, None] - heads[None], axis=-1).min(0)
    assert reach.max() < 1.2 * np.linalg.norm(mesh.vertices[0] - heads[0])
    return mesh


def test_a_plain_character_is_read_as_it_shows_at_rest(rig):
    body = skin(tube(), rig)
    mesh = assert_lands_where_it_shows(rig, body)
    assert mesh.weights.shape == (56, 3)
    assert mesh.weights.sum(1) == pytest.approx(np.ones(56))
    assert mesh.weights.argmax(1).tolist() == [min(int(v.co.z / 0.5), 2) for v in body.data.vertices]
    assert rig.data.pose_position == "POSE"


@pytest.mark.parametrize(
    ("scale", "turn", "place"),
    [
        ((0.01, 0.01, 0.01), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ((1.0, 1.0, 1.0), (np.pi / 2, 0.3, 2.0), (3.0, -4.0, 1.0)),
        ((2.0, 1.5, 0.5), (0.4, 0.0, 1.0), (0.0, 1.0, 0.0)),
    ],
)
def test_the_armatures_own_scale_and_place_are_in_it(rig, scale, turn, place):
    body = skin(tube(), rig)
    rig.scale, rig.rotation_euler, rig.location = scale, turn, place
    assert_lands_where_it_shows(rig, body)


def test_the_meshs_own_scale_and_place_are_in_it(rig):
    """A mesh made in centimetres and lying on its back, put right by its object."""
    body = tube()
    put_right = Matrix.LocRotScale((0.2, 0.0, 0.1), Euler((np.pi / 2, 0.0, 0.5)), (0.01, 0.01, 0.01))
    body.data.transform(put_right.inverted())
    body.matrix_world = put_right
    bpy.context.view_layer.update()
    skinned = skin(body, rig, parent=False)
    mesh = assert_lands_where_it_shows(rig, skinned)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([0.2, 0.2, 1.5], abs=1e-4)


def test_the_scenes_unit_scale_is_in_it(rig):
    bpy.context.scene.unit_settings.scale_length = 0.01
    body = skin(tube(), rig)
    mesh = assert_lands_where_it_shows(rig, body)
    assert np.ptp(mesh.vertices[:, 2]) == pytest.approx(0.015, abs=1e-5)


def test_a_mesh_that_is_only_parented_with_its_weights_is_read_too(rig):
    """Ctrl+P > Armature Deform without a modifier of its own, as old files have it."""
    body = skin(tube(), rig)
    body.modifiers.clear()
    body.parent, body.parent_type = rig, "ARMATURE"
    assert_lands_where_it_shows(rig, body)


def test_a_mesh_under_an_empty_under_the_armature_is_read(rig):
    group = bpy.data.objects.new("Group", None)
    bpy.context.scene.collection.objects.link(group)
    group.parent, group.location = rig, (0.0, 0.05, 0.0)
    body = skin(tube(), rig, parent=False)
    body.parent = group
    assert_lands_where_it_shows(rig, body)


def test_modifiers_before_the_armature_are_in_it(rig):
    half = skin(tube(), rig)
    for vertex in half.data.vertices:
        vertex.co.x = abs(vertex.co.x) + 0.01
    mirror = half.modifiers.new("Mirror", "MIRROR")
    mirror.use_mirror_merge = False
    smooth = half.modifiers.new("Subdivision", "SUBSURF")
    smooth.levels = 1
    bpy.context.view_layer.objects.active = half
    half.modifiers.move(2, 0)
    half.modifiers.move(2, 0)
    mesh = assert_lands_where_it_shows(rig, half)
    assert len(mesh.vertices) > 4 * 56
    assert mesh.vertices[:, 0].min() == pytest.approx(-mesh.vertices[:, 0].max(), abs=1e-5)
    assert mesh.weights.any(1).all()  # what modifiers add has weights as well


def test_rigid_parts_on_bones_are_read_whole(rig):
    part = tube("Part", height=0.3)
    part.parent, part.parent_type, part.parent_bone = rig, "BONE", "bone1"
    part.location, part.rotation_euler = (0.0, 0.1, 0.2), (0.3, 0.0, 0.0)
    button = tube("Button", radius=0.02, height=0.05)
    button.parent = part  # which hangs on the bone in turn
    mesh, _ = read(rig)
    assert mesh.vertices == pytest.approx(shown_at_rest(rig, part, button), abs=2e-5)
    assert (mesh.weights == np.array([0.0, 1.0, 0.0])).all()


def test_two_meshes_on_one_armature_are_both_read(rig):
    body, hat = skin(tube(), rig), skin(tube("Hat", radius=0.2), rig)
    mesh = assert_lands_where_it_shows(rig, body, hat)
    assert len(mesh.vertices) == 112
    assert np.linalg.norm(mesh.vertices[:56, :2], axis=1) == pytest.approx(np.full(56, 0.1), abs=1e-4)
    assert np.linalg.norm(mesh.vertices[56:, :2], axis=1) == pytest.approx(np.full(56, 0.2), abs=1e-4)


def test_what_lies_under_another_mesh_has_no_area(rig):
    inner, outer = skin(tube(height=1.2), rig), skin(tube("Coat", radius=0.2), rig)
    inner.data.transform(Matrix.Translation((0.0, 0.0, 0.15)))
    mesh, _ = read(rig)
    assert not mesh.areas[:56].any()
    assert mesh.areas[56:].all()
    wanted = np.sum([face.area for face in outer.data.polygons])
    assert mesh.areas.sum() == pytest.approx(wanted, rel=1e-3)


def test_areas_do_not_depend_on_which_way_faces_look(scene):
    obj = tube()
    points = np.array([vertex.co for vertex in obj.data.vertices])
    obj.data.calc_loop_triangles()
    triangles = np.array([list(triangle.vertices) for triangle in obj.data.loop_triangles])
    np.testing.assert_allclose(
        compute_outer_areas(points, triangles), compute_outer_areas(points, triangles[:, ::-1]), rtol=1e-6
    )


def test_a_heavy_mesh_is_looked_at_in_part(scene, monkeypatch):
    obj = tube(rings=40)
    points = np.array([vertex.co for vertex in obj.data.vertices])
    obj.data.calc_loop_triangles()
    triangles = np.array([list(triangle.vertices) for triangle in obj.data.loop_triangles])
    monkeypatch.setattr("sinew.bridge.body.mesh_surface._MOST_VERTICES", 100)
    assert 60 <= np.count_nonzero(compute_outer_areas(points, triangles)) <= 100


def test_other_meshes_are_none_of_its_business(rig):
    tube("Ground")
    other = arm("Other")
    skin(tube("Theirs"), other)
    prop = tube("Prop")
    prop.parent = rig
    assert read(rig)[0] is None
    skin(tube(), rig)
    assert len(read(rig)[0].vertices) == 56


def test_a_mesh_without_skinning_is_refused_by_name(rig):
    body = tube("Knight")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    with pytest.raises(RigError, match="'Knight' has no weights for the bones of 'Arm'") as refused:
        read(rig)
    assert "With Automatic Weights" in refused.value.hint


def test_a_mesh_skinned_to_bones_that_are_not_there_is_refused_by_name(rig):
    body = skin(tube("Knight"), rig)
    for group in body.vertex_groups:
        group.name = f"mixamorig:{group.name}"
    with pytest.raises(RigError, match="'Knight' has no weights"):
        read(rig)


@pytest.mark.parametrize("scale", [100.0, 20.0])
def test_a_mesh_of_another_size_than_its_armature_is_refused_by_name(rig, scale):
    body = skin(tube("Knight"), rig)
    body.scale = (scale, scale, scale)
    with pytest.raises(RigError, match=f"'Knight' is {scale:.3g} times as large as armature 'Arm'") as refused:
        read(rig)
    assert "Apply > Scale" in refused.value.hint


def test_a_huge_mesh_beside_a_good_one_is_the_one_that_is_named(rig):
    skin(tube("Knight"), rig)
    skin(tube("Cape"), rig).scale = (100.0, 100.0, 100.0)
    with pytest.raises(RigError, match="'Cape' is"):
        read(rig)


def test_a_mesh_with_a_negative_scale_is_refused_by_name(rig):
    skin(tube("Knight"), rig).scale = (-1.0, 1.0, 1.0)
    with pytest.raises(RigError, match="Mesh 'Knight' is mirrored by a negative scale") as refused:
        read(rig)
    assert "Apply > Scale" in refused.value.hint


def test_an_armature_with_a_negative_scale_is_the_one_that_is_named(rig):
    skin(tube("Knight"), rig)
    skeleton = read_rig(rig, frames=(1, 2)).clip.skeleton
    rig.scale = (-1.0, 1.0, 1.0)
    with pytest.raises(RigError, match="Armature 'Arm' is mirrored by a negative scale") as refused:
        read_mesh(rig, skeleton)
    assert "Apply > Scale" in refused.value.hint


def test_a_mesh_without_vertices_is_refused_by_name(rig):
    empty = bpy.data.objects.new("Nothing", bpy.data.meshes.new("Nothing"))
    bpy.context.scene.collection.objects.link(empty)
    empty.modifiers.new("Armature", "ARMATURE").object = rig
    with pytest.raises(RigError, match="'Nothing' has no vertices") as refused:
        read(rig)
    assert refused.value.hint
    skin(tube(), rig)  # beside a good one it does no harm
    assert len(read(rig)[0].vertices) == 56


def test_a_refusal_leaves_the_armature_as_it_was(rig):
    skin(tube("Knight"), rig).scale = (-1.0, 1.0, 1.0)
    before = np.array(rig.pose.bones[2].matrix)
    with pytest.raises(RigError):
        read(rig)
    assert rig.data.pose_position == "POSE"
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(np.array(rig.pose.bones[2].matrix), before)
