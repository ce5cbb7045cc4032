# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex pieces of a mesh, for engines that only know convex solids. Runs in the worker: it needs scipy and CoACD.

A mesh is taken apart where it is loose; loose parts that are convex already stay as they are, to the corner, and
only what is left goes to CoACD (Wei et al. 2022, "Approximate convex decomposition for 3D meshes with
collision-aware concavity and tree search").
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..child_python import call_arguments, start_python
from ..errors import BadStage
from ..geometry.quaternions import Array
from ..paths import is_plain_file
from . import decomposer
from .stage_parts import Finding, Mesh

TIME_LIMIT_S = 120.0
ACCURACY_M = 0.04  # how deep a dent may be filled
MOST_CORNERS = 96  # of a piece: engines slow down with more, and feet feel no difference
MANY_PIECES = 128

_SMALLEST_M3, _THINNEST_M = 1e-9, 1e-4
_CONVEX = 0.995  # of the hull's volume: a part that fills this much of it is convex
_COVERED = 0.75  # of the hull's surface: a part that covers this much of it is a solid with its unseen faces left out

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Part:
    """A mesh and what its faces say. volume: m³, signed, of meshes that are closed."""

    mesh: Mesh
    closed: bool
    volume: float


class _Patience:
    """How much longer CoACD may take. What is done while it is waited for, such as a pause, is not held against it."""

    def __init__(self, limit_s: float, while_waiting: Callable[[], None]) -> None:
        self._ends = time.monotonic() + limit_s
        self._while_waiting = while_waiting

    @property
    def left_s(self) -> float:
        """Seconds to go, below zero when it has taken too long."""
        return self._ends - time.monotonic()

    def wait(self) -> None:
        """Do what is to be done meanwhile."""
        began = time.monotonic()
        self._while_waiting()
        self._ends += time.monotonic() - began


def decompose_convex(
    name: str, mesh: Mesh, *, time_limit_s: float = TIME_LIMIT_S, while_waiting: Callable[[], None] = lambda: None
) -> tuple[tuple[Array, ...], tuple[Finding, ...]]:
    """Convex pieces, each (V, 3) corners in the mesh's frame, that together are the mesh, and what to know of them.

    while_waiting: called some times a second while CoACD works; what it raises ends the work.
    """
    whole = _welded(mesh)
    if not len(whole.triangles):
        raise BadStage(f"'{name}' has no faces", "Choose a mesh with faces")
    if _hull(whole.vertices) is None:
        raise BadStage(f"'{name}' has no volume", "Give it some thickness, such as a Solidify modifier")
    pieces: list[Array] = []
    findings: dict[str, Finding] = {}
    patience = _Patience(time_limit_s, while_waiting)
    for part in _parts(whole):
        hull = _hull(part.mesh.vertices)
        if hull is None:
            continue  # a flat loose part, such as a decal, collides with nothing
        if (convex := _as_hull(part, hull)) is not None:
            pieces.append(convex)
            if not part.closed:
                finding = _filled_finding(name)
                findings[finding.kind] = finding
            continue
        found, why_not = _decompose(part, patience)
        pieces += [corners for piece in found if (corners := _corners(piece)) is not None]
        if not found:
            pieces.append(_few(hull.points[hull.vertices]))
            finding = Finding("mesh_hull", f"'{name}' was wrapped in one convex hull: {why_not[0]}", why_not[1])
            findings[finding.kind] = finding
    if not pieces:
        raise BadStage(f"'{name}' has no volume", "Give it some thickness, such as a Solidify modifier")
    if len(pieces) > MANY_PIECES:
        message = f"'{name}' became {len(pieces)} convex pieces, which slow the simulation down"
        finding = Finding("mesh_pieces", message, "Use a simpler mesh in its place")
        findings[finding.kind] = finding
    return tuple(pieces), tuple(findings.values())


def _as_hull(part: _Part, hull: Any) -> Array | None:
    """(V, 3) the part's corners if it is convex already, or all but a few faces of something convex."""
    if part.closed:
        return _few(hull.points[hull.vertices]) if abs(part.volume) >= _CONVEX * hull.volume else None
    triangles = part.mesh.vertices[part.mesh.triangles]
    area = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=-1) / 2
    if area.sum() < _COVERED * hull.area or area.sum() > 1.01 * hull.area:
        return None
    # On the hull is whose middle is; in pieces, because faces times faces is much.
    middles, near = triangles.mean(axis=1), 1e-3 * float(np.ptp(part.mesh.vertices, axis=0).max())
    for start in range(0, len(middles), 1000):
        distance = middles[start : start + 1000] @ hull.equations[:, :3].T + hull.equations[:, 3]
        if np.any(distance.max(axis=1) < -near):
            return None
    return _few(hull.points[hull.vertices])


def _decompose(part: _Part, patience: _Patience) -> tuple[list[Array], tuple[str, str]]:
    """Pieces by CoACD in a process of its own; none, with the reason and its fix, if that does not work out."""
    options = _options(part)
    with tempfile.TemporaryDirectory(prefix="sinew-", ignore_cleanup_errors=True) as folder:
        source, target = Path(folder) / "mesh.npz", Path(folder) / "pieces.npz"
        np.savez(
            source, vertices=part.mesh.vertices, triangles=part.mesh.triangles, options=np.array(json.dumps(options))
        )
        code = _run(source, target, patience)
        if code == 0 and is_plain_file(target):
            with np.load(target, allow_pickle=False) as arrays:
                return np.split(arrays["corners"], arrays["ends"][:-1]), ("", "")
    if code == decomposer.MISSING:
        return [], ("CoACD is not installed for the worker's Python", "Install it there: pip install coacd")
    count = len(part.mesh.triangles)
    fix = "Close its holes and give it fewer faces (Decimate)" if not part.closed else "Give it fewer faces (Decimate)"
    if code is None:
        return [], (f"its {count} triangles took too long to take apart", fix)
    return [], (f"its {count} triangles could not be taken apart", fix)


def _options(part: _Part) -> dict[str, Any]:
    """CoACD's settings: as accurate as feet and hands need it, and quick with meshes that it has to make anew."""
    half = 0.5 * float(np.ptp(part.mesh.vertices, axis=0).max())
    if part.closed:
        return {"threshold": float(np.clip(ACCURACY_M / half, 0.02, 0.1)), "seed": 0}
    return {
        "threshold": 0.1, "preprocess_resolution": 30, "resolution": 1000, "mcts_iterations": 20, "mcts_nodes": 10,
        "mcts_max_depth": 2, "seed": 0,
    }  # fmt: skip


def _run(source: Path, target: Path, patience: _Patience) -> int | None:
    """The decomposer's exit code; None if it took too long."""
    words = call_arguments("core.sim.decomposer", "main", str(source.absolute()), str(target.absolute()))
    process = start_python(sys.executable, words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            if patience.left_s < 0.0:
                return None
            patience.wait()
            time.sleep(0.05)
        return process.returncode
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _welded(mesh: Mesh) -> Mesh:
    """Without double vertices, which importers leave at every seam, and without faces that have no area."""
    size = float(np.ptp(mesh.vertices, axis=0).max(initial=0.0)) or 1.0
    _, first, place = np.unique(np.round(mesh.vertices / (1e-6 * size)), axis=0, return_index=True, return_inverse=True)
    vertices, triangles = mesh.vertices[first], place.reshape(-1)[mesh.triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    corners = vertices[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return _only_used(vertices, triangles[np.linalg.norm(normal, axis=-1) > 1e-12 * size**2])


def _parts(mesh: Mesh) -> list[_Part]:
    """The mesh's loose parts, or the mesh whole where one of them hollows out another."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b, c = mesh.triangles.T
    links = coo_matrix((np.ones(2 * len(a)), (np.r_[a, b], np.r_[b, c])), shape=(len(mesh.vertices),) * 2)
    count, label = connected_components(links, directed=False)
    order = np.argsort(label[a], kind="stable")
    faces = np.split(mesh.triangles[order], np.cumsum(np.bincount(label[a], minlength=count))[:-1])
    parts = [_part(_only_used(mesh.vertices, triangles)) for triangles in faces]
    if _hollow(parts):
        return [_Part(mesh, all(part.closed for part in parts), sum(part.volume for part in parts))]
    return parts


def _hollow(parts: list[_Part]) -> bool:
    """Whether one part lies in another and faces the other way, like the inside of a room within its outside."""
    closed = [part for part in parts if part.closed]
    outward = np.array([part.volume > 0.0 for part in closed])
    if outward.all() or not outward.any():
        return False
    low = np.array([part.mesh.vertices.min(axis=0) for part in closed])
    high = np.array([part.mesh.vertices.max(axis=0) for part in closed])
    within = np.all(low[:, None] >= low, axis=-1) & np.all(high[:, None] <= high, axis=-1)
    return bool(np.any(within & (outward[:, None] != outward)))


def _part(mesh: Mesh) -> _Part:
    """What the faces say: closed is where every edge has one face on each side, which agree on what is outside."""
    count = len(mesh.vertices)
    ahead = np.concatenate([mesh.triangles[:, i] * count + mesh.triangles[:, (i + 1) % 3] for i in range(3)])
    back = np.concatenate([mesh.triangles[:, (i + 1) % 3] * count + mesh.triangles[:, i] for i in range(3)])
    ahead.sort()
    closed = len(np.unique(ahead)) == len(ahead) and np.array_equal(ahead, np.sort(back))
    corners = (mesh.vertices - mesh.vertices.mean(axis=0))[mesh.triangles]
    return _Part(mesh, closed, float(np.linalg.det(corners).sum()) / 6.0)


def _only_used(vertices: Array, triangles: Integers) -> Mesh:
    used, place = np.unique(triangles, return_inverse=True)
    return Mesh(vertices[used], place.reshape(triangles.shape))


def _hull(points: Array) -> Any:
    """Scipy's convex hull, or None where there is no volume."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points) if len(points) > 3 else None
    except QhullError:
        return None
    if hull is None or hull.volume <= _SMALLEST_M3 or hull.volume <= _THINNEST_M * hull.area / 2.0:
        return None
    return hull


def _corners(points: Array) -> Array | None:
    hull = _hull(points)
    return None if hull is None else _few(hull.points[hull.vertices])


def _few(corners: Array) -> Array:
    """(V, 3) at most ``MOST_CORNERS`` of the hull's corners: those that reach farthest, all around."""
    if len(corners) <= MOST_CORNERS:
        return corners
    # Directions spread evenly over the sphere by the golden angle.
    number = np.arange(MOST_CORNERS) + 0.5
    z, turn = 1.0 - 2.0 * number / MOST_CORNERS, np.pi * (1.0 + np.sqrt(5.0)) * number
    ring = np.sqrt(1.0 - z**2)
    around = np.stack([ring * np.cos(turn), ring * np.sin(turn), z])
    spread = np.ptp(corners, axis=0)
    return corners[np.unique(np.argmax((corners / spread) @ around, axis=0))]


def _filled_finding(name: str) -> Finding:
    return Finding(
        "mesh_open",
        f"'{name}' has open edges and counts as solid",
        "Give it a Solidify modifier if something should fit inside",
    )
