# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that an older Sinew wrote, kept in ``tests/data/before`` to see that they still open and work.

How they were made stands in the README beside them. Engines compute the same bits on one kind of machine only, so what
they compute is compared bit for bit where the arithmetic is the same, and to a tolerance elsewhere.
"""

import hashlib
import importlib.metadata
import json
import shutil
import tarfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data" / "before"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
_TOLERANCE_M = 0.05


def unpack(folder: Path) -> Path:
    """Copy the .blend and what lies beside it into ``folder``, and its jobs into ``folder/jobs``; gives the .blend."""
    shutil.copytree(FOLDER / "sinew", folder / "sinew")
    unpack_jobs(folder)
    return Path(shutil.copy(FOLDER / "character.blend", folder))


def unpack_jobs(folder: Path) -> Path:
    """The job folders, in ``folder/jobs``."""
    with tarfile.open(FOLDER / "jobs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "jobs"


def job_id(which: str) -> str:
    """Such as of 'simulate_broken'."""
    return EXPECTED["jobs"][which]


def arrays_sha256(path: Path) -> str:
    """Of all arrays of a .npz file with their names, but not of ``meta``, which has times in it."""
    found = hashlib.sha256()
    with np.load(path, allow_pickle=False) as arrays:
        for name in sorted(set(arrays.files) - {"meta"}):
            array = arrays[name]
            found.update(f"{name} {array.dtype} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def arithmetic() -> dict[str, str]:
    """By what the bits of a simulation are decided: how this machine sums up, and whose code it is."""
    rng = np.random.default_rng(0)
    square = rng.normal(size=(17, 17))  # too small for threads, whose number would count too
    rows = (square @ square.T, np.linalg.solve(square, square[0]), np.linalg.svd(square)[1], np.exp(np.sin(square)))
    probe = hashlib.sha256(b"".join(np.ascontiguousarray(row).tobytes() for row in rows)).hexdigest()
    wanted = {"mujoco-core", "numpy", "scipy", "torch"}
    installed = {found.name: found.version for found in importlib.metadata.distributions()}
    return {"probe": probe, **{name: installed[name] for name in sorted(wanted & installed.keys())}}


def check_take(path: Path, which: str, *, same_blender: bool = True, same_method: bool = True) -> None:
    """That a take is the one that the older Sinew made.

    same_blender: whether what was simulated was read by the Blender that the files were made with; another one's
    poses differ in their last bits. same_method: whether the method still computes what it did: sampling control does
    not, and what is left of a broken take is simulated in its new way.
    """
    if same_blender and same_method and EXPECTED["arithmetic"] == arithmetic():
        assert arrays_sha256(path) == EXPECTED["sha256"][which]
    with np.load(path, allow_pickle=False) as arrays:
        root = arrays["local_pos"][:, 0]
    known = np.array(EXPECTED["root_m"][which])
    np.testing.assert_allclose(root[: len(known)], known, atol=_TOLERANCE_M)
