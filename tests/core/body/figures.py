# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons made by hand: people under every naming there is, and animals."""

from collections.abc import Mapping

import numpy as np

from sinew.core.geometry.quaternions import from_matrix, from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.skeleton import to_local

# key: (parent's key, head in metres for the left side or the middle). A person of 1.75 m in a T-pose, facing -Y.
_MIDDLE = {
    "pelvis": ("", (0.0, 0.0, 0.96)),
    "spine1": ("pelvis", (0.0, 0.0, 1.06)),
    "spine2": ("spine1", (0.0, 0.01, 1.19)),
    "spine3": ("spine2", (0.0, 0.02, 1.32)),
    "neck": ("spine3", (0.0, 0.02, 1.48)),
    "head": ("neck", (0.0, 0.0, 1.57)),
}
_SIDED = {
    "clavicle": ("spine3", (0.03, 0.0, 1.44)),
    "upper_arm": ("clavicle", (0.18, 0.02, 1.44)),
    "forearm": ("upper_arm", (0.46, 0.03, 1.44)),
    "hand": ("forearm", (0.72, 0.02, 1.44)),
    "thumb": ("hand", (0.75, -0.03, 1.43)),
    "index": ("hand", (0.81, -0.02, 1.44)),
    "pinky": ("hand", (0.80, 0.04, 1.44)),
    "thigh": ("pelvis", (0.09, 0.0, 0.92)),
    "shin": ("thigh", (0.10, -0.01, 0.50)),
    "foot": ("shin", (0.11, 0.02, 0.09)),
    "toe": ("foot", (0.12, -0.10, 0.02)),
}
_TAILS = {"head": 0.2, "toe": 0.06}  # metres; other ends of chains are as long as their parents, as importers have it


def person(
    names: Mapping[str, str] | None = None, without: tuple[str, ...] = (), on_root: tuple[str, ...] = ()
) -> Skeleton:
    """A person. names: by key such as 'pelvis' or 'thigh.L', the key itself where it is missing.

    without: keys (without side) of bones that are left out; their children hang on their parents. on_root: keys
    (without side) of bones that hang on a root bone on the ground, which there is only if something does.
    """
    heads: dict[str, tuple[str, tuple[float, float, float]]] = dict(_MIDDLE)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for key, (parent, (x, y, z)) in _SIDED.items():
            above = parent if parent in _MIDDLE else f"{parent}.{side}"
            heads[f"{key}.{side}"] = (above, (sign * x, y, z))
    if on_root:
        heads["root"] = ("", (0.0, 0.0, 0.0))
        heads.update({key: ("root", point) for key, (_, point) in heads.items() if key.partition(".")[0] in on_root})
    return _skeleton({k: v for k, v in heads.items() if k.partition(".")[0] not in without}, heads, names or {})


def layered() -> Skeleton:
    """A person in the manner of a generated Rigify rig: deforming limbs hang on original bones, not on each other."""
    plain = {
        "pelvis": "spine",
        "spine1": "spine.001",
        "spine2": "spine.002",
        "spine3": "spine.003",
        "neck": "spine.004",
    }
    plain |= {"head": "spine.005", "clavicle": "shoulder"}
    heads: dict[str, tuple[str, tuple[float, float, float]]] = {"root": ("", (0.0, 0.0, 0.0))}
    for side, sign in (("", 1.0), (".L", 1.0), (".R", -1.0)):
        for key, (parent, (x, y, z)) in (_SIDED if side else _MIDDLE).items():
            name = plain.get(key, key) + side
            above = plain.get(parent, parent) + (side if parent in _SIDED else "")
            heads[f"ORG-{name}"] = (f"ORG-{above}" if parent else "root", (sign * x, y, z))
            crossing = key in ("clavicle", "upper_arm", "thigh") or not parent
            layer = "root" if not parent else f"ORG-{above}" if crossing else f"DEF-{above}"
            heads[f"DEF-{name}"] = (layer, (sign * x, y, z))
            heads[f"{name.replace('.', '_fk.', 1) if side else name + '_fk'}"] = ("root", (sign * x, y, z))
    return _skeleton(heads, heads, {})


def fox() -> Skeleton:
    """A four-legged animal of 0.5 m with a tail, facing -Y, standing on the ground under a root bone."""
    heads: dict[str, tuple[str, tuple[float, float, float]]] = {
        "root": ("", (0.0, 0.0, 0.0)),
        "hip": ("root", (0.0, 0.30, 0.44)),
        "spine1": ("hip", (0.0, 0.15, 0.46)),
        "spine2": ("spine1", (0.0, -0.02, 0.46)),
        "neck": ("spine2", (0.0, -0.22, 0.48)),
        "head": ("neck", (0.0, -0.33, 0.56)),
        "tail1": ("hip", (0.0, 0.40, 0.44)),
        "tail2": ("tail1", (0.0, 0.52, 0.40)),
        "tail3": ("tail2", (0.0, 0.66, 0.36)),
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        limb = {
            "thigh": ("hip", (0.06, 0.29, 0.42)),
            "shin": ("thigh", (0.06, 0.24, 0.26)),
            "foot": ("shin", (0.06, 0.34, 0.14)),
            "toe": ("foot", (0.06, 0.29, 0.01)),
            "upper_arm": ("spine2", (0.06, -0.15, 0.42)),
            "forearm": ("upper_arm", (0.06, -0.11, 0.23)),
            "hand": ("forearm", (0.06, -0.14, 0.05)),
        }
        for key, (parent, (x, y, z)) in limb.items():
            heads[f"{key}.{side}"] = (parent if parent in heads else f"{parent}.{side}", (sign * x, y, z))
    return _skeleton(heads, heads, {})


def pony() -> Skeleton:
    """A four-legged animal of 1.2 m as game artists make them: a trunk of one bone, feet on controls of the root."""
    heads: dict[str, tuple[str, tuple[float, float, float]]] = {
        "root": ("", (0.0, 0.0, 0.0)),
        "Body": ("root", (0.0, 0.0, 0.41)),
        "Hips": ("Body", (0.0, 0.27, 0.72)),
        "Torso": ("Hips", (0.0, 0.0, 0.71)),
        "Back": ("Body", (0.0, 0.43, 0.67)),
        "Tail1": ("Back", (0.0, 0.49, 0.86)),
        "Tail2": ("Tail1", (0.0, 0.64, 0.85)),
        "Shoulders": ("Body", (0.0, -0.33, 0.74)),
        "Neck": ("Shoulders", (0.0, -0.46, 0.94)),
        "Head": ("Neck", (0.0, -0.62, 1.12)),
        "Head_end": ("Head", (0.0, -0.89, 0.94)),
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        limbs = {
            "FrontLeg": ("Body", (0.05, -0.33, 0.56)),
            "FrontUpLeg": ("FrontLeg", (0.16, -0.33, 0.56)),
            "FrontLowLeg": ("FrontUpLeg", (0.16, -0.38, 0.30)),
            "FrontLowLeg_end": ("FrontLowLeg", (0.16, -0.35, 0.02)),
            "BackLeg": ("Body", (0.05, 0.40, 0.56)),
            "BackUpLeg": ("BackLeg", (0.14, 0.40, 0.56)),
            "BackLowLeg": ("BackUpLeg", (0.14, 0.51, 0.41)),
            "BackLowLeg_end": ("BackLowLeg", (0.14, 0.47, 0.02)),
            "FrontFoot": ("root", (0.16, -0.35, 0.02)),
            "FrontFoot_end": ("FrontFoot", (0.16, -0.53, 0.02)),
            "BackFoot": ("root", (0.14, 0.47, 0.02)),
            "BackFoot_end": ("BackFoot", (0.14, 0.35, 0.02)),
        }
        for key, (parent, (x, y, z)) in limbs.items():
            heads[f"{key}.{side}"] = (f"{parent}.{side}" if parent in limbs else parent, (sign * x, y, z))
    return _skeleton(heads, heads, {})


def spider(legs: int = 8) -> Skeleton:
    """An animal with so many legs, all of them on one bone."""
    heads: dict[str, tuple[str, tuple[float, float, float]]] = {"body": ("", (0.0, 0.0, 0.3))}
    for index in range(legs // 2):
        y = 0.1 * (index - legs / 4)
        for side, sign in (("L", 1.0), ("R", -1.0)):
            heads[f"leg{index}a.{side}"] = ("body", (sign * 0.05, y, 0.3))
            heads[f"leg{index}b.{side}"] = (f"leg{index}a.{side}", (sign * 0.25, y, 0.4))
            heads[f"leg{index}c.{side}"] = (f"leg{index}b.{side}", (sign * 0.4, y, 0.0))
    return _skeleton(heads, heads, {})


def nameless(skeleton: Skeleton) -> Skeleton:
    """The same bones, called Bone, Bone.001 and so on."""
    names = tuple(f"Bone.{i:03d}" if i else "Bone" for i in range(len(skeleton)))
    return Skeleton(names, skeleton.parents, skeleton.rest_pos, skeleton.rest_quat_wxyz, skeleton.lengths)


def turned(skeleton: Skeleton, degrees: float, lift: float = 0.0) -> Skeleton:
    """The skeleton turned about the vertical and lifted, as a whole."""
    turn = from_rotation_vector(np.array([0.0, 0.0, np.radians(degrees)]))
    heads, quats = skeleton.rest_world()
    heads = rotate(turn, heads) + np.array([0.0, 0.0, lift])
    pos, quat = to_local(skeleton.parents, heads, multiply(turn, quats))
    return Skeleton(skeleton.names, skeleton.parents, pos, quat, skeleton.lengths)


def wiggling(skeleton: Skeleton, seed: int = 0, frames: int = 30, amount: float = 0.3) -> Clip:
    """Every bone swings smoothly about random axes; the first root also travels."""
    rng = np.random.default_rng(seed)
    time = np.linspace(0.0, 1.0, frames)
    vectors = amount * np.sin(2.0 * np.pi * (time[:, None, None] + rng.uniform(size=(len(skeleton), 3))))
    quat = multiply(skeleton.rest_quat_wxyz, from_rotation_vector(vectors))
    pos = np.tile(skeleton.rest_pos, (frames, 1, 1))
    pos[:, 0] += np.array([0.2, -1.0, 0.05]) * time[:, None]
    return Clip(skeleton, 30.0, pos, quat, "wiggle")


def _skeleton(
    heads: Mapping[str, tuple[str, tuple[float, float, float]]],
    everything: Mapping[str, tuple[str, tuple[float, float, float]]],
    names: Mapping[str, str],
) -> Skeleton:
    def above(key: str) -> str:
        parent = everything[key][0]
        return parent if parent in heads or not parent else above(parent)

    order: list[str] = []

    def place(key: str) -> None:
        if key not in order:
            if above(key):
                place(above(key))
            order.append(key)

    for key in heads:
        place(key)
    parents = np.array([order.index(above(key)) if above(key) else -1 for key in order])
    points = np.array([heads[key][1] for key in order])
    lengths = np.full(len(order), 0.1)
    rotations = np.tile(np.eye(3), (len(order), 1, 1))
    for bone, key in enumerate(order):
        kids = np.flatnonzero(parents == bone)
        way = points[kids].mean(0) - points[bone] if len(kids) else points[bone] - points[max(parents[bone], 0)]
        if len(kids) or np.linalg.norm(way) > 1e-6:
            rotations[bone] = _along(way)
        if len(kids):
            lengths[bone] = max(np.linalg.norm(way), 1e-3)
        else:
            lengths[bone] = _TAILS.get(key.partition(".")[0], lengths[max(parents[bone], 0)])
    pos, quat = to_local(parents, points, from_matrix(rotations))
    return Skeleton(tuple(names.get(key, key) for key in order), parents, pos, quat, lengths)


def _along(way: np.ndarray) -> np.ndarray:
    """(3, 3) a bone's axes: Y along it, X as level as can be; mirrored bones get mirrored axes."""
    y = way / np.linalg.norm(way)
    side = np.array([1.0, 0.0, 0.0]) if abs(y[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = side - side @ y * y
    x /= np.linalg.norm(x)
    return np.stack([x, y, np.cross(x, y)], axis=-1)
