# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage as a Bullet world: the only place that knows how Bullet spells a link, a limit or a height field.

Contacts must not depend on what was before, or a copy that is put back would go on differently. Bullet finds one point
a step where round or flat things meet and remembers the others, so boxes and capsules are given balls at their corners
and ends, which carry them on flat ground by themselves; the solid inside is a hair thinner.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pybullet

from ....body import BodyModel, Link, Shape
from ....errors import BadMotion
from ....geometry.quaternions import Array, rotate
from ...collision_filter import excluded_pairs
from ...mass_properties import hull_corners, prop_mass_properties
from ...stage import Character, Prop, Stage, Terrain
from .frames import BodyFrames, SolidFrame

# Collision filter: each kind has a bit, and each character its own. The lowest is Bullet's for rays.
_STATIC, _PROP, _FIRST_CHARACTER = 2, 4, 8
MOST_CHARACTERS = 24
_ALL = _FIRST_CHARACTER * (1 << MOST_CHARACTERS) - 1

# Radius of the balls at a box's corners, and how much thinner the solid inside is, in metres.
_CORNER_M, _THINNER_M = 0.01, 0.004
_MOST_SHAPES = 16  # that Bullet's call takes for one body
_MOST_CORNERS = 12

# What Bullet multiplies the gain of a motor of a ball with; see ``character``.
ERP = 0.2
# Of a mannequin that is dropped and pushed, links are 13 mm from where they should be after 50 iterations, 8 mm after
# 100, 5 mm after 150, 3 mm after 200: contacts converge slowly under a tall pile of joints.
_ITERATIONS = 150
# Bullet would hold faster parts back; nothing on a stage is.
_FASTEST = 1e3


class Scene:
    """A stage in a Bullet client of its own. ``characters`` and ``props`` are Bullet's numbers of their bodies."""

    def __init__(self, stage: Stage, dt_s: float) -> None:
        if len(stage.characters) > MOST_CHARACTERS:
            raise BadMotion(
                f"There are {len(stage.characters)} characters on the stage", f"Use {MOST_CHARACTERS} at most"
            )
        self.client: int = pybullet.connect(pybullet.DIRECT)
        self._options: dict[str, Any] = {"physicsClientId": self.client}
        pybullet.setGravity(*map(float, stage.gravity), **self._options)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=dt_s, numSubSteps=0, numSolverIterations=_ITERATIONS, solverResidualThreshold=1e-7,
            erp=ERP, contactERP=0.2, frictionERP=0.2, warmStartingFactor=0.0, deterministicOverlappingPairs=1,
            enableConeFriction=1, enableFileCaching=0, **self._options,
        )  # fmt: skip
        self._add_static(*self._ground(stage.terrain), stage.friction)
        for obstacle in stage.obstacles:
            for piece in obstacle.pieces:
                corners = hull_corners(obstacle.name, piece)
                middle = corners.mean(axis=0)
                self._add_static(self._hull(corners - middle), middle, obstacle.friction)
        self.characters = [self._add_character(index, character) for index, character in enumerate(stage.characters)]
        self.props = [self._add_prop(prop) for prop in stage.props]

    def forget_contacts(self) -> None:
        """Make the next step begin as if nothing had ever touched."""
        for body in (*self.characters, *self.props):
            pybullet.setCollisionFilterPair(body, -1, -1, -1, 1, **self._options)

    def close(self) -> None:
        """Let Bullet forget it all."""
        pybullet.disconnect(**self._options)

    @staticmethod
    def seen_by(character: int) -> int:
        """The mask of all that is not the character's own."""
        return _ALL & ~(_FIRST_CHARACTER << character)

    def _ground(self, terrain: Terrain | None) -> tuple[int, Array]:
        if terrain is None:
            plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=[0, 0, 1], **self._options)
            return plane, np.zeros(3)
        rows, columns = terrain.heights.shape
        low, high = float(terrain.heights.min()), float(terrain.heights.max())
        shape = pybullet.createCollisionShape(
            pybullet.GEOM_HEIGHTFIELD, meshScale=[terrain.spacing, terrain.spacing, 1.0],
            # Or things that slide would trip over the seams between triangles.
            flags=pybullet.GEOM_CONCAVE_INTERNAL_EDGE,
            heightfieldData=terrain.heights.ravel().tolist(), numHeightfieldRows=columns, numHeightfieldColumns=rows,
            **self._options,
        )  # fmt: skip
        # Bullet puts the middle of the field at the body's origin.
        middle = terrain.origin[:2] + 0.5 * terrain.spacing * np.array([columns - 1, rows - 1])
        return shape, np.array([middle[0], middle[1], 0.5 * (low + high)])

    def _add_static(self, shape: int, pos: Array, friction: float) -> None:
        body = pybullet.createMultiBody(0.0, shape, basePosition=pos.tolist(), **self._options)
        pybullet.changeDynamics(body, -1, lateralFriction=friction, restitution=0.0, **self._options)
        pybullet.setCollisionFilterGroupMask(body, -1, _STATIC, _ALL & ~_STATIC, **self._options)

    def _add_character(self, index: int, character: Character) -> int:
        body, frames = character.body, BodyFrames(character.body)
        shapes = [self._shapes(_carried(link)) for link in body.links]
        joints = [link.joint for link in body.links[1:]]
        flags = pybullet.URDF_MAINTAIN_LINK_ORDER | (
            pybullet.URDF_USE_SELF_COLLISION if character.self_collision else 0
        )
        number: int = pybullet.createMultiBody(
            body.links[0].mass, shapes[0],
            baseInertialFramePosition=frames.com[0].tolist(), baseInertialFrameOrientation=xyzw(frames.turn[0]),
            linkMasses=frames.masses[1:].tolist(), linkCollisionShapeIndices=shapes[1:],
            linkVisualShapeIndices=[-1] * len(joints),
            linkPositions=[joint.pos.tolist() for joint in joints],
            linkOrientations=[xyzw(joint.zero_quat_wxyz) for joint in joints],
            linkInertialFramePositions=frames.com[1:].tolist(),
            linkInertialFrameOrientations=[xyzw(turn) for turn in frames.turn[1:]],
            linkParentIndices=frames.parents[1:].tolist(),
            linkJointTypes=[
                pybullet.JOINT_SPHERICAL if joint.kind == "ball" else pybullet.JOINT_REVOLUTE for joint in joints
            ],
            linkJointAxis=[joint.axis.tolist() for joint in joints], flags=flags, **self._options,
        )  # fmt: skip
        own = _FIRST_CHARACTER << index
        for link in range(len(body.links)):
            self._set_link(number, link - 1, frames.masses[link], frames.moments[link], 1.0)
            mask = _ALL if character.self_collision else _ALL & ~own
            pybullet.setCollisionFilterGroupMask(number, link - 1, own, mask, **self._options)
        self._set_body(number)
        self._set_limits(number, body)
        if character.self_collision:
            for first, second in excluded_pairs(body):
                pybullet.setCollisionFilterPair(number, number, first - 1, second - 1, 0, **self._options)
        return number

    def _set_limits(self, number: int, body: BodyModel) -> None:
        for index, link in enumerate(body.links):
            joint = link.joint
            if joint.kind == "hinge" and joint.upper - joint.lower < 2.0 * np.pi:
                pybullet.changeDynamics(
                    number, index - 1, jointLowerLimit=joint.lower, jointUpperLimit=joint.upper, **self._options
                )

    def _add_prop(self, prop: Prop) -> int:
        frame = SolidFrame(prop_mass_properties(prop))
        # Bullet reads the file of convex pieces once more when it makes the body.
        with tempfile.TemporaryDirectory() as folder:
            number: int = pybullet.createMultiBody(
                prop.mass, self._prop_shape(prop, Path(folder)), baseInertialFramePosition=frame.com.tolist(),
                baseInertialFrameOrientation=xyzw(frame.turn), **self._options,
            )  # fmt: skip
        self._set_link(number, -1, prop.mass, frame.moments, prop.friction)
        self._set_body(number)
        pybullet.setCollisionFilterGroupMask(number, -1, _PROP, _ALL, **self._options)
        return number

    def _set_link(self, number: int, link: int, mass: float, moments: Array, friction: float) -> None:
        pybullet.changeDynamics(
            number, link, mass=mass, localInertiaDiagonal=moments.tolist(), lateralFriction=friction, restitution=0.0,
            jointDamping=0.0, **self._options,
        )  # fmt: skip

    def _set_body(self, number: int) -> None:
        # In one call with what is a link's own, Bullet would take all of it for the root's.
        pybullet.changeDynamics(
            number, -1, linearDamping=0.0, angularDamping=0.0, maxJointVelocity=_FASTEST, **self._options
        )

    def _prop_shape(self, prop: Prop, folder: Path) -> int:
        if prop.shape is not None:
            return self._shapes(_with_corners(prop.shape))
        hulls = [hull_corners(prop.name, piece) for piece in prop.pieces]
        balls: list[Shape] = []
        for hull in hulls:
            if len(balls) + len(hull) <= _MOST_CORNERS:
                balls += _corner_balls(hull)
        # The one way to have several hulls and balls in one body is a file with an object for each hull.
        path = folder / "pieces.obj"
        path.write_text(_obj(hulls), encoding="ascii")
        return self._shapes(balls, str(path))

    def _hull(self, corners: Array) -> int:
        shape: int = pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=corners.tolist(), **self._options)
        return shape

    def _shapes(self, shapes: list[Shape], mesh: str = "") -> int:
        """One shape of several, and of a file of convex pieces if there is one; -1 for nothing."""
        if not shapes and not mesh:
            return -1
        kinds = {"sphere": pybullet.GEOM_SPHERE, "capsule": pybullet.GEOM_CAPSULE, "box": pybullet.GEOM_BOX}
        first = [pybullet.GEOM_MESH] if mesh else []
        pad = len(first)
        number: int = pybullet.createCollisionShapeArray(
            shapeTypes=first + [kinds[shape.kind] for shape in shapes],
            radii=[0.0] * pad + [float(shape.size[0]) for shape in shapes],
            halfExtents=[[0.0] * 3] * pad + [shape.size.tolist() for shape in shapes],
            lengths=[0.0] * pad + [2.0 * float(shape.size[1]) for shape in shapes],
            fileNames=[mesh] * pad + [""] * len(shapes),
            meshScales=[[1.0] * 3] * (pad + len(shapes)),
            collisionFramePositions=[[0.0] * 3] * pad + [shape.pos.tolist() for shape in shapes],
            collisionFrameOrientations=[[0.0, 0.0, 0.0, 1.0]] * pad + [xyzw(shape.quat_wxyz) for shape in shapes],
            **self._options,
        )  # fmt: skip
        return number


def xyzw(quat_wxyz: Array) -> list[float]:
    """One quaternion in Bullet's order."""
    w, x, y, z = map(float, quat_wxyz)
    return [x, y, z, w]


def _carried(link: Link) -> list[Shape]:
    """The shapes of a link with balls where they meet flat ground, as many as Bullet takes."""
    shapes: list[Shape] = []
    for index, shape in enumerate(link.shapes):
        carried = _with_corners(shape)
        room = _MOST_SHAPES - len(shapes) - (len(link.shapes) - index - 1)
        shapes += carried if len(carried) <= room else [shape]
    if len(shapes) > _MOST_SHAPES:
        raise BadMotion(f"'{link.bone}' has {len(shapes)} shapes", f"Use {_MOST_SHAPES} at most")
    return shapes


def _with_corners(shape: Shape) -> list[Shape]:
    if shape.kind == "sphere":
        return [shape]
    thinner = min(_THINNER_M, 0.2 * float(shape.size[: 3 if shape.kind == "box" else 1].min()))
    if shape.kind == "capsule":
        radius, half = float(shape.size[0]), float(shape.size[1])
        ends = np.array([[0.0, 0.0, -half], [0.0, 0.0, half]])
        inside = Shape("capsule", np.array([radius - thinner, half, 0.0]), shape.pos, shape.quat_wxyz)
    else:
        radius = min(_CORNER_M, 0.5 * float(shape.size.min()))
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        ends = signs * (shape.size - radius)
        inside = Shape("box", shape.size - thinner, shape.pos, shape.quat_wxyz)
    balls = shape.pos + rotate(shape.quat_wxyz, ends)
    return [inside, *(Shape("sphere", np.array([radius, 0.0, 0.0]), pos) for pos in balls)]


def _corner_balls(hull: Array) -> list[Shape]:
    """Small balls just inside the corners of a convex piece."""
    inward = hull.mean(axis=0) - hull
    radius = min(0.5 * _THINNER_M, 0.1 * float(np.linalg.norm(inward, axis=-1).min()))
    # On the way to the middle from the corner of a cube the three faces are left behind together.
    centres = hull + np.sqrt(3.0) * radius * inward / np.linalg.norm(inward, axis=-1, keepdims=True)
    return [Shape("sphere", np.array([radius, 0.0, 0.0]), pos) for pos in centres]


def _obj(hulls: list[Array]) -> str:
    """Convex pieces as a Wavefront file, each a hair thinner; only the corners count, so faces are a fan of them."""
    lines, first = [], 1
    for index, hull in enumerate(hulls):
        middle = hull.mean(axis=0)
        size = float(np.linalg.norm(hull - middle, axis=-1).max())
        corners = middle + (hull - middle) * (1.0 - min(_THINNER_M / size, 0.2))
        lines.append(f"o piece{index}")
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in corners.tolist()]
        lines += [f"f {first} {first + corner} {first + corner + 1}" for corner in range(1, len(hull) - 1)]
        first += len(hull)
    return "\n".join(lines) + "\n"
