# SPDX-License-Identifier: GPL-3.0-or-later
"""The real mocap files beside some checkouts, and metres a unit of each."""

from pathlib import Path

MOCAP = Path(__file__).resolve().parents[3].parent / "shared" / "mocap"
ENDINGS = (".bvh", ".fbx", ".glb")
FILES = sorted(str(p.relative_to(MOCAP)) for p in MOCAP.glob("*/*") if p.suffix in ENDINGS) or ["absent.bvh"]


# Metres a unit, as the files' sources state them.
SCALES = {"cmu": 0.0564444, "bvh": 0.01, "odd": 0.01, "deepmimic": 1.0, "fbx": 1.0, "skinned": 1.0}
OWN_SCALES = {"odd/derived_09_01_zup_mm.bvh": 0.001, "skinned/Fox.glb": 0.01}


def scale_of(name: str) -> float:
    if name in OWN_SCALES:
        return OWN_SCALES[name]
    return SCALES["cmu"] if name.startswith("odd/cmu") else SCALES[name.split("/")[0]]
