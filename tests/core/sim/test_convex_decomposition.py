# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex pieces: what is convex stays exact, what is not is taken apart well, what fails falls back with a word."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay

from sinew.core.child_python import call_arguments
from sinew.core.errors import BadStage
from sinew.core.sim import convex_decomposition
from sinew.core.sim.convex_decomposition import MOST_CORNERS, decompose_convex
from sinew.core.sim.stage_parts import Mesh


def box(low, high):
    """A closed box, faces outward."""
    low, high = np.array(low, float), np.array(high, float)
    corners = low + (high - low) * np.array(list(itertools.product((0, 1), repeat=3)))
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Mesh(corners, [tri for a, b, c, d in quads for tri in ((a, b, c), (a, c, d))])


def joined(*meshes):
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([start + mesh.triangles for start, mesh in zip(starts, meshes, strict=False)]),
    )


def inside_out(mesh):
    return Mesh(mesh.vertices, mesh.triangles[:, ::-1])


def without(mesh, direction):
    """The mesh without the faces that look that way."""
    corners = mesh.vertices[mesh.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return Mesh(mesh.vertices, mesh.triangles[normal @ direction <= 1e-9])


def extruded(profile, depth):
    """A closed prism over a polygon (N, 2) that its first corner sees whole, counter-clockwise in x and z."""
    profile = np.array(profile, float)
    count = len(profile)
    front = np.insert(profile, 1, 0.0, axis=1)
    side = np.arange(count)
    after = (side + 1) % count
    fan = np.stack([np.zeros(count - 2, int), side[1:-1], side[2:]], -1)
    walls = [np.stack([side, side + count, after], -1), np.stack([after, side + count, after + count], -1)]
    return Mesh(np.concatenate([front, front + [0.0, depth, 0.0]]), np.concatenate([fan, fan[:, ::-1] + count, *walls]))


def ell():
    return extruded([(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1)], 0.3)


def is_in_ell(points):
    x, y, z = points.T
    return (y > 0) & (y < 0.3) & (x > 0) & (z > 0) & (((x < 1) & (z < 0.3)) | ((x < 0.3) & (z < 1)))


def table():
    legs = [box((x - 0.04, y - 0.04, 0), (x + 0.04, y + 0.04, 0.72)) for x in (-0.7, 0.7) for y in (-0.4, 0.4)]
    return joined(box((-0.8, -0.5, 0.7), (0.8, 0.5, 0.74)), *legs)


def ball(rings=60):
    """Many points on a sphere, as a closed mesh."""
    number = np.arange(rings**2) + 0.5
    z, turn = 1 - 2 * number / rings**2, np.pi * (1 + np.sqrt(5)) * number
    ring = np.sqrt(1 - z**2)
    hull = ConvexHull(np.stack([ring * np.cos(turn), ring * np.sin(turn), z], -1))
    corners = hull.points[hull.simplices]
    out = np.einsum("fi,fi->f", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), corners[:, 0])
    return Mesh(hull.points, np.where(out[:, None] > 0, hull.simplices, hull.simplices[:, ::-1]))


def in_pieces(pieces, points):
    return np.any([Delaunay(piece).find_simplex(points) >= 0 for piece in pieces], axis=0)


def agreement(pieces, is_in, low, high):
    """Volume that both have over volume that either has, by random points."""
    points = np.random.default_rng(0).uniform(low, high, (20_000, 3))
    ours, theirs = in_pieces(pieces, points), is_in(points)
    return np.sum(ours & theirs) / np.sum(ours | theirs)


def no_library(*_):
    raise AssertionError("This needs no decomposition")


@pytest.fixture
def exactly(monkeypatch):
    """Nothing may go to CoACD."""
    monkeypatch.setattr(convex_decomposition, "_decompose", no_library)


@pytest.mark.usefixtures("exactly")
@pytest.mark.parametrize("mesh", [box((0, 0, 0), (1, 2, 3)), inside_out(box((0, 0, 0), (1, 2, 3)))])
def test_a_box_stays_a_box(mesh):
    pieces, findings = decompose_convex("Box", mesh)
    assert len(pieces) == 1 and findings == ()
    assert {tuple(corner) for corner in pieces[0]} == set(itertools.product((0, 1), (0, 2), (0, 3)))


@pytest.mark.usefixtures("exactly")
def test_loose_convex_parts_stay_exact_whichever_way_one_of_them_faces():
    mesh = table()
    turned = Mesh(mesh.vertices, np.concatenate([mesh.triangles[:48], mesh.triangles[48:, ::-1]]))
    for each in (mesh, turned):
        pieces, findings = decompose_convex("Table", each)
        assert len(pieces) == 5 and {len(piece) for piece in pieces} == {8} and findings == ()


@pytest.mark.usefixtures("exactly")
def test_vertices_that_an_importer_split_at_every_face_are_one_part():
    mesh = box((0, 0, 0), (1, 1, 1))
    split = Mesh(mesh.vertices[mesh.triangles.ravel()], np.arange(36))
    pieces, findings = decompose_convex("Crate", split)
    assert len(pieces) == 1 and len(pieces[0]) == 8 and findings == ()


@pytest.mark.usefixtures("exactly")
def test_a_box_without_its_bottom_is_solid_and_says_so():
    pieces, findings = decompose_convex("Block", without(box((0, 0, 0), (1, 1, 1)), (0, 0, -1)))
    assert len(pieces) == 1 and ConvexHull(pieces[0]).volume == pytest.approx(1.0)
    assert [finding.kind for finding in findings] == ["mesh_open"] and "'Block'" in findings[0].message


@pytest.mark.usefixtures("exactly")
def test_a_round_thing_has_few_corners_and_keeps_its_size():
    pieces, _ = decompose_convex("Ball", ball())
    assert len(pieces) == 1 and len(pieces[0]) <= MOST_CORNERS
    assert ConvexHull(pieces[0]).volume == pytest.approx(4 / 3 * np.pi, rel=0.08)


def test_an_ell_is_taken_apart():
    pieces, findings = decompose_convex("Ell", ell())
    assert len(pieces) == 2 and findings == ()
    assert agreement(pieces, is_in_ell, (-0.1, -0.1, -0.1), (1.1, 0.4, 1.1)) > 0.97


def test_the_same_mesh_gives_the_same_pieces():
    first, second = (decompose_convex("Ell", ell())[0] for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_a_room_stays_hollow(monkeypatch):
    monkeypatch.setattr(convex_decomposition, "ACCURACY_M", 0.1)  # quicker
    room = joined(box((0, 0, 0), (2, 2, 2)), inside_out(box((0.3, 0.3, 0.3), (1.7, 1.7, 1.7))))
    pieces, _ = decompose_convex("Room", room)
    assert not in_pieces(pieces, np.array([[1.0, 1.0, 1.0]])).any()
    assert in_pieces(pieces, np.array([[0.15, 1.0, 1.0], [1.85, 1.0, 1.0], [1.0, 1.0, 0.15]])).all()


def test_a_failing_library_leaves_a_hull_and_a_word(monkeypatch):
    monkeypatch.setattr(convex_decomposition, "_options", lambda part: {"no_such_option": 1})
    pieces, findings = decompose_convex("Ell", ell())
    assert len(pieces) == 1 and ConvexHull(pieces[0]).volume == pytest.approx(ConvexHull(ell().vertices).volume)
    assert [finding.kind for finding in findings] == ["mesh_hull"]
    assert "'Ell'" in findings[0].message and "Decimate" in findings[0].hint


def test_a_library_that_takes_too_long_is_ended():
    pieces, findings = decompose_convex("Ell", ell(), time_limit_s=0.0)
    assert len(pieces) == 1 and "too long" in findings[0].message


def test_a_missing_library_is_named(monkeypatch):
    def without_coacd(*words):
        option, code, *rest = call_arguments(*words)
        return [option, f"import sys; sys.modules['coacd'] = None; {code}", *rest]

    monkeypatch.setattr(convex_decomposition, "call_arguments", without_coacd)
    _, findings = decompose_convex("Ell", ell())
    assert "CoACD is not installed" in findings[0].message and "pip install coacd" in findings[0].hint


def test_a_cancel_ends_the_work():
    class Stop(BaseException):
        pass

    def stop():
        raise Stop

    with pytest.raises(Stop):
        decompose_convex("Ell", ell(), while_waiting=stop)


def test_many_pieces_are_told(monkeypatch):
    monkeypatch.setattr(convex_decomposition, "MANY_PIECES", 4)
    _, findings = decompose_convex("Table", table())
    assert [finding.kind for finding in findings] == ["mesh_pieces"] and "5 convex pieces" in findings[0].message


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]]), "no volume"),
        (Mesh([[0, 0, 0], [1, 0, 0]], np.zeros((0, 3))), "no faces"),
        (Mesh(np.zeros((4, 3)), [[0, 1, 2], [1, 2, 3]]), "no faces"),
    ],
)
def test_what_is_no_solid_is_refused(mesh, words):
    with pytest.raises(BadStage, match=f"'Sheet' has {words}") as caught:
        decompose_convex("Sheet", mesh)
    assert caught.value.hint
