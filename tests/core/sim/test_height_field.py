# SPDX-License-Identifier: GPL-3.0-or-later
"""Height fields from meshes: right heights, from any mesh, with what hangs over told."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sinew.core.errors import BadStage
from sinew.core.sim import height_field
from sinew.core.sim.height_field import MARGIN_M, MOST_SAMPLES, build_height_field
from sinew.core.sim.stage_parts import Mesh

ROOT = Path(__file__).resolve().parents[3]


def surface(heights, size=4.0, count=30):
    """A square mesh of count x count vertices with z = heights(x, y)."""
    side = np.linspace(-size / 2, size / 2, count)
    x, y = np.meshgrid(side, side)
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    faces = [
        np.stack([corner, corner + 1, corner + count], -1),
        np.stack([corner + 1, corner + count + 1, corner + count], -1),
    ]
    return Mesh(np.stack([x, y, heights(x, y)], -1).reshape(-1, 3), np.concatenate(faces))


def joined(*meshes):
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([start + mesh.triangles for start, mesh in zip(starts, meshes, strict=False)]),
    )


def at(field, x, y):
    """The height of the grid point nearest to x, y, and where that is."""
    column, row = round((x - field.origin[0]) / field.spacing), round((y - field.origin[1]) / field.spacing)
    place = field.origin[0] + column * field.spacing, field.origin[1] + row * field.spacing
    return field.heights[row, column], place


def grid_of(field):
    rows, columns = field.heights.shape
    return np.meshgrid(
        field.origin[0] + field.spacing * np.arange(columns), field.origin[1] + field.spacing * np.arange(rows)
    )


@pytest.mark.parametrize("turned", [False, True])
def test_a_slope_is_met_exactly_whichever_way_its_faces_wind(turned):
    mesh = surface(lambda x, y: 0.3 * x - 0.2 * y + 1.0)
    if turned:
        mesh = Mesh(mesh.vertices, mesh.triangles[:, ::-1])
    field, findings = build_height_field({"Slope": mesh})
    x, y = grid_of(field)
    inside = (np.abs(x) <= 2.0) & (np.abs(y) <= 2.0)
    assert inside.sum() > 1000
    np.testing.assert_allclose(field.heights[inside], (0.3 * x - 0.2 * y + 1.0)[inside], atol=1e-9)
    assert findings == ()


def test_around_the_mesh_the_ground_goes_on_level():
    field, _ = build_height_field({"Slope": surface(lambda x, y: 0.5 * x)})
    x, y = grid_of(field)
    assert x.max() >= 2.0 + MARGIN_M and x.min() <= -2.0 - MARGIN_M + 1e-9
    beside = (np.abs(y) < 1.9) & (x > 2.1)
    np.testing.assert_allclose(field.heights[beside], 1.0, atol=0.5 * field.spacing)


def test_holes_and_corners_are_filled_from_beside():
    mesh = surface(lambda x, y: np.full_like(x, 2.0))
    middle = mesh.vertices[mesh.triangles].mean(axis=1)
    round_with_hole = (np.hypot(*middle[:, :2].T) < 1.9) & (np.hypot(*middle[:, :2].T) > 0.7)
    field, _ = build_height_field({"Ring": Mesh(mesh.vertices, mesh.triangles[round_with_hole])})
    np.testing.assert_allclose(field.heights, 2.0)


def test_the_nearest_surface_goes_on_along_row_or_column():
    mesh = surface(lambda x, y: np.where(x > -0.05, 1.0, 0.0), count=41)
    middle = mesh.vertices[mesh.triangles].mean(axis=1)
    without_corner = ~((middle[:, 0] < 0.0) & (middle[:, 1] > 0.0))
    field, _ = build_height_field({"Ell": Mesh(mesh.vertices, mesh.triangles[without_corner])})
    assert at(field, -0.3, 1.5)[0] == pytest.approx(1.0), "beside the high arm"
    assert at(field, -1.5, 0.3)[0] == pytest.approx(0.0), "behind the low arm"


def test_a_cliff_stays_within_its_own_heights():
    mesh = surface(lambda x, y: np.where(x > 0.0, 5.0, 0.0), count=2)
    cliff = Mesh([[0, -1, 0], [0, 1, 0], [1e-9, 1, 5], [1e-9, -1, 5]], [[0, 1, 2], [0, 2, 3]])
    field, _ = build_height_field(
        {"Cliff": joined(mesh, Mesh(cliff.vertices + [-0.4 - 4e-8, 0.0, 0.0], cliff.triangles))}
    )
    assert field.heights.min() >= 0.0 and field.heights.max() <= 5.0


def test_the_topmost_surface_counts_and_an_overhang_is_told():
    ground = surface(lambda x, y: np.zeros_like(x))
    bridge = Mesh(surface(lambda x, y: np.full_like(x, 1.5), size=1.0).vertices + [0.5, 0.0, 0.0], ground.triangles)
    field, findings = build_height_field({"Hill": joined(ground, bridge)})
    assert at(field, 0.5, 0.0)[0] == pytest.approx(1.5)
    assert at(field, -1.0, 0.0)[0] == pytest.approx(0.0)
    assert [finding.kind for finding in findings] == ["terrain_overhang"]
    assert "'Hill'" in findings[0].message and "obstacle" in findings[0].hint


def test_a_bridge_of_its_own_hangs_over_and_a_mound_does_not():
    ground = surface(lambda x, y: np.zeros_like(x))
    bridge = surface(lambda x, y: np.full_like(x, 1.5), size=1.0)
    under = Mesh(bridge.vertices - [0.0, 0.0, 2.0], bridge.triangles[:, ::-1])
    for names in (("Ground", "Bridge"), ("Bridge", "Ground")):
        _, findings = build_height_field({name: {"Ground": ground, "Bridge": bridge}[name] for name in names})
        assert [finding.kind for finding in findings] == ["terrain_overhang"]
        field, findings = build_height_field(
            {name: {"Ground": ground, "Bridge": joined(bridge, under)}[name] for name in names}
        )
        assert at(field, 0.0, 0.0)[0] == pytest.approx(1.5) and findings == ()


def test_a_closed_block_is_no_overhang():
    top = surface(lambda x, y: 0.1 * np.sin(x))
    under = Mesh(top.vertices - [0.0, 0.0, 1.0], top.triangles[:, ::-1])
    field, findings = build_height_field({"Block": joined(top, under)})
    assert findings == ()
    height, (x, _) = at(field, 1.0, 0.0)
    assert height == pytest.approx(0.1 * np.sin(x), abs=1e-3)


def test_triangles_smaller_and_larger_than_a_cell_agree():
    coarse, _ = build_height_field({"Coarse": surface(lambda x, y: 0.2 * x, count=2)})
    fine, _ = build_height_field({"Fine": surface(lambda x, y: 0.2 * x, count=300)})
    np.testing.assert_allclose(coarse.heights, fine.heights, atol=1e-9)


def test_a_wide_terrain_is_coarse_and_says_so():
    field, findings = build_height_field({"World": surface(lambda x, y: 0.0 * x, size=1000.0, count=3)})
    assert max(field.heights.shape) <= MOST_SAMPLES
    assert [finding.kind for finding in findings] == ["terrain_coarse"] and "Cut it down" in findings[0].hint


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (Mesh(np.eye(3), np.zeros((0, 3))), "no faces"),
        (Mesh([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2]]), "from above"),
    ],
)
def test_what_is_no_ground_is_refused(mesh, words):
    with pytest.raises(BadStage, match=words) as caught:
        build_height_field({"Wall": mesh})
    assert "'Wall'" in caught.value.message and caught.value.hint


def test_too_many_triangles_say_what_to_decimate(monkeypatch):
    monkeypatch.setattr(height_field, "MOST_TRIANGLES", 100)
    with pytest.raises(BadStage, match="Terrain 'Scan'") as caught:
        build_height_field({"Scan": surface(lambda x, y: x)})
    assert "Decimate" in caught.value.hint


# A process of its own, so that nothing else is in its memory.
MILLION = """
import resource, runpy, sys
runpy.run_path(sys.argv[1])["load_package"]()
sys.path.insert(0, sys.argv[2])
import numpy as np
from test_height_field import surface
from sinew.core.sim.height_field import build_height_field
field, _ = build_height_field({"Million": surface(lambda x, y: 0.1 * x, size=50.0, count=1001)})
print(field.heights[256, 256], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told in other units elsewhere")
def test_a_million_vertices_fit_into_two_gigabytes():
    done = subprocess.run(
        [sys.executable, "-c", MILLION, str(ROOT / "core" / "entry.py"), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    height, megabytes = (float(word) for word in done.stdout.split())
    assert abs(height) < 0.1
    assert megabytes < 2048
