# SPDX-License-Identifier: GPL-3.0-or-later
"""A physical body for any armature: roles, plan, solids, joints and servos put together."""

import logging
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..errors import RigError
from ..motion import Clip, Skeleton
from .anatomy import SkeletonTree
from .body_measures import settle_rest_pose
from .creature import creature_solids, share_mass
from .edits import apply_edits, apply_stiffness
from .fit import FitReport, fit_body
from .gains import Servo, scale_servos, with_servo
from .human import human_solids
from .joints import FittedJoint, fit_joints
from .limits import widen_limits
from .link_solids import LinkSolid
from .mesh import SkinnedMesh
from .model import BodyModel, Link
from .part_edit import PartEdit
from .plan import BodyPlan, plan_body
from .poses import loss_of_clip, pose_of_clip
from .presets import BodyPreset, body_preset, gain_preset
from .report import BodyReport, BoneChoice, LinkChoice
from .roles import find_roles
from .tables import mass_fractions

_LOG = logging.getLogger(__name__)
_MUCH_RAD, _MUCH_OF_STATURE = np.radians(15.0), 0.05
_LIKELY_M = (0.2, 6.0)
_PEOPLE_M = (1.0, 2.2)  # statures between which body mass grows with the square of stature


def build_body(
    skeleton: Skeleton,
    *,
    clip: Clip | None = None,
    mesh: SkinnedMesh | None = None,
    overrides: Mapping[str, str] | None = None,
    preset: str = "adult",
    gains: str = "athlete",
    mass_kg: float | None = None,
    edits: Mapping[str, PartEdit] | None = None,
) -> tuple[BodyModel, BodyReport]:
    """A body for the skeleton, and a report of every choice.

    clip: tells hinge axes, widens joint limits, and helps where the rest pose says too little.
    mesh: what the skeleton moves; shapes and masses are fitted to it instead of taken from tables.
    overrides: by bone name a role ('thigh.L', 'spine'), 'ride' or 'merge'.
    preset: how heavy people of that stature are; four legs weigh what their capsules do. gains: of the servos.
    mass_kg: body mass instead of the preset's or the mesh's.
    edits: by bone name what its part is to be, whatever was fitted.
    Refuses a skeleton that cannot have a body with a ``RigError`` that names what is missing.
    """
    _check_inputs(skeleton, clip, mass_kg)
    shape, gain = body_preset(preset), gain_preset(gains)
    tree = SkeletonTree.of(skeleton)
    roles = find_roles(tree, clip, overrides)
    plan = plan_body(settle_rest_pose(tree, roles, clip), roles)
    solids, source = _solids(plan, shape, mass_kg, clip)
    fitted = fit_joints(plan, clip)
    body = BodyModel(skeleton, tuple(_link(plan, i, solids[i], fitted[i]) for i in range(len(plan.links))))
    body = _contain_poses(body, clip)
    sources = dict.fromkeys((link.bone for link in body.links), source)
    if mesh is not None:
        body, worn = fit_body(body, mesh)
        sources |= _mesh_sources(worn)
    if plan.measures.four_legged:
        body = replace(body, links=share_mass(body.links))
    if mass_kg is not None:
        body = _scale_mass(body, mass_kg)
    body = apply_edits(body, edits or {}, mass_kg)
    servos = apply_stiffness(scale_servos(body.links, gain, plan.measures.four_legged), body.links, edits or {})
    body = _with_servos(body, servos)
    for bone, edit in (edits or {}).items():
        if edit.says:
            sources[bone] = f"{sources.get(bone, '')}; by hand: {', '.join(edit.says)}"
    report = _report(plan, body, fitted, servos, sources, (preset, gains))
    if clip is not None:
        losses = _loss_notes(body, clip, plan.measures.stature)
        report = replace(report, notes=(*report.notes, *losses, *_limit_notes(body, clip, edits or {})))
    _LOG.info("body of %d links, %.1f kg, %d degrees of freedom", len(body.links), body.mass, body.nv)
    return body, report


def _check_inputs(skeleton: Skeleton, clip: Clip | None, mass_kg: float | None) -> None:
    if clip is not None and not clip.skeleton.same_bones(skeleton):
        raise RigError("The clip has other bones than the skeleton", "Give a clip of this skeleton")
    if mass_kg is not None and not (np.isfinite(mass_kg) and mass_kg > 0.0):
        raise RigError(f"The body's mass is {mass_kg} kg", "Give a mass above zero")


def _mesh_sources(worn: FitReport) -> dict[str, str]:
    """By bone where its shape is from, of those that the mesh has vertices for."""
    return {
        bone: f"fitted to {count} vertices of the mesh, {1000.0 * worn.rms_m[bone]:.0f} mm off"
        for bone, count in worn.vertices.items()
        if count
    }


def _with_servos(body: BodyModel, servos: list[Servo]) -> BodyModel:
    pairs = zip(body.links, servos, strict=True)
    return replace(body, links=tuple(replace(link, joint=with_servo(link.joint, servo)) for link, servo in pairs))


def _contain_poses(body: BodyModel, clip: Clip | None) -> BodyModel:
    """The body with joint limits that contain the rest pose and the clip."""
    rest = Clip(body.skeleton, 1.0, body.skeleton.rest_pos[None], body.skeleton.rest_quat_wxyz[None])
    for each in (rest,) if clip is None else (rest, clip, clip):
        # Twice for the clip: the poses of a limb that its hinge cannot follow depend a little on the limits.
        body = widen_limits(body, pose_of_clip(body, each)[0])
    return body


def _body_mass(preset: BodyPreset, stature: float) -> float:
    """Mass in kg of a whole person of that stature; what is larger or smaller than people keeps its build instead."""
    within = float(np.clip(stature, *_PEOPLE_M))
    return preset.bmi * within**2 * (stature / within) ** 3


def _solids(
    plan: BodyPlan, preset: BodyPreset, mass_kg: float | None, clip: Clip | None
) -> tuple[dict[int, LinkSolid], str]:
    """Every link's solid in the world at rest, and where they are from."""
    if plan.measures.four_legged:
        return creature_solids(plan), "capsules along the bones"
    whole = mass_kg if mass_kg is not None else _body_mass(preset, plan.measures.stature)
    masses = {name: whole * part for name, part in mass_fractions(preset.head).items()}
    return human_solids(plan, masses, clip), "segments by de Leva (1996)"


def _scale_mass(body: BodyModel, mass_kg: float) -> BodyModel:
    """The body with all masses scaled to that sum."""
    factor = mass_kg / body.mass
    links = (replace(link, mass=link.mass * factor, inertia=link.inertia * factor) for link in body.links)
    return replace(body, links=tuple(links))


def _link(plan: BodyPlan, index: int, solid: LinkSolid, fitted: FittedJoint) -> Link:
    planned, tree = plan.links[index], plan.tree
    own = solid.seen_from(tree.heads[planned.bone], tree.quats[planned.bone])
    names = tree.skeleton.names
    return Link(
        names[planned.bone],
        planned.role,
        planned.side,
        planned.parent,
        fitted.joint,
        own.shapes,
        own.mass,
        own.com,
        own.inertia,
        tuple(names[bone] for bone in planned.merged),
    )


def _report(
    plan: BodyPlan,
    body: BodyModel,
    fitted: list[FittedJoint],
    servos: list[Servo],
    sources: Mapping[str, str],
    presets: tuple[str, str],
) -> BodyReport:
    links = tuple(
        LinkChoice(
            link.bone,
            link.role,
            link.side,
            body.links[link.parent].bone if link.parent >= 0 else "",
            link.mass,
            servo.load,
            joint.why,
            sources[link.bone],
        )
        for link, joint, servo in zip(body.links, fitted, servos, strict=True)
    )
    notes = [f"'{body.links[i].bone}' {planned.note}" for i, planned in enumerate(plan.links) if planned.note]
    stature = plan.measures.stature
    if not _LIKELY_M[0] < stature < _LIKELY_M[1]:
        notes.append(f"The character is {stature:.3g} m tall: check the scale, in metres a unit")
    kind = "quadruped" if plan.measures.four_legged else "biped"
    return BodyReport(kind, stature, body.mass, *presets, _bone_choices(plan), links, tuple(notes))


def _loss_notes(body: BodyModel, clip: Clip, stature: float) -> list[str]:
    """What the body cannot show of the clip, in words, where it is worth a look."""
    notes = []
    for bone, (angle, place) in loss_of_clip(body, clip).worst.items():
        if angle > _MUCH_RAD:
            notes.append(
                f"'{bone}' turns up to {np.degrees(angle):.0f} degrees otherwise than the body can in '{clip.name}'"
            )
        if place > _MUCH_OF_STATURE * stature:
            notes.append(f"'{bone}' is up to {place:.2f} m from its place on the body in '{clip.name}'")
    return notes


def _limit_notes(body: BodyModel, clip: Clip, edits: Mapping[str, PartEdit]) -> list[str]:
    """Limits that were given by hand and that the clip does not keep to, in words."""
    limited = {bone for bone, edit in edits.items() if edit.limits_rad}
    if not limited:
        return []
    wanted = widen_limits(body, pose_of_clip(body, clip)[0], margin=0.0)
    return [
        f"'{link.bone}' goes beyond the limits that it was given in '{clip.name}'"
        for link, free in zip(body.links, wanted.links, strict=True)
        if link.bone in limited and _range(free) != _range(link)
    ]


def _range(link: Link) -> tuple[float, float, float]:
    return link.joint.lower, link.joint.upper, link.joint.max_angle


def _bone_choices(plan: BodyPlan) -> tuple[BoneChoice, ...]:
    names, roles = plan.tree.skeleton.names, plan.roles
    holder = {bone: link for link in plan.links for bone in (link.bone, *link.merged)}
    choices = []
    for bone, name in enumerate(names):
        role, side = roles.role_of(bone)
        link = holder.get(bone)
        why = "override" if bone in roles.forced else roles.why.get(bone, "none")
        if link is None:
            choices.append(BoneChoice(name, "ride", role, side, why, ""))
        elif link.bone == bone:
            choices.append(BoneChoice(name, "link", link.role, side, why, name, link.note))
        else:
            why = why if bone in roles.forced else "short" if role else "between"
            choices.append(BoneChoice(name, "merge", role, side, why, names[link.bone]))
    return tuple(choices)
