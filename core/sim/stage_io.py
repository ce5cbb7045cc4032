# SPDX-License-Identifier: GPL-3.0-or-later
"""Stage parts as plain arrays and JSON, as they travel in a job's ``inputs/stage.npz``."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..body import Shape
from ..errors import BadFile
from .stage import Terrain
from .stage_parts import Finding, Mesh, ObstaclePart, PropPart, PushPart, StageParts

SCHEMA = 1


def stage_to_arrays(parts: StageParts) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, meta) for ``core.files.write_arrays`` or a job's attachments: numbers in arrays, words in meta."""
    arrays: dict[str, np.ndarray] = {"gravity": np.asarray(parts.gravity)}
    if parts.terrain is not None:
        arrays |= {"terrain_heights": parts.terrain.heights, "terrain_origin": parts.terrain.origin}
    for index, obstacle in enumerate(parts.obstacles):
        arrays |= _mesh_arrays(f"obstacle{index}", obstacle.mesh)
    for index, prop in enumerate(parts.props):
        arrays[f"prop{index}_state"] = np.concatenate([prop.pos, prop.quat_wxyz, prop.velocity])
        if prop.mesh is not None:
            arrays |= _mesh_arrays(f"prop{index}", prop.mesh)
        if prop.shape is not None:
            arrays[f"prop{index}_shape"] = np.concatenate([prop.shape.size, prop.shape.pos, prop.shape.quat_wxyz])
    if parts.pushes:
        rows = [np.concatenate([push.force, [push.start_s, push.duration_s]]) for push in parts.pushes]
        arrays["pushes"] = np.array(rows)
    meta = {
        "schema": SCHEMA,
        "characters": list(parts.characters),
        "terrain_spacing": parts.terrain.spacing if parts.terrain is not None else None,
        "obstacles": [{"name": part.name, "friction": part.friction} for part in parts.obstacles],
        "props": [
            {"shape": prop.shape.kind if prop.shape is not None else None}
            | {name: getattr(prop, name) for name in ("name", "mass", "appears_s", "friction")}
            | _intent(prop)
            for prop in parts.props
        ],
        "pushes": [
            {name: getattr(push, name) for name in ("name", "character", "bone")} | _intent(push)
            for push in parts.pushes
        ],
        "findings": [vars(finding) for finding in parts.findings],
        **{name: getattr(parts, name) for name in ("friction", "ground", "self_collision", "mass_factor")},
    }
    return arrays, meta


def stage_from_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> StageParts:
    """The inverse of ``stage_to_arrays``; what is not a stage is a ``BadFile``."""
    if meta.get("schema", 0) > SCHEMA:
        raise BadFile("The stage was made by a newer Sinew", "Update Sinew")
    try:
        return _stage_parts(arrays, meta)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The stage is incomplete: {error!r}", "Start the job again") from error


def _stage_parts(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> StageParts:
    terrain = None
    if meta["terrain_spacing"] is not None:
        terrain = Terrain(arrays["terrain_heights"], meta["terrain_spacing"], arrays["terrain_origin"])
    return StageParts(
        characters=tuple(meta["characters"]),
        terrain=terrain,
        obstacles=tuple(
            ObstaclePart(mesh=_mesh(arrays, f"obstacle{index}"), **words)
            for index, words in enumerate(meta["obstacles"])
        ),
        props=tuple(_prop(arrays, index, words) for index, words in enumerate(meta["props"])),
        pushes=tuple(
            PushPart(force=row[:3], start_s=float(row[3]), duration_s=float(row[4]), **words)
            for row, words in zip(arrays.get("pushes", ()), meta["pushes"], strict=True)
        ),
        gravity=arrays["gravity"],
        findings=tuple(Finding(**words) for words in meta["findings"]),
        mass_factor=meta.get("mass_factor", 1.0),
        **{name: meta[name] for name in ("friction", "ground", "self_collision")},
    )


def _prop(arrays: Mapping[str, np.ndarray], index: int, words: Mapping[str, Any]) -> PropPart:
    words = dict(words)
    kind, shape, mesh = words.pop("shape"), None, None
    if kind is not None:
        size, pos, quat = np.split(arrays[f"prop{index}_shape"], [3, 6])
        shape = Shape(kind, size, pos, quat)
    else:
        mesh = _mesh(arrays, f"prop{index}")
    pos, quat, velocity = np.split(arrays[f"prop{index}_state"], [3, 7])
    return PropPart(pos=pos, quat_wxyz=quat, velocity=velocity, shape=shape, mesh=mesh, **words)


def _intent(part: PropPart | PushPart) -> dict[str, str]:
    """The intent of what has one; stages without any are written as they always were."""
    return {"intent": part.intent} if part.intent else {}


def _mesh_arrays(name: str, mesh: Mesh) -> dict[str, np.ndarray]:
    return {f"{name}_vertices": mesh.vertices, f"{name}_triangles": mesh.triangles}


def _mesh(arrays: Mapping[str, np.ndarray], name: str) -> Mesh:
    return Mesh(arrays[f"{name}_vertices"], arrays[f"{name}_triangles"])
