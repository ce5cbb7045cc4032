# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits by hand put on a fitted body: shape, place, mass, limits, stiffness; and their mirror images."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import RigError
from ..geometry.quaternions import Array, conjugate, rotate, to_matrix
from .gains import Servo
from .link_solids import fill_shape, frame_along, shape_volume
from .model import BodyModel, Joint, Link, Shape
from .part_edit import PartEdit, ShapeKind
from .sagittal_plane import find_sagittal_plane

_BONE = np.array([0.0, 1.0, 0.0])  # along a bone, in its own frame


def apply_edits(body: BodyModel, edits: Mapping[str, PartEdit], mass_kg: float | None = None) -> BodyModel:
    """The body with the parts of these bones as they are wanted; bones that are no part of their own change nothing.

    mass_kg: what all of it weighs in the end; parts without a given mass make up for those with one.
    """
    hint = find_sagittal_plane(body)
    left = np.array([1.0, 0.0, 0.0]) if hint is None else hint.normal
    _, quats = body.skeleton.rest_world()
    links = [
        _edited(link, edits[link.bone], rotate(conjugate(quats[body.skeleton.index(link.bone)]), left))
        if link.bone in edits
        else link
        for link in body.links
    ]
    if mass_kg is not None:
        links = _weighing(links, edits, mass_kg)
    return replace(body, links=tuple(links))


def apply_stiffness(servos: Sequence[Servo], links: Sequence[Link], edits: Mapping[str, PartEdit]) -> list[Servo]:
    """The links' servos with the stiffness that was given by hand."""
    found = []
    for servo, link in zip(servos, links, strict=True):
        times = edits[link.bone].stiffness if link.bone in edits else 1.0
        found.append(replace(servo, kp=servo.kp * times, kd=servo.kd * times, torque_limit=servo.torque_limit * times))
    return found


def main_shape(link: Link) -> Shape:
    """The largest of a link's shapes: what a new one takes the place of."""
    return max(link.shapes, key=shape_volume)


def size_for_kind(shape: Shape, kind: ShapeKind) -> tuple[float, ...]:
    """``PartEdit.size_m`` of a shape, or of one of another kind that is about as large."""
    half = np.sort(_half_extents(shape))
    if kind == "sphere":
        return (float(shape.size[0]) if shape.kind == "sphere" else float(np.cbrt(shape_volume(shape) * 0.75 / np.pi)),)
    if kind == "capsule":
        radius = float(shape.size[0]) if shape.kind != "box" else float(0.5 * (half[0] + half[1]))
        return (radius, float(max(2.0 * half[2], 2.0 * radius)))
    return tuple(float(2.0 * value) for value in _half_extents(shape))


def mirror_edit(body: BodyModel, here: int, there: int, edit: PartEdit) -> PartEdit:
    """What is said of link ``here`` as it has to be said of its counterpart ``there``, for both to be mirror images.

    The bones of the two sides may be rolled differently, and a box's own axes may come in another order.
    """
    plane = find_sagittal_plane(body)
    if plane is None:
        return edit
    reflection = np.eye(3) - 2.0 * np.outer(plane.normal, plane.normal)
    _, quats = body.skeleton.rest_world()
    own, its = (to_matrix(quats[body.skeleton.index(body.links[index].bone)]) for index in (here, there))
    across = its.T @ reflection @ own  # from one bone's frame into the other's
    offset = tuple(across @ np.array(edit.offset_m) + 0.0)  # no -0
    size = edit.size_m
    if edit.shape == "box" and size:
        first, second = _axes(body, here, edit.shape), _axes(body, there, edit.shape)
        alike = np.abs(second.T @ across @ first)  # (3, 3) how much each of its axes lies along each of these
        size = tuple(size[int(np.argmax(row))] for row in alike)
        if sorted(size) != sorted(edit.size_m):  # askew: no order is right
            size = edit.size_m
    return replace(edit, offset_m=offset, size_m=size)


def opposite_link(body: BodyModel, index: int) -> int:
    """The link on the other side of the body; -1 for what is in the middle or has none."""
    link = body.links[index]
    other = {"L": "R", "R": "L"}.get(link.side, "")
    same = [i for i, each in enumerate(body.links) if (each.role, each.side) == (link.role, link.side)]
    across = [i for i, each in enumerate(body.links) if other and (each.role, each.side) == (link.role, other)]
    return across[same.index(index)] if len(same) == len(across) else -1


def _edited(link: Link, edit: PartEdit, left: Array) -> Link:
    """left: (3,) across the body, in the bone's frame."""
    moved = np.array(edit.offset_m)
    mass = link.mass if edit.mass_kg is None else edit.mass_kg
    joint = _limited(link.joint, edit.limits_rad)
    if edit.shape is None:
        shapes = tuple(replace(shape, pos=shape.pos + moved) for shape in link.shapes)
        inertia = link.inertia * (mass / link.mass)
        return replace(link, joint=joint, shapes=shapes, mass=mass, com=link.com + moved, inertia=inertia)
    fitted = main_shape(link)
    size = _model_size(edit.shape, edit.size_m or size_for_kind(fitted, edit.shape))
    shape = Shape(edit.shape, size, fitted.pos + moved, _turned(fitted, edit.shape, left))
    solid = fill_shape(shape, mass)
    return replace(link, joint=joint, shapes=(shape,), mass=mass, com=solid.com, inertia=solid.inertia)


def _limited(joint: Joint, limits: tuple[float, ...]) -> Joint:
    if not limits or joint.kind == "free":
        return joint
    if joint.kind == "ball":
        return replace(joint, max_angle=float(min(max(abs(value) for value in limits), np.pi)))
    low, high = limits if len(limits) == 2 else (-limits[0], limits[0])
    return replace(joint, lower=low, upper=high)


def _weighing(links: Sequence[Link], edits: Mapping[str, PartEdit], mass_kg: float) -> list[Link]:
    """The links with masses that were not given scaled to what is left of the sum."""
    by_hand = [link.bone in edits and edits[link.bone].mass_kg is not None for link in links]
    given = sum(link.mass for link, fixed in zip(links, by_hand, strict=True) if fixed)
    others = sum(link.mass for link, fixed in zip(links, by_hand, strict=True) if not fixed)
    if others == 0.0:
        return list(links)
    if given >= mass_kg:
        raise RigError(
            f"The parts that were weighed by hand have {given:.1f} kg, and the whole body {mass_kg:.1f} kg",
            "Make the body heavier, or those parts lighter",
        )
    times = (mass_kg - given) / others
    return [
        link if fixed else replace(link, mass=link.mass * times, inertia=link.inertia * times)
        for link, fixed in zip(links, by_hand, strict=True)
    ]


def _model_size(kind: ShapeKind, size: Sequence[float]) -> Array:
    """(3,) ``Shape.size``; a capsule shorter than its two ends is a ball."""
    if kind == "sphere":
        return np.array([size[0], 0.0, 0.0])
    if kind == "capsule":
        return np.array([size[0], max(0.5 * size[1] - size[0], 1e-4), 0.0])
    return 0.5 * np.array(size)


def _half_extents(shape: Shape) -> Array:
    """(3,) along the shape's own axes."""
    if shape.kind == "box":
        return np.array(shape.size)
    radius = float(shape.size[0])
    return np.array([radius, radius, radius + (float(shape.size[1]) if shape.kind == "capsule" else 0.0)])


def _turned(fitted: Shape, kind: ShapeKind, left: Array) -> Array:
    """(4,) how a shape of that kind lies where ``fitted`` was: along the same way, a new box square to the body."""
    if kind == fitted.kind or kind == "sphere":
        return fitted.quat_wxyz
    longest = int(np.argmax(_half_extents(fitted)))
    along = _BONE if fitted.kind == "sphere" else to_matrix(fitted.quat_wxyz)[:, longest]
    return frame_along(along, left if abs(left @ along) < 0.9 else None)


def _axes(body: BodyModel, index: int, kind: ShapeKind) -> Array:
    """(3, 3) the axes in its bone's frame that a shape of that kind has on a link."""
    plane = find_sagittal_plane(body)
    assert plane is not None
    link = body.links[index]
    _, quats = body.skeleton.rest_world()
    left = rotate(conjugate(quats[body.skeleton.index(link.bone)]), plane.normal)
    return to_matrix(_turned(main_shape(link), kind, left))
