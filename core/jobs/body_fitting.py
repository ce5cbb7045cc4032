# SPDX-License-Identifier: GPL-3.0-or-later
"""A body fitted on the worker's Python, which has what fits shapes to a mesh, for display only.

fit_in(FOLDER) there reads inputs.npz and clip.npz, writes body.npz, or problem.json for people
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..body import BodyModel
from ..body.io import body_from_arrays, body_to_arrays
from ..body.mesh import SkinnedMesh
from ..child_python import call_arguments, run_python
from ..control.character import BodyChoices, build_chosen_body
from ..errors import JobError, SinewError
from ..files import read_arrays, read_json, write_arrays, write_json
from ..motion import Clip, Skeleton
from ..motion.io.npz import load_clip, save_clip, skeleton_from_arrays, skeleton_to_arrays
from ..paths import is_plain_file
from .launching import find_worker_python

_INPUTS, _CLIP, _BODY, _PROBLEM = "inputs.npz", "clip.npz", "body.npz", "problem.json"
_LONGEST_S = 300.0


def fit_in_worker(
    skeleton: Skeleton, clip: Clip | None, mesh: SkinnedMesh | None, choices: BodyChoices, python: str | None = None
) -> BodyModel:
    """The body that ``build_body`` makes, edits included, made by a process of its own; waits for it.

    python: the worker's Python; None for ``SINEW_PYTHON``, else this process's own.
    """
    choices.require_bones(skeleton)
    path = find_worker_python(python)
    with tempfile.TemporaryDirectory(prefix="sinew-body-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _write(folder, skeleton, clip, mesh, choices)
        try:
            words = call_arguments("core.jobs.body_fitting", "fit_in", os.path.abspath(name))
            done = run_python(path, words, timeout_s=_LONGEST_S)
        except (subprocess.TimeoutExpired, OSError) as error:
            raise JobError(f"The body could not be fitted: {error}", "Try it without the mesh") from error
        if is_plain_file(folder / _PROBLEM):
            problem = read_json(folder / _PROBLEM)
            raise JobError(problem["message"], problem["hint"])
        if done.returncode != 0 or not is_plain_file(folder / _BODY):
            last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no words"])[-1]
            raise JobError(f"The body could not be fitted: {last}", "Try it without the mesh")
        return body_from_arrays(*read_arrays(folder / _BODY))


def fit_in(name: str) -> None:
    """In the process of its own: make the body of what is in the folder."""
    folder = Path(name)
    try:
        write_arrays(folder / _BODY, *body_to_arrays(_made(folder)))
    except SinewError as error:
        write_json(folder / _PROBLEM, {"message": error.message, "hint": error.hint})


def _made(folder: Path) -> BodyModel:
    arrays, meta = read_arrays(folder / _INPUTS)
    choices = BodyChoices.from_mapping(meta["choices"])
    skeleton = skeleton_from_arrays(meta["names"], arrays)
    clip = load_clip(folder / _CLIP) if is_plain_file(folder / _CLIP) else None
    mesh = SkinnedMesh(arrays["vertices"], arrays["weights"], arrays["areas"]) if "vertices" in arrays else None
    return build_chosen_body(skeleton, clip, mesh, choices, without_mesh="switch Fit to Mesh off")[0]


def _write(folder: Path, skeleton: Skeleton, clip: Clip | None, mesh: SkinnedMesh | None, choices: BodyChoices) -> None:
    arrays: dict[str, NDArray[Any]] = dict(skeleton_to_arrays(skeleton))
    if mesh is not None:
        arrays |= {"vertices": mesh.vertices, "weights": np.asarray(mesh.weights), "areas": mesh.areas}
    write_arrays(folder / _INPUTS, arrays, {"names": list(skeleton.names), "choices": choices.to_mapping()})
    if clip is not None:
        save_clip(folder / _CLIP, clip)
