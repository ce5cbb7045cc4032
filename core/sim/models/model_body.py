# SPDX-License-Identifier: GPL-3.0-or-later
"""From a compiled model to a body with a bone a link, and to what is seen of each link."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel, Joint, Link, Shape
from ...body.four_legs import lowest_height
from ...body.given_roles import name_given_links
from ...body.poses import link_transforms
from ...errors import BadFile
from ...geometry.quaternions import Array, from_matrix, rotate
from ...limits import BLENDER_NAME_BYTES
from ...motion import Skeleton
from ...motion.skeleton import to_local
from .compiled_model import CompiledGeom, CompiledJoint, CompiledLink
from .surfaces import geom_surface

# Of a link's mass, what goes to each massless joint above it where a model has several joints on one link.
_SHARE = 0.02
_FLAT = 1.6  # a mesh longer than that in one direction is a capsule
_SHORTEST_M = 0.02  # of a bone
_NO_SHAPE_M = 0.01  # radius of what stands for a link that collides with nothing
_Y_UP: Array = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class SeenPart:
    """What is seen of a link: vertices (V, 3) in the world at rest, faces (F, 3), colour (4,)."""

    bone: str
    vertices: Array
    faces: NDArray[np.int64]
    colour: Array


def make_model_body(links: Sequence[CompiledLink], scale: float) -> tuple[BodyModel, list[SeenPart]]:
    """The body, standing on the ground in a pose that its joints reach, without servos; and what is seen of it.

    scale: metres a unit of the model. Masses are its own; inertias go with the square of lengths.
    """
    links = _turned(_split_rows(links), scale)
    frames = [_bone_frame(links, index) for index in range(len(links))]
    names = _unique([link.name for link in links])
    body = _body(links, frames, names)
    body = replace(body, links=tuple(_with_role(body, i, role) for i, role in enumerate(_roles(body))))
    qpos = _reachable_pose(body)
    body = replace(body, skeleton=_resting(body, qpos))
    return body, _seen(links, body, frames)


def _split_rows(links: Sequence[CompiledLink]) -> list[CompiledLink]:
    """The links with one joint each: of several on one link, each above the last gets a small share of its mass."""
    found: list[CompiledLink] = []
    places: list[int] = []
    for link in links:
        parent = places[link.parent] if link.parent >= 0 else -1
        left = 1.0 - _SHARE * (len(link.joints) - 1)
        for number, joint in enumerate(link.joints[:-1]):
            found.append(
                CompiledLink(
                    f"{link.name} {joint.name or number}",
                    parent,
                    [joint],
                    _SHARE * link.mass,
                    link.com,
                    _SHARE * link.inertia,
                    [],
                )
            )
            parent = len(found) - 1
        mass, inertia = left * link.mass, left * link.inertia
        found.append(replace(link, parent=parent, joints=link.joints[-1:], mass=mass, inertia=inertia))
        places.append(len(found) - 1)
    return found


def _turned(links: list[CompiledLink], scale: float) -> list[CompiledLink]:
    """The links in metres with Z up; a model whose ends hang along its Y was made with that up."""
    parents = {link.parent for link in links}
    anchors = np.array([link.joints[0].anchor for link in links])
    ends = [index for index in range(1, len(links)) if index not in parents]
    down = (anchors[ends] - anchors[0]).mean(axis=0) if ends else np.zeros(3)
    turn = _Y_UP if -down[1] > 1.5 * abs(down[2]) else np.eye(3)

    def joint_of(joint: CompiledJoint) -> CompiledJoint:
        return replace(joint, anchor=scale * turn @ joint.anchor, axis=turn @ joint.axis)

    def geom_of(geom: CompiledGeom) -> CompiledGeom:
        moved = replace(geom, pos=scale * turn @ geom.pos, turn=turn @ geom.turn)
        return replace(moved, size=scale * geom.size, centre=scale * geom.centre, vertices=scale * geom.vertices)

    return [
        replace(
            link,
            joints=[joint_of(joint) for joint in link.joints],
            com=scale * turn @ link.com,
            inertia=scale**2 * turn @ link.inertia @ turn.T,
            geoms=[geom_of(geom) for geom in link.geoms],
        )
        for link in links
    ]


def _bone_frame(links: Sequence[CompiledLink], index: int) -> tuple[Array, float]:
    """(3, 3) the bone's axes in the world, Y along it and X along its hinge where it can be, and its length."""
    link, head = links[index], links[index].joints[0].anchor
    below = [each.joints[0].anchor - head for each in links if each.parent == index]
    ways = [way for way in below if np.linalg.norm(way) > _SHORTEST_M]
    if index == 0:
        along = np.array([0.0, 0.0, 0.5 * max((float(np.linalg.norm(way)) for way in ways), default=0.1)])
    elif len(below) == 1 and ways:
        along = ways[0]
    else:
        along = 2.0 * (link.com - head) if np.linalg.norm(link.com - head) > _SHORTEST_M else 0.05 * _near(below)
    length = float(np.linalg.norm(along))
    axis = link.joints[0].axis if link.joints[0].kind == "hinge" else np.array([1.0, 0.0, 0.0])
    y = along / length
    hint = axis if abs(axis @ y) < 0.9 else np.eye(3)[int(np.argmin(np.abs(y)))]
    x = hint - hint @ y * y
    x /= np.linalg.norm(x)
    frame = np.stack([x, y, np.cross(x, y)], axis=-1)
    return frame, max(length, _SHORTEST_M)


def _near(below: Sequence[Array]) -> Array:
    """(3,) which way a link without any extent points."""
    total = np.sum(below, axis=0) if below else np.zeros(3)
    size = float(np.linalg.norm(total))
    return np.asarray(total / size) if size > 1e-6 else np.array([0.0, 0.0, -1.0])


def _unique(names: Sequence[str]) -> list[str]:
    """Names as Blender has them: short enough, and all different."""
    found: list[str] = []
    for name in names:
        short = name.encode()[: BLENDER_NAME_BYTES - 5].decode(errors="ignore") or "link"
        number, one = 1, short
        while one in found:
            number, one = number + 1, f"{short}.{number:03d}"
        found.append(one)
    return found


def _body(links: Sequence[CompiledLink], frames: Sequence[tuple[Array, float]], names: Sequence[str]) -> BodyModel:
    parents = np.array([link.parent for link in links], dtype=np.int64)
    heads = np.array([link.joints[0].anchor for link in links])
    turns = from_matrix(np.array([frame for frame, _ in frames]))
    pos, quat = to_local(parents, heads, turns)
    skeleton = Skeleton(tuple(names), parents, pos, quat, np.array([length for _, length in frames]))
    made = []
    for index, link in enumerate(links):
        frame, joint = frames[index][0], link.joints[0]
        if joint.kind == "ball" and joint.upper <= 0.0:
            joint = replace(joint, upper=np.pi)
        own = Joint(
            joint.kind,  # type: ignore[arg-type]  # one of the three, by the compiler's table
            pos[index],
            quat[index],
            frame.T @ joint.axis if joint.kind == "hinge" else np.array([1.0, 0.0, 0.0]),
            joint.lower,
            joint.upper,
            min(joint.upper, np.pi) if joint.kind == "ball" else np.pi,
            torque_limit=joint.effort,
        )
        inertia = frame.T @ link.inertia @ frame
        shapes = tuple(_shape(geom, heads[index], frame) for geom in link.geoms if geom.collides)
        com = frame.T @ (link.com - heads[index])
        shapes = shapes or (Shape("sphere", np.array([_NO_SHAPE_M, 0.0, 0.0]), com),)
        made.append(
            Link(names[index], "", "", link.parent, own, shapes, link.mass, com, 0.5 * (inertia + inertia.T))
        )  # fmt: skip
    return BodyModel(skeleton, tuple(made))


def _shape(geom: CompiledGeom, head: Array, frame: Array) -> Shape:
    """The shape in its bone's frame; what is no sphere, capsule or box becomes the nearest of them."""
    turn, pos, size = geom.turn, geom.pos + geom.turn @ geom.centre, geom.size
    kind = geom.kind
    if kind == "cylinder":
        kind = "capsule" if size[1] > size[0] else "box"
        size = np.array([size[0], size[1] - size[0], 0.0]) if kind == "capsule" else np.array([*size[[0, 0]], size[1]])
    elif kind in ("ellipsoid", "mesh"):
        order = np.argsort(size)
        kind = "box"
        if geom.kind == "ellipsoid" or size[order[2]] > _FLAT * size[order[1]]:
            kind, radius = "capsule", float(0.5 * (size[order[0]] + size[order[1]]))
            turn = turn @ _axis_last(int(order[2]))
            size = np.array([radius, max(size[order[2]] - radius, 1e-4), 0.0])
    size = np.maximum(size, 1e-4) if kind == "box" else size
    return Shape(kind, size, frame.T @ (pos - head), from_matrix(frame.T @ turn))  # type: ignore[arg-type]


def _axis_last(axis: int) -> Array:
    """(3, 3) a turn that brings one axis to where Z is."""
    return np.eye(3)[:, [(axis + 1) % 3, (axis + 2) % 3, axis]]


def _roles(body: BodyModel) -> list[tuple[str, str]]:
    return name_given_links(body.skeleton, [link.parent for link in body.links])


def _with_role(body: BodyModel, index: int, named: tuple[str, str]) -> Link:
    return replace(body.links[index], role=named[0], side=named[1])


def _reachable_pose(body: BodyModel) -> Array:
    """(nq,) all joints as near to zero as they go; a thigh over a knee that must bend is turned to above its foot."""
    qpos = np.zeros(body.nq)
    pos, quat = body.skeleton.rest_world()
    qpos[:3], qpos[3:7] = pos[0], quat[0]
    starts = body.qpos_starts
    for index, link in enumerate(body.links[1:], start=1):
        if link.joint.kind == "ball":
            qpos[starts[index]] = 1.0
        else:
            qpos[starts[index]] = float(np.clip(0.0, link.joint.lower, link.joint.upper))
    for index, link in enumerate(body.links[1:], start=1):
        above = body.links[link.parent]
        if link.role in ("shin", "forearm") and qpos[starts[index]] != 0.0 and above.joint.kind == "hinge":
            _stand_over_foot(body, qpos, index)
    lowest = _lowest(body, qpos)
    qpos[2] -= lowest
    return qpos


def _stand_over_foot(body: BodyModel, qpos: Array, shin: int) -> None:
    """Turn the thigh above a bent knee so that the leg's end is below its beginning."""
    thigh = body.links[shin].parent
    place = int(body.qpos_starts[thigh])
    joint, links = body.links[thigh].joint, body.links
    tip = max((shape.pos for shape in links[shin].shapes), key=lambda pos: float(np.linalg.norm(pos)))
    angles = np.clip(np.linspace(-1.5, 1.5, 301), joint.lower, joint.upper)
    tried = np.tile(qpos, (len(angles), 1))
    tried[:, place] = angles
    pos, quat = link_transforms(body, tried)
    away = pos[:, shin] + rotate(quat[:, shin], np.broadcast_to(tip, (len(angles), 3))) - pos[:, thigh]
    off = np.hypot(away[:, 0], away[:, 1]) + np.where(away[:, 2] > 0.0, 10.0, 0.0)
    qpos[place] = angles[int(np.argmin(off))]


def _lowest(body: BodyModel, qpos: Array) -> float:
    """Metres: the lowest point of all shapes."""
    pos, quat = link_transforms(body, qpos)
    return min(
        float(lowest_height(shape, pos[i][None], quat[i][None])[0])
        for i, link in enumerate(body.links)
        for shape in link.shapes
    )


def _resting(body: BodyModel, qpos: Array) -> Skeleton:
    pos, quat = link_transforms(body, qpos)
    own = body.skeleton
    local = to_local(own.parents, pos, quat)
    return Skeleton(own.names, own.parents, *local, own.lengths)


def _seen(links: Sequence[CompiledLink], body: BodyModel, frames: Sequence[tuple[Array, float]]) -> list[SeenPart]:
    """What is seen: visual shapes, or those that collide where a link has no others."""
    pos, quat = body.skeleton.rest_world()
    found = []
    for index, link in enumerate(links):
        frame, head = frames[index][0], link.joints[0].anchor
        shown = [geom for geom in link.geoms if not geom.collides] or link.geoms
        for geom in shown:
            vertices, faces = geom_surface(geom)
            local = (vertices @ geom.turn.T + geom.pos - head) @ frame
            at = pos[index] + rotate(quat[index], local)
            found.append(SeenPart(body.links[index].bone, at, faces, geom.colour))
    if not found:
        raise BadFile("There is nothing to be seen of the model", "Choose one with shapes or meshes")
    return found
