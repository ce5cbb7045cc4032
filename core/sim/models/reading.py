# SPDX-License-Identifier: GPL-3.0-or-later
"""Model files read by a process of its own, on the worker's Python: a compiler is not let into Blender's process.

read_in(FOLDER, FILE, SCALE) there writes model.npz, or problem.json for people.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.given_body import given_from_mapping, given_to_mapping
from ...child_python import call_arguments, run_python
from ...errors import BadFile, EngineMissing, SinewError
from ...files import read_arrays, read_json, write_arrays, write_json
from ...limits import LARGEST_SCALE, MODEL_FACES, MODEL_MEMORY_BYTES, MODEL_SECONDS
from ...paths import is_plain_file, real_path
from .model_source import ENDINGS, read_model_source

__all__ = ["ENDINGS", "GivenCharacter", "read_in", "read_model_file"]

_MODEL, _PROBLEM = "model.npz", "problem.json"


@dataclass(frozen=True, eq=False)
class GivenCharacter:
    """A model file as a character.

    vertices: (V, 3) metres in the world at rest, of all parts. faces: (F, 3) of their own part's vertices.
    bones: of each part; vertex_ends, face_ends: (P,) where each part ends. colours: (P, 4).
    """

    body: BodyModel
    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    bones: tuple[str, ...]
    vertex_ends: NDArray[np.int64]
    face_ends: NDArray[np.int64]
    colours: NDArray[np.float32]
    notes: tuple[str, ...]


def read_model_file(path: Path, python: str, scale: float = 1.0) -> GivenCharacter:
    """What the model is, as ``python`` reads it, which has MuJoCo. scale: metres a unit."""
    if not (np.isfinite(scale) and 1.0 / LARGEST_SCALE <= scale <= LARGEST_SCALE):
        raise BadFile(f"The scale of '{path.name}' is {scale:g}", "Give metres a unit, such as --on-scale 0.25")
    with tempfile.TemporaryDirectory(prefix="sinew-model-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        words = call_arguments(
            "core.sim.models.reading", "read_in", os.path.abspath(name), str(real_path(path).absolute()), repr(scale)
        )
        hint = "Choose another model, or simplify its meshes"
        try:
            done = run_python(python, words, timeout_s=MODEL_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise BadFile(f"'{path.name}' takes more than {MODEL_SECONDS:g} s to read", hint) from error
        if is_plain_file(folder / _PROBLEM):
            problem = read_json(folder / _PROBLEM)
            raise BadFile(problem["message"], problem["hint"])
        if done.returncode != 0 or not is_plain_file(folder / _MODEL):
            last = (done.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a word"])[-1]
            if "No module named 'mujoco'" in last:
                raise EngineMissing("The worker's Python has no MuJoCo, which reads models", "Install mujoco there")
            raise BadFile(f"'{path.name}' cannot be read: {last}", hint)
        return _character(*read_arrays(folder / _MODEL))


def read_in(folder: str, path: str, scale: str) -> None:
    """In the process of its own: read the model, and leave what it is in the folder."""
    _limit_memory()
    try:
        arrays, meta = _read(Path(path), float(scale))
        write_arrays(Path(folder) / _MODEL, arrays, meta)
    except SinewError as error:
        write_json(Path(folder) / _PROBLEM, {"message": error.message, "hint": error.hint})
    except MemoryError:
        told = {"message": f"'{Path(path).name}' takes more memory than it may", "hint": "Choose a smaller model"}
        write_json(Path(folder) / _PROBLEM, told)


def _limit_memory() -> None:
    """Where a system can: a mesh that unfolds without end meets its end here, and not that of the computer."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MODEL_MEMORY_BYTES, MODEL_MEMORY_BYTES))


def _read(path: Path, scale: float) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    from ..engines.mujoco_import import compile_model
    from .model_body import make_model_body

    source = read_model_source(path)
    body, seen = make_model_body(compile_model(source), scale)
    arrays = {
        "vertices": np.concatenate([part.vertices for part in seen]).astype(np.float32),
        "faces": np.concatenate([part.faces for part in seen]).astype(np.int32),
        "vertex_ends": np.cumsum([len(part.vertices) for part in seen]),
        "face_ends": np.cumsum([len(part.faces) for part in seen]),
        "colours": np.array([part.colour for part in seen], dtype=np.float32),
    }
    bones = [part.bone for part in seen]
    return arrays, {"body": given_to_mapping(body), "bones": bones, "notes": list(source.notes)}


def _character(arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> GivenCharacter:
    faces = arrays["faces"]
    if len(faces) > MODEL_FACES:
        raise BadFile(f"The model has {len(faces)} faces, and {MODEL_FACES} is the most", "Simplify its meshes")
    return GivenCharacter(
        given_from_mapping(meta["body"]),
        arrays["vertices"],
        faces,
        tuple(meta["bones"]),
        arrays["vertex_ends"],
        arrays["face_ends"],
        arrays["colours"],
        tuple(meta["notes"]),
    )
