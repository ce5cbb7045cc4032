# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries and plain bodies are made in Blender's own process, whose BLAS nobody tells how many threads to have.

They come out the same to the bit: what is summed up there is too little for BLAS to share out, or is summed up by
NumPy itself. Workers, which do more, are given one thread (core/child_python.py).
"""

import json
import os
import subprocess
import sys

import pytest

MAKE = """
import hashlib, json, runpy, sys
runpy.run_path(sys.argv[1])["load_package"]()
import numpy as np
from dataclasses import replace
from sinew.core.body.io import body_to_arrays
from sinew.core.control.character import BodyChoices, build_plain_body
from sinew.core.control.tracking.library_building import prepare_clip
from sinew.core.control.tracking.library_files import StoredLibrary, store_library
from sinew.core.control.tracking.source_preparation import clean_source
from sinew.core.motion.plain_walk import plain_walk

def digest(arrays):
    found = hashlib.sha256()
    for name in sorted(arrays):
        found.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()

rng = np.random.default_rng(0)
wide, tall = rng.normal(size=(700, 501)), rng.normal(size=(501, 333))
walk = plain_walk()
walk = replace(walk, **{name: np.concatenate([getattr(walk, name)] * 25) for name in ("local_pos", "local_quat_wxyz")})
body = build_plain_body(clean_source(walk)[0], BodyChoices())
stored = StoredLibrary(body, (prepare_clip(body, walk, "a walk", "as it is"),))
arrays = {name: value for name, value in vars(stored.library).items() if isinstance(value, np.ndarray)}
print(json.dumps({
    "large products": digest({"a": wide @ tall, "b": np.linalg.solve(wide[:501], wide[:501, :3])}),
    "frames": len(walk),
    "body": digest(body_to_arrays(body)[0]),
    "library": digest(store_library(stored)[0]),
    "with mirrored copies": digest(arrays),
}))
"""


def made_with(threads, root):
    """What a Python of its own makes with so many threads of OpenBLAS."""
    command = [sys.executable, "-c", MAKE, str(root / "core" / "entry.py")]
    env = os.environ | {"OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_a_library_is_the_same_whatever_threads_blas_has(root):
    one, two = made_with(1, root), made_with(2, root)
    assert one["frames"] > 2000
    if one.pop("large products") == two.pop("large products"):
        pytest.skip("this machine's BLAS sums up alike with one thread and with two")
    assert one == two
