# SPDX-License-Identifier: GPL-3.0-or-later
"""Run CoACD on one mesh, in a process of its own: the library ends its process on meshes that it does not like, and
cannot be stopped when it takes too long. ``convex_decomposition.py`` starts it.
"""

import json

import numpy as np

MISSING = 3  # the exit code that says that there is no CoACD


def main(source: str, target: str) -> int:
    """Read vertices, triangles and options; write the pieces' corners one after the other and where each ends."""
    try:
        import coacd
    except ImportError:
        return MISSING
    coacd.set_log_level("off")
    with np.load(source, allow_pickle=False) as arrays:
        mesh = coacd.Mesh(arrays["vertices"], arrays["triangles"])
        options = json.loads(str(arrays["options"]))
    pieces = [corners for corners, _ in coacd.run_coacd(mesh, **options)]
    np.savez(target, corners=np.concatenate(pieces), ends=np.cumsum([len(piece) for piece in pieces]))
    return 0
