# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin's looks: light shells that ride on one bone each, over a dark body that bends at the joints.

All tables are in metres on the stock skeleton; other sizes of the same skeleton are scaled from it. Shells are
rigid, so nothing can collapse; what shows between them is skin whose weights blend smoothly, and a ball in
every joint keeps its thickness however far it bends.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.geometry.quaternions import Array, angle_between
from ...core.motion import Skeleton
from ...core.motion.io import stock
from .mesh_primitives import BODY, JOINT, Axes, SkinnedPart, ball, inlay, loft, smoothstep, tube

Rows = tuple[tuple[float, ...], ...]

_OUT = np.array([1.0, 0.0, 0.0])  # of the left side; the right one is mirrored
_FRONT = np.array([0.0, -1.0, 0.0])
_UP = np.array([0.0, 0.0, 1.0])

# Rows are (along the bone, out, front, half width, front radius, back radius, squareness, tilt): see lofts.loft.
_PELVIS: Rows = (
    (-0.070, 0.0, -0.004, 0.040, 0.046, 0.052, 2.2),
    (-0.045, 0.0, -0.006, 0.074, 0.066, 0.076, 2.2),
    (-0.010, 0.0, -0.010, 0.108, 0.082, 0.094, 2.2),
    (0.035, 0.0, -0.010, 0.133, 0.090, 0.100, 2.2),
    (0.080, 0.0, -0.006, 0.133, 0.090, 0.092, 2.2),
    (0.120, 0.0, -0.002, 0.118, 0.084, 0.082, 2.2),
    (0.145, 0.0, 0.0, 0.109, 0.080, 0.076, 2.2),
)
_CHEST: Rows = (
    (0.012, 0.0, -0.004, 0.103, 0.078, 0.074, 2.3),
    (0.060, 0.0, -0.006, 0.119, 0.092, 0.086, 2.3),
    (0.120, 0.0, -0.010, 0.134, 0.103, 0.094, 2.4),
    (0.165, 0.0, -0.014, 0.143, 0.102, 0.093, 2.4),
    (0.205, 0.0, -0.020, 0.147, 0.086, 0.082, 2.3),
    (0.235, 0.0, -0.024, 0.130, 0.066, 0.066, 2.2),
    (0.257, 0.0, -0.024, 0.092, 0.052, 0.054, 2.0),
    (0.272, 0.0, -0.022, 0.062, 0.046, 0.048, 2.0),
)
_HEAD: Rows = (
    (0.072, 0.0, 0.046, 0.030, 0.030, 0.046),
    (0.085, 0.0, 0.036, 0.043, 0.048, 0.060),
    (0.110, 0.0, 0.018, 0.058, 0.068, 0.072),
    (0.145, 0.0, 0.005, 0.069, 0.083, 0.085),
    (0.190, 0.0, 0.000, 0.0735, 0.087, 0.094),
)
_THIGH: Rows = (
    (0.010, 0.008, 0.000, 0.068, 0.072, 0.076, 2.2, -0.55),
    (0.060, 0.007, 0.000, 0.071, 0.076, 0.077, 2.1, -0.30),
    (0.130, 0.004, 0.002, 0.066, 0.073, 0.071, 2.0, -0.08),
    (0.220, 0.001, 0.004, 0.058, 0.064, 0.060, 2.0, 0.0),
    (0.310, 0.0, 0.005, 0.051, 0.055, 0.051, 2.0, 0.0),
    (0.368, 0.0, 0.005, 0.049, 0.052, 0.047, 2.0, 0.0),
)
_SHIN: Rows = (
    (0.042, 0.0, 0.006, 0.045, 0.048, 0.044),
    (0.090, 0.0, 0.001, 0.049, 0.046, 0.057),
    (0.150, 0.0, -0.002, 0.048, 0.043, 0.060),
    (0.225, 0.0, -0.002, 0.041, 0.039, 0.049),
    (0.300, 0.0, 0.0, 0.034, 0.035, 0.037),
    (0.362, 0.0, 0.0, 0.031, 0.033, 0.033),
)
_UPPER_ARM: Rows = (
    (0.000, 0.003, 0.0, 0.050, 0.053, 0.053),
    (0.030, 0.004, 0.0, 0.051, 0.054, 0.053),
    (0.070, 0.004, 0.0, 0.048, 0.051, 0.050),
    (0.120, 0.003, 0.0, 0.043, 0.047, 0.046),
    (0.190, 0.0, 0.0, 0.038, 0.041, 0.040),
    (0.234, 0.0, 0.0, 0.036, 0.038, 0.037),
)
_FOREARM: Rows = (
    (0.034, 0.0, 0.0, 0.035, 0.037, 0.036),
    (0.065, 0.0, 0.0, 0.038, 0.041, 0.040),
    (0.105, 0.0, 0.0, 0.036, 0.039, 0.038),
    (0.150, 0.0, 0.0, 0.029, 0.033, 0.032),
    (0.184, 0.0, 0.0, 0.024, 0.028, 0.028),
)
_PALM: Rows = (
    (0.207, 0.0, 0.0, 0.014, 0.022, 0.022, 2.4),
    (0.226, -0.001, 0.001, 0.017, 0.033, 0.031, 2.5),
    (0.250, -0.003, 0.0, 0.017, 0.036, 0.035, 2.5),
    (0.266, -0.005, 0.0, 0.014, 0.035, 0.034, 2.5),
)
# Along the foot: (forward, out, height of the section's middle over the ankle, half width, up, down, squareness).
_FOOT: Rows = (
    (-0.052, 0.0, -0.020, 0.026, 0.026, 0.027, 2.4),
    (-0.035, 0.0, -0.018, 0.034, 0.040, 0.032, 2.5),
    (-0.005, 0.0, -0.018, 0.036, 0.047, 0.032, 2.5),
    (0.030, 0.001, -0.020, 0.038, 0.040, 0.030, 2.5),
    (0.065, 0.003, -0.024, 0.042, 0.027, 0.026, 2.5),
    (0.105, 0.004, -0.029, 0.044, 0.018, 0.021, 2.5),
    (0.135, 0.002, -0.032, 0.037, 0.013, 0.017, 2.4),
)
# The dark body under the shells.
_TRUNK: Rows = (
    (0.060, 0.0, -0.004, 0.088, 0.060, 0.060, 2.2),
    (0.150, 0.0, -0.001, 0.093, 0.067, 0.063, 2.2),
    (0.200, 0.0, -0.001, 0.088, 0.064, 0.060, 2.2),
    (0.250, 0.0, -0.003, 0.089, 0.065, 0.060, 2.2),
    (0.340, 0.0, -0.008, 0.092, 0.070, 0.064, 2.2),
)
_NECK: Rows = (
    (-0.010, 0.0, -0.020, 0.048, 0.044, 0.046),
    (0.040, 0.0, -0.014, 0.045, 0.042, 0.044),
    (0.085, 0.0, -0.008, 0.043, 0.041, 0.044),
    (0.120, 0.0, -0.006, 0.044, 0.042, 0.046),
)
_FINGERS = ((0.0275, 0.0085, 0.95), (0.0092, 0.0090, 1.0), (-0.0092, 0.0088, 0.95), (-0.0262, 0.0078, 0.8))


class _Maker(NamedTuple):
    """What every part needs: the skeleton, its rest heads and its size beside the stock one's."""

    skeleton: Skeleton
    heads: Array
    size: float

    def axes(self, bone: str, along: Array, front: Array = _FRONT) -> Axes:
        return Axes(self.heads[self.skeleton.index(bone)], along, _OUT, front)

    def rigid(self, bone: str, count: int) -> Array:
        weights = np.zeros((count, len(self.skeleton)))
        weights[:, self.skeleton.index(bone)] = 1.0
        return weights

    def shell(self, bone: str, rows: Rows, along: Array, **how: object) -> SkinnedPart:
        """A light part that moves with one bone."""
        front = how.pop("front", _FRONT)
        vertices, faces = loft(self.axes(bone, along, front), _sized(rows, self.stretch(bone), self.size), **how)
        return SkinnedPart(vertices, faces, BODY, self.rigid(bone, len(vertices)))

    def stretch(self, bone: str) -> float:
        """How much longer the bone is than the stock one."""
        reference = _stock()
        return float(self.skeleton.lengths[self.skeleton.index(bone)] / reference.lengths[reference.index(bone)])

    def joint_ball(self, bone: str, radii: Sequence[float], move: Sequence[float] = (0.0, 0.0, 0.0)) -> SkinnedPart:
        """A dark ball in the joint at the bone's head, which stays with the parent."""
        index = self.skeleton.index(bone)
        centre = self.heads[index] + np.asarray(move) * self.size
        vertices, faces = ball(centre, np.asarray(radii) * self.size, sides=14, rings=7)
        parent = self.skeleton.names[self.skeleton.parents[index]]
        return SkinnedPart(vertices, faces, JOINT, self.rigid(parent, len(vertices)))

    def skin(
        self, rows: Rows, axes: Axes, bones: tuple[str, str], joint: float, blend: float, **how: int
    ) -> SkinnedPart:
        """A dark tube that one bone moves before ``joint`` (metres along), the next one after it, blended between."""
        vertices, faces = loft(axes, rows, rounding=(0.01 * self.size, 0.01 * self.size), **how)
        place = (vertices - axes.origin) @ axes.along
        second = smoothstep(place, joint - blend, joint + blend)
        weights = self.rigid(bones[0], len(vertices)) * (1.0 - second)[:, None]
        weights += self.rigid(bones[1], len(vertices)) * second[:, None]
        return SkinnedPart(vertices, faces, JOINT, weights)


def is_stock(skeleton: Skeleton) -> bool:
    """Whether the tables fit: the stock skeleton's bones, each pointing where the stock one points."""
    reference = _stock()
    if not skeleton.same_bones(reference):
        return False
    return bool((angle_between(skeleton.rest_world()[1], reference.rest_world()[1]) < np.radians(2.0)).all())


def make_figure_parts(skeleton: Skeleton) -> list[SkinnedPart]:
    """All parts of the mannequin for a skeleton that ``is_stock``."""
    heads, _ = skeleton.rest_world()
    reference = _stock()
    make = _Maker(skeleton, heads, float(skeleton.lengths.sum() / reference.lengths.sum()))
    swap = [skeleton.index(_other_side(name)) for name in skeleton.names]
    middle = _torso(make) + _head(make)
    left = _leg(make) + _arm(make) + _hand(make)
    return middle + left + [part.mirrored(swap) for part in left]


@functools.cache
def stock_parts() -> tuple[SkinnedPart, ...]:
    """Those of the stock skeleton, made once. Nothing of Blender's is touched, so that any thread may do it."""
    return tuple(make_figure_parts(stock.stock_skeleton()))


def _torso(make: _Maker) -> list[SkinnedPart]:
    size = make.size
    trunk = make.axes("pelvis", _UP)
    joint = float(make.heads[make.skeleton.index("chest"), 2] - trunk.origin[2])
    return [
        make.shell("pelvis", _PELVIS, _UP, sides=28, rings=9, rounding=(0.03 * size, 0.010 * size)),
        make.shell("chest", _CHEST, _UP, sides=28, rings=10, rounding=(0.010 * size, 0.008 * size)),
        make.skin(
            _sized(_TRUNK, make.stretch("pelvis"), size),
            trunk,
            ("pelvis", "chest"),
            joint,
            0.075 * size,
            sides=24,
            rings=8,
        ),
        make.skin(
            _sized(_NECK, make.stretch("head"), size),
            make.axes("head", _UP),
            ("chest", "head"),
            0.045 * size,
            0.05 * size,
            sides=16,
            rings=6,
        ),
    ]


def _head(make: _Maker) -> list[SkinnedPart]:
    size = make.size
    skull = make.shell("head", _HEAD, _UP, sides=24, rings=8, rounding=(0.012 * size, 0.0875 * size))
    return [skull, _visor(make)]


def _visor(make: _Maker) -> SkinnedPart:
    """A dark plate let into the face, so that one sees where the mannequin looks."""
    size = make.size
    vertices, faces = inlay(
        make.axes("head", _UP),
        _sized(_HEAD, make.stretch("head"), size),
        middle=0.160 * make.stretch("head"),
        height=0.021 * size,
        angle=np.radians(72.0),
        proud=0.0035 * size,
        grid=(21, 7),
    )
    return SkinnedPart(vertices, faces, JOINT, make.rigid("head", len(vertices)))


def _leg(make: _Maker) -> list[SkinnedPart]:
    size = make.size
    down = -_UP
    knee, ankle = make.skeleton.lengths[[make.skeleton.index("thigh.L"), make.skeleton.index("shin.L")]]
    knee_skin = _tube_rows(knee, (0.10 * size, 0.10 * size), (0.034 * size, 0.038 * size, 0.034 * size))
    # Short below the ankle, or it would come out of the sole.
    ankle_skin = _tube_rows(ankle, (0.06 * size, 0.02 * size), (0.023 * size, 0.026 * size, 0.024 * size))
    ends = (0.007 * size, 0.006 * size)
    return [
        make.shell("thigh.L", _THIGH, down, sides=20, rings=9, rounding=(0.012 * size, 0.007 * size)),
        make.shell("shin.L", _SHIN, down, sides=20, rings=8, rounding=ends),
        make.shell("foot.L", _FOOT, _FRONT, front=_UP, sides=20, rings=8, rounding=(0.018 * size, 0.022 * size)),
        make.joint_ball("thigh.L", (0.066, 0.070, 0.066), (0.006, 0.004, 0.0)),
        make.joint_ball("shin.L", (0.043, 0.045, 0.043)),
        make.joint_ball("foot.L", (0.029, 0.031, 0.031), (0.0, 0.0, 0.006)),
        make.skin(knee_skin, make.axes("thigh.L", down), ("thigh.L", "shin.L"), knee, 0.05 * size, sides=14, rings=8),
        make.skin(ankle_skin, make.axes("shin.L", down), ("shin.L", "foot.L"), ankle, 0.03 * size, sides=14, rings=6),
    ]


def _arm(make: _Maker) -> list[SkinnedPart]:
    size = make.size
    down = -_UP
    elbow = make.skeleton.lengths[make.skeleton.index("upper_arm.L")]
    elbow_skin = _tube_rows(elbow, (0.08 * size, 0.08 * size), (0.025 * size, 0.028 * size, 0.025 * size))
    ends = (0.006 * size, 0.005 * size)
    wrist = make.shell(
        "forearm.L",
        ((0.17, 0.0, 0.0, 0.020, 0.023, 0.023), (0.225, 0.0, 0.0, 0.014, 0.021, 0.021)),
        down,
        sides=14,
        rings=3,
        rounding=(0.004 * size, 0.004 * size),
    )
    return [
        make.shell("upper_arm.L", _UPPER_ARM, down, sides=20, rings=9, rounding=(0.044 * size, 0.006 * size)),
        make.shell("forearm.L", _FOREARM, down, sides=18, rings=8, rounding=ends),
        SkinnedPart(wrist.vertices, wrist.faces, JOINT, wrist.weights),
        make.joint_ball("upper_arm.L", (0.055, 0.052, 0.050), (-0.024, 0.0, -0.004)),
        make.joint_ball("forearm.L", (0.033, 0.034, 0.033)),
        make.skin(
            elbow_skin,
            make.axes("upper_arm.L", down),
            ("upper_arm.L", "forearm.L"),
            elbow,
            0.04 * size,
            sides=14,
            rings=7,
        ),
    ]


def _hand(make: _Maker) -> list[SkinnedPart]:
    """A relaxed hand at the end of the forearm: palm towards the body, thumb in front."""
    size, stretch = make.size, make.stretch("forearm.L")
    origin = make.heads[make.skeleton.index("forearm.L")]

    def finger(points: Sequence[Sequence[float]], radii: Sequence[float]) -> SkinnedPart:
        path = np.array([origin + _OUT * o * size + _FRONT * f * size - _UP * a * stretch for a, o, f in points])
        vertices, faces = tube(path, [r * size for r in radii], _FRONT, sides=8, rings=5)
        return SkinnedPart(vertices, faces, BODY, make.rigid("forearm.L", len(vertices)))

    made = [make.shell("forearm.L", _PALM, -_UP, sides=18, rings=5, rounding=(0.006 * size, 0.010 * size))]
    for front, radius, reach in _FINGERS:
        path = [
            (0.262, -0.004, front),
            (0.262 + 0.024 * reach, -0.008, front * 1.02),
            (0.262 + 0.040 * reach, -0.020, front),
            (0.262 + 0.044 * reach, -0.034, front * 0.95),
        ]
        made.append(finger(path, (radius, radius, radius * 0.93, radius * 0.82)))
    thumb = [(0.222, -0.004, 0.024), (0.242, -0.010, 0.041), (0.264, -0.016, 0.046), (0.280, -0.021, 0.043)]
    made.append(finger(thumb, (0.0115, 0.0110, 0.0098, 0.0085)))
    return made


def _tube_rows(joint: float, reach: tuple[float, float], radii: tuple[float, float, float]) -> Rows:
    """Sections of a round tube from ``reach[0]`` before the joint to ``reach[1]`` after it."""
    places = (joint - reach[0], joint, joint + reach[1])
    return tuple((place, 0.0, 0.0, r, r, r) for place, r in zip(places, radii, strict=True))


def _sized(rows: Rows, stretch: float, size: float) -> Rows:
    return tuple((row[0] * stretch, *(value * size for value in row[1:6]), *row[6:]) for row in rows)


def _other_side(name: str) -> str:
    return {"L": name[:-1] + "R", "R": name[:-1] + "L"}[name[-1]] if name[-2:] in (".L", ".R") else name


def _stock() -> Skeleton:
    return stock.stock_skeleton()
