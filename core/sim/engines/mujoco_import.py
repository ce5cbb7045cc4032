# SPDX-License-Identifier: GPL-3.0-or-later
"""A model as MuJoCo's compiler understands it: links, joints, masses, shapes and what is seen of them, in the world.

Bodies that are welded together are one link. Nothing is fitted here: masses, inertias, joints, limits and efforts are
the model's own.
"""

import mujoco
import numpy as np

from ...errors import BadFile
from ...limits import MODEL_FACES, MODEL_LINKS
from ..models.compiled_model import CompiledGeom, CompiledJoint, CompiledLink
from ..models.model_source import ModelSource

_HINT = "Mend the model, or choose another one"
_ROUND = {mujoco.mjtGeom.mjGEOM_SPHERE: "sphere", mujoco.mjtGeom.mjGEOM_CAPSULE: "capsule"}
_ROUND[mujoco.mjtGeom.mjGEOM_CYLINDER], _ROUND[mujoco.mjtGeom.mjGEOM_ELLIPSOID] = "cylinder", "ellipsoid"
_ROUND[mujoco.mjtGeom.mjGEOM_BOX] = "box"
_JOINTS = {mujoco.mjtJoint.mjJNT_HINGE: "hinge", mujoco.mjtJoint.mjJNT_BALL: "ball", mujoco.mjtJoint.mjJNT_FREE: "free"}


def compile_model(source: ModelSource) -> list[CompiledLink]:
    """The links of the one character in the model, parents first, as it stands where all joints read zero."""
    try:
        spec = mujoco.MjSpec.from_string(source.text, assets=source.meshes)
        spec.compiler.fusestatic, spec.compiler.balanceinertia = False, True
        _set_free(spec)
        model = spec.compile()
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        reason = " ".join(str(error).split()).removeprefix("Error: ").removeprefix("XML Error: ")
        raise BadFile(f"The model cannot be built: {reason}", _HINT) from error
    if model.nbody > MODEL_LINKS or model.nmeshface > MODEL_FACES:
        raise BadFile(
            f"The model has {model.nbody} links and {model.nmeshface} faces, and {MODEL_LINKS} and {MODEL_FACES} are "
            "the most",
            "Choose a smaller one",
        )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return _links(model, data, source)


def _set_free(spec: mujoco.MjSpec) -> None:
    """Let the character's root move: models of robots often leave that to who loads them."""
    roots = list(spec.worldbody.bodies)
    if not roots:
        raise BadFile("There are no links in the model", _HINT)
    root = max(roots, key=lambda body: len(body.find_all("body")))
    for other in roots:
        if other is not root:
            spec.delete(other)
    kinds = [joint.type for joint in root.joints]
    if kinds and kinds != [mujoco.mjtJoint.mjJNT_FREE]:
        raise BadFile(f"'{root.name}', which carries all others, hangs on joints of its own", "Leave them out")
    if not kinds:
        root.add_freejoint()


def _links(model: mujoco.MjModel, data: mujoco.MjData, source: ModelSource) -> list[CompiledLink]:
    holders = [int(body) for body in np.unique(model.body_weldid) if body != 0]
    links: list[CompiledLink] = []
    for holder in holders:
        bodies = [int(body) for body in np.flatnonzero(model.body_weldid == holder)]
        masses = np.array([_mass(model, body, source) for body in bodies])
        if masses.sum() <= 0.0:
            raise BadFile(f"Link '{model.body(holder).name}' has no mass", "Give it one, or weld it to another")
        middles = np.array([_middle(model, data, body, source) for body in bodies])
        com = masses @ middles / masses.sum()
        inertia = np.zeros((3, 3))
        for body, mass, middle in zip(bodies, masses, middles, strict=True):
            turn, away = data.ximat[body].reshape(3, 3), middle - com
            own = model.body_inertia[body] * (mass / max(float(model.body_mass[body]), 1e-12))
            inertia += (turn * own) @ turn.T + mass * (away @ away * np.eye(3) - np.outer(away, away))
        above = int(model.body_weldid[model.body_parentid[holder]])
        first = int(model.body_jntadr[holder])
        joints = [_joint(model, data, first + number) for number in range(int(model.body_jntnum[holder]))]
        kinds = [joint.kind for joint in joints]
        if ("free" in kinds) != (above == 0) or (len(kinds) > 1 and set(kinds) != {"hinge"}):
            raise BadFile(f"Link '{model.body(holder).name}' hangs on joints that no body has", _HINT)
        heaviest = bodies[int(np.argmax(masses))] if above == 0 else holder
        name = model.body(heaviest).name or f"link {heaviest}"
        geoms = [_geom(model, data, int(geom)) for geom in np.flatnonzero(np.isin(model.geom_bodyid, bodies))]
        parent = holders.index(above) if above else -1
        links.append(CompiledLink(name, parent, joints, float(masses.sum()), com, inertia, geoms))
    return links


def _mass(model: mujoco.MjModel, body: int, source: ModelSource) -> float:
    told = source.masses.get(model.body(body).name)
    return float(model.body_mass[body]) if told is None else told[0]


def _middle(model: mujoco.MjModel, data: mujoco.MjData, body: int, source: ModelSource) -> np.ndarray:
    """(3,) the body's centre of mass in the world."""
    told = source.masses.get(model.body(body).name)
    if told is None:
        return np.array(data.xipos[body])
    return np.asarray(data.xpos[body] + data.xmat[body].reshape(3, 3) @ np.array(told[1]))


def _joint(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> CompiledJoint:
    kind = _JOINTS.get(mujoco.mjtJoint(model.jnt_type[joint]))
    if kind is None:
        raise BadFile(f"Joint '{model.joint(joint).name}' slides, which no body has", _HINT)
    zero = float(model.qpos0[model.jnt_qposadr[joint]]) if kind == "hinge" else 0.0
    limited = bool(model.jnt_limited[joint])
    lower, upper = (model.jnt_range[joint] - zero) if limited else (-np.pi, np.pi)
    effort = float(np.abs(model.jnt_actfrcrange[joint]).max()) if model.jnt_actfrclimited[joint] else 0.0
    for actuator in range(model.nu):
        drives = model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT
        if drives and model.actuator_trnid[actuator, 0] == joint and not effort:
            gear = abs(float(model.actuator_gear[actuator, 0]))
            if model.actuator_forcelimited[actuator]:
                effort = gear * float(np.abs(model.actuator_forcerange[actuator]).max())
            elif model.actuator_ctrllimited[actuator] and not model.actuator_biastype[actuator]:
                effort = gear * float(
                    np.abs(model.actuator_gainprm[actuator, 0] * model.actuator_ctrlrange[actuator]).max()
                )
    return CompiledJoint(
        kind, model.joint(joint).name, data.xanchor[joint].copy(), data.xaxis[joint].copy(), float(lower), float(upper),
        effort,
    )  # fmt: skip


def _geom(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> CompiledGeom:
    kind = mujoco.mjtGeom(model.geom_type[geom])
    pos, turn = data.geom_xpos[geom].copy(), data.geom_xmat[geom].reshape(3, 3).copy()
    collides = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
    colour = model.geom_rgba[geom].astype(float)
    if model.geom_matid[geom] >= 0:
        colour = model.mat_rgba[model.geom_matid[geom]].astype(float)
    if kind in _ROUND:
        return CompiledGeom(_ROUND[kind], model.geom_size[geom].copy(), pos, turn, collides, colour)
    mesh = int(model.geom_dataid[geom])
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = model.mesh_vert[first : first + count].astype(float)
    first, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    faces = model.mesh_face[first : first + count].astype(np.int64)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return CompiledGeom(
        "mesh", 0.5 * (high - low), pos, turn, collides, colour, 0.5 * (high + low), vertices, faces
    )  # fmt: skip
