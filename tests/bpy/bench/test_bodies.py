# SPDX-License-Identifier: GPL-3.0-or-later
"""Real characters: the fitted body is near the mesh, symmetric, weighs what it should, and holds together."""

from types import SimpleNamespace

import bmesh
import bpy
import numpy as np
import pytest

from sinew.bench import bodies
from sinew.bridge.body.mesh_reader import read_mesh
from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.body import build_body
from sinew.core.body.fit_shapes import shape_distance
from sinew.core.body.sagittal_plane import find_sagittal_plane
from sinew.core.geometry.quaternions import conjugate, rotate

from ...stock_clips import needs_stock

SCALES = {"Fox.glb": 0.01}
_fitted: dict[str, SimpleNamespace] = {}


def character(name: str, folder) -> SimpleNamespace:
    """The character opened, and its body fitted once for all tests: skeleton, mesh, body, report."""
    if name not in _fitted:
        open_input(str(folder / "skinned" / name) if name.endswith(".glb") else name, SCALES.get(name, 1.0))
        armature = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
        rig = read_rig(armature)
        mesh = read_mesh(armature, rig.clip.skeleton, rig.metres_per_unit)
        body, report = build_body(rig.clip.skeleton, clip=rig.clip, mesh=mesh)
        volume = sum(_volume(obj) for obj in bpy.context.scene.objects if obj.find_armature() == armature)
        _fitted[name] = SimpleNamespace(mesh=mesh, body=body, report=report, mesh_volume=volume)
    return _fitted[name]


def _volume(obj: bpy.types.Object) -> float:
    """Cubic metres inside the mesh; it moves nothing, as rest and posed skins have about the same."""
    made = bmesh.new()
    made.from_mesh(obj.data)
    made.transform(obj.matrix_world)
    volume = made.calc_volume(signed=True)
    made.free()
    return volume


def local(body, link, points):
    """World points (V, 3) at rest in the frame of a link."""
    heads, quats = body.skeleton.rest_world()
    index = body.skeleton.index(link.bone)
    return rotate(conjugate(quats[index]), points - heads[index])


def vertices_of(found, link_index: int) -> np.ndarray:
    """(V, 3) the outer vertices of which at least 70 % are the link's and those of the bones that ride on it."""
    body, mesh = found.body, found.mesh
    holder = []
    for bone, name in enumerate(body.skeleton.names):
        parent = body.skeleton.parents[bone]
        own = body.link_of(name)
        holder.append(own if own >= 0 else holder[parent] if parent >= 0 else -1)
    share = mesh.weights[:, np.array(holder) == link_index].sum(1)
    return mesh.vertices[(share >= 0.7) & (mesh.areas > 0.0)]


PEOPLE = ["arnaud_walk_mocap.glb", "mannequiny.glb"]


@pytest.fixture(params=PEOPLE)
def person(request, shared_mocap):
    return character(request.param, shared_mocap)


def test_every_surface_is_within_2_cm_of_the_vertices_it_stands_for(person):
    for index, link in enumerate(person.body.links):
        points = vertices_of(person, index)
        assert len(points) >= 10, link.bone
        off = np.min([np.abs(shape_distance(shape, local(person.body, link, points))) for shape in link.shapes], axis=0)
        assert np.sqrt(np.mean(off**2)) < 0.02, link.bone
    assert all("mesh" in link.solid for link in person.report.links)  # none was left to the tables


def test_the_two_sides_agree_within_5_percent(person):
    assert bodies._asymmetry(person.body) < 0.05
    mirror = find_sagittal_plane(person.body)
    heads, quats = person.body.skeleton.rest_world()
    place = {}
    for link in person.body.links:
        index = person.body.skeleton.index(link.bone)
        place[link.role, link.side] = heads[index] + rotate(quats[index], link.shapes[0].pos)
    for role, side in list(place):
        if side == "L":
            assert place[role, "L"] == pytest.approx(mirror.points(place[role, "R"][None])[0], abs=1e-6), role


def test_the_mass_is_that_of_the_union_at_the_bodys_density(person):
    """By points all over the place, not by the voxels that it was weighed with."""
    low, high = person.mesh.vertices.min(0) - 0.1, person.mesh.vertices.max(0) + 0.1
    # Spread far more evenly than at random: multiples of irrational steps (the plastic number's, for three axes).
    steps = 1.2207440846057596 ** -np.arange(1.0, 4.0)
    points = low + (high - low) * ((0.5 + np.arange(150_000)[:, None] * steps) % 1.0)
    inside = np.zeros(len(points), dtype=bool)
    for link in person.body.links:
        own = local(person.body, link, points)
        for shape in link.shapes:
            inside |= shape_distance(shape, own) < 0.0
    union = float(np.prod(high - low)) * inside.mean()
    assert person.body.mass == pytest.approx(985.0 * union, rel=0.02)


def test_a_man_with_a_closed_skin_weighs_what_fits_into_it(shared_mocap):
    found = character("arnaud_walk_mocap.glb", shared_mocap)
    assert found.body.mass == pytest.approx(985.0 * found.mesh_volume, rel=0.05)


def test_soles_are_where_the_mesh_touches_the_ground(person):
    ground = person.mesh.vertices[:, 2].min()
    heads, quats = person.body.skeleton.rest_world()
    for link in person.body.links:
        if link.role in ("foot", "toe"):
            points = vertices_of(person, person.body.link_of(link.bone))
            box = link.shapes[0]
            corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * box.size
            index = person.body.skeleton.index(link.bone)
            world = heads[index] + rotate(quats[index], rotate(box.quat_wxyz, corners) + box.pos)
            assert world[:, 2].min() == pytest.approx(points[:, 2].min(), abs=0.005), link.bone
            assert world[:, 2].min() == pytest.approx(ground, abs=0.008), link.bone
            assert len(np.unique(world[:, 2].round(5))) == 2, f"{link.bone} is not level"


@pytest.mark.parametrize("name", ["mannequiny.glb", "Fox.glb", "RobotExpressive.glb"])
def test_a_fitted_body_held_in_its_rest_pose_stays_whole(name, shared_mocap):
    found = character(name, shared_mocap)
    result = bodies.hold_rest_pose(found.body)
    assert result["finite"]
    assert result["largest_gap_m"] < 1e-6
    size = float(np.ptp(found.mesh.vertices, axis=0).max())
    assert result["largest_speed_m_s"] < 2.0 * np.sqrt(9.81 * size)  # it may topple, which is no faster than this


@needs_stock
def test_the_mannequin_of_the_stock_clips_is_fitted_well():
    found = character("walk", None)
    assert 35.0 < found.body.mass < 60.0
    worst = [
        np.sqrt(np.mean(shape_distance(link.shapes[0], local(found.body, link, vertices_of(found, index))) ** 2))
        for index, link in enumerate(found.body.links)
    ]
    assert max(worst) < 0.02
    assert bodies._asymmetry(found.body) < 0.01
