# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage as a MuJoCo model: the only place that knows how MuJoCo spells a link, a servo or a height field.

Poses and velocities need no conversion: MuJoCo lays out free, ball and hinge joints, wxyz and the frames of angular
velocities as ``BodyModel`` does, and its controls follow in the order in which the servos are added.
"""

from dataclasses import replace

import mujoco
import numpy as np

from ...body import BodyModel, Joint, Link, Shape
from ...errors import BadMotion
from ..collision_filter import excluded_pairs
from ..joint_damping import passive_damping
from ..mass_properties import MassProperties, hull_corners, prop_mass_properties
from ..stage import Obstacle, Prop, Stage, Terrain

# Rotor inertia of every joint, kg·m²: that of 20 g at 10 cm. It keeps fingers and toes from ringing against limits.
ROTOR = 2e-4

# Rolling and spinning friction of every contact, metres: MuJoCo's own.
_ROLLING = [0.005, 0.0001]
# Below this the pyramid that stands for the friction cone is a needle, and the solver fails.
_LEAST_FRICTION = 1e-3

# Collision filter: a pair touches if one's contype meets the other's conaffinity. A character has a bit of its own and
# answers to everyone else's; all that is not a character shares one bit.
_THINGS = 1 << 30
MOST_CHARACTERS = 30
_ANYONE = (1 << MOST_CHARACTERS) - 1

_GEOMS = {
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
}


def build_model(stage: Stage, dt_s: float) -> mujoco.MjModel:
    """The stage compiled: characters in order, then props; named throughout."""
    if len(stage.characters) > MOST_CHARACTERS:
        raise BadMotion(f"There are {len(stage.characters)} characters on the stage", f"Use {MOST_CHARACTERS} at most")
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    option = spec.option
    option.timestep = dt_s
    option.gravity = stage.gravity
    option.integrator = int(choose_integrator(stage, np.ones(len(stage.characters))))
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    # A pyramid along the axes stands for the cone: half as fast again where feet move, but friction is a third weaker
    # on the diagonals.
    option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    # A copy that blows up must show, not begin again at the model's own pose.
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET.value
    if stage.props or stage.obstacles:
        # A projectile crosses more than a limb's breadth in a step. It costs little, but is not needed on bare ground.
        option.enableflags |= mujoco.mjtEnableBit.mjENBL_SPECULATIVE.value
    ground = _add_ground(spec, stage)
    statics = [(ground, stage.friction)]
    for index, obstacle in enumerate(stage.obstacles):
        statics += [(name, obstacle.friction) for name in _add_obstacle(spec, index, obstacle)]
    for index, character in enumerate(stage.characters):
        _add_character(spec, index, character.body, character.self_collision)
    props = [(_add_prop(spec, index, prop), prop.friction) for index, prop in enumerate(stage.props)]
    _add_prop_pairs(spec, statics, props)
    for index, character in enumerate(stage.characters):
        _add_sensors(spec, index, character.body)
    try:
        return spec.compile()
    except ValueError as error:
        raise BadMotion(f"MuJoCo cannot build the stage: {error}") from error


def choose_integrator(stage: Stage, muscle: np.ndarray) -> np.ndarray:
    """(...) MuJoCo's integrator for copies whose characters have the given strength (..., C).

    The fast one is explicit but for tissue. MuJoCo's implicit ones damp a ball whose torque is at its limit, or do not,
    by the last digit of its length: feet chatter and slide, and no plan comes out the same in a stage with one more
    thing in it. The fast one takes centrifugal forces as they were at the step's beginning. Limp ball joints, which
    nothing damps but their tissue, then gather speed when a body tumbles; the slower one (half as fast again) keeps
    them in check. A copy has one for all: a character beside a limp one is computed by the slower one too.
    """
    links = [(index, link) for index, character in enumerate(stage.characters) for link in character.body.links]
    balls = [(index, link) for index, link in links if link.joint.kind == "ball"]
    owners = np.array([index for index, _ in balls], dtype=np.int64)
    needed = np.array([10.0 * passive_damping(link) for _, link in balls])
    given = np.array([link.joint.kd if link.joint.torque_limit > 0.0 else 0.0 for _, link in balls])
    limp = np.any(muscle[..., owners] * given < needed, axis=-1)
    fast, slow = mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_IMPLICIT
    return np.where(limp, slow.value, fast.value)


def _stable_armature(joint: Joint, dt_s: float) -> float:
    """kg·m² of rotor inertia that a servo needs to be stable at any gains and inertias, besides ``ROTOR``.

    Servos are explicit: a light limb on a stiff one would be thrown to and fro, harder each step. Damping must not turn
    the speed around in one step by more than a third, so the inertia must be 3/4 dt * kd at least (1/2 would ring, 1
    makes running legs sluggish). In the same way dt² * kp / 4 keeps the spring from overshooting. Both vanish with the
    time step, and lag less than implicit damping itself (dt * kd) does.
    """
    return 0.75 * dt_s * joint.kd + 0.25 * dt_s**2 * joint.kp


def body_name(character: int, link: int) -> str:
    """What a link is called in the model."""
    return f"character{character}/link{link}"


def prop_name(prop: int) -> str:
    """What a prop is called in the model."""
    return f"prop{prop}"


def _add_ground(spec: mujoco.MjSpec, stage: Stage) -> str:
    if stage.terrain is None:
        spec.worldbody.add_geom(
            name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], **_of_thing(stage.friction, 2)
        )
    else:
        _add_terrain(spec, stage.terrain, stage.friction)
    return "ground"


def _add_terrain(spec: mujoco.MjSpec, terrain: Terrain, friction: float) -> None:
    """MuJoCo's height field is centred, scaled to 0..1, and solid from its lowest point down."""
    rows, columns = terrain.heights.shape
    low = float(terrain.heights.min())
    rise = max(float(terrain.heights.max()) - low, 1e-6)
    half = 0.5 * terrain.spacing * np.array([columns - 1, rows - 1])
    spec.add_hfield(
        name="terrain", nrow=rows, ncol=columns, userdata=((terrain.heights - low) / rise).ravel(),
        size=[half[0], half[1], rise, 1.0],
    )  # fmt: skip
    pos = [terrain.origin[0] + half[0], terrain.origin[1] + half[1], low]
    spec.worldbody.add_geom(
        name="ground", type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="terrain", pos=pos, **_of_thing(friction, 2)
    )


def _add_obstacle(spec: mujoco.MjSpec, index: int, obstacle: Obstacle) -> list[str]:
    names = [f"obstacle{index}/piece{number}" for number in range(len(obstacle.pieces))]
    for name, piece in zip(names, obstacle.pieces, strict=True):
        _add_hull(spec, spec.worldbody, name, hull_corners(obstacle.name, piece), _of_thing(obstacle.friction, 2))
    return names


def _add_character(spec: mujoco.MjSpec, index: int, body: BodyModel, self_collision: bool) -> None:
    own = 1 << index
    contact = {
        "contype": own,
        "conaffinity": (_ANYONE if self_collision else _ANYONE & ~own) | _THINGS,
        "friction": [1.0, *_ROLLING],
    }
    bodies: list[mujoco.MjsBody] = []
    for number, link in enumerate(body.links):
        parent = spec.worldbody if link.parent < 0 else bodies[link.parent]
        bodies.append(_add_link(spec, parent, body_name(index, number), link, contact))
    if self_collision:
        for first, second in excluded_pairs(body):
            names = body_name(index, first), body_name(index, second)
            spec.add_exclude(name=f"{names[0]}-{names[1]}", bodyname1=names[0], bodyname2=names[1])


def _add_link(
    spec: mujoco.MjSpec, parent: mujoco.MjsBody, name: str, link: Link, contact: dict[str, object]
) -> mujoco.MjsBody:
    joint = link.joint
    body = parent.add_body(name=name, pos=joint.pos, quat=joint.zero_quat_wxyz)
    _set_inertia(body, MassProperties(link.mass, link.com, link.inertia))
    for number, shape in enumerate(link.shapes):
        _add_shape(body, f"{name}/shape{number}", shape, contact)
    if joint.kind == "free":
        body.add_freejoint(name=name)
        return body
    actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    if joint.torque_limit <= 0.0:  # no torque, no servo; MuJoCo would take a limit of zero for none at all
        joint = replace(joint, kp=0.0, kd=0.0)
    inertia = {"armature": ROTOR + _stable_armature(joint, spec.option.timestep), "damping": passive_damping(link)}
    if joint.kind == "ball":
        body.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_BALL, limited=bool(joint.max_angle < np.pi),
            range=[0.0, joint.max_angle], **inertia,
        )  # fmt: skip
        actuator.set_to_orientation(kp=joint.kp, kv=joint.kd)
        actuator.forcerange = [0.0, joint.torque_limit]
    else:
        body.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis,
            limited=bool(joint.upper - joint.lower < 2.0 * np.pi), range=[joint.lower, joint.upper], **inertia,
        )  # fmt: skip
        actuator.set_to_position(kp=joint.kp, kv=joint.kd)
        actuator.forcerange = [-joint.torque_limit, joint.torque_limit]
    actuator.forcelimited = bool(0.0 < joint.torque_limit < np.inf)
    # Left at 'auto', a range inherited from somewhere would clamp targets without a word.
    actuator.ctrllimited = False
    return body


def _add_prop(spec: mujoco.MjSpec, index: int, prop: Prop) -> list[str]:
    body = spec.worldbody.add_body(name=prop_name(index), pos=prop.pos, quat=prop.quat_wxyz)
    body.add_freejoint(name=prop_name(index))
    _set_inertia(body, prop_mass_properties(prop))
    contact = _of_thing(prop.friction, 1)
    if prop.shape is not None:
        _add_shape(body, f"{prop_name(index)}/shape", prop.shape, contact)
        return [f"{prop_name(index)}/shape"]
    names = [f"{prop_name(index)}/piece{number}" for number in range(len(prop.pieces))]
    for name, piece in zip(names, prop.pieces, strict=True):
        _add_hull(spec, body, name, hull_corners(prop.name, piece), contact)
    return names


def _add_prop_pairs(
    spec: mujoco.MjSpec, statics: list[tuple[str, float]], props: list[tuple[list[str], float]]
) -> None:
    """The contacts of props whose friction, a product, is not what MuJoCo would take by itself.

    That is the static side's, or the larger of two props'. Links have 1: theirs is always the other side's.
    """
    for index, (names, friction) in enumerate(props):
        others = [(name, other, other) for name, other in statics]
        others += [(name, other, max(friction, other)) for rest, other in props[:index] for name in rest]
        for other_name, other, by_itself in others:
            product = max(friction * other, _LEAST_FRICTION)
            if product != by_itself:
                for name in names:
                    spec.add_pair(
                        name=f"{name}-{other_name}", geomname1=other_name, geomname2=name, condim=3,
                        friction=[product, product, _ROLLING[0], _ROLLING[1], _ROLLING[1]],
                    )  # fmt: skip


def _add_sensors(spec: mujoco.MjSpec, index: int, body: BodyModel) -> None:
    """Velocity and angular momentum of the character, then the force on each of its links."""
    root = {"objtype": mujoco.mjtObj.mjOBJ_BODY, "objname": body_name(index, 0)}
    spec.add_sensor(name=f"character{index}/velocity", type=mujoco.mjtSensor.mjSENS_SUBTREELINVEL, **root)
    spec.add_sensor(name=f"character{index}/momentum", type=mujoco.mjtSensor.mjSENS_SUBTREEANGMOM, **root)
    for number in range(len(body.links)):
        name = body_name(index, number)
        spec.add_sensor(
            name=f"{name}/force", type=mujoco.mjtSensor.mjSENS_CONTACT, objtype=mujoco.mjtObj.mjOBJ_BODY, objname=name,
            intprm=[1 << mujoco.mjtConDataField.mjCONDATA_FORCE.value, 3, 1],
        )  # fmt: skip


def _add_shape(body: mujoco.MjsBody, name: str, shape: Shape, contact: dict[str, object]) -> None:
    body.add_geom(
        name=name, type=_GEOMS[shape.kind], size=shape.size, pos=shape.pos, quat=shape.quat_wxyz, mass=0.0, **contact
    )


def _add_hull(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, corners: np.ndarray, contact: dict[str, object]
) -> None:
    spec.add_mesh(name=name, uservert=corners.ravel())
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, mass=0.0, **contact)


def _set_inertia(body: mujoco.MjsBody, solid: MassProperties) -> None:
    inertia = solid.inertia
    body.explicitinertial = True
    body.mass = solid.mass
    body.ipos = solid.com
    body.fullinertia = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]


def _of_thing(friction: float, priority: int) -> dict[str, object]:
    """Contact settings of what is no character; with a higher priority its friction holds against a link's 1."""
    sliding = [max(friction, _LEAST_FRICTION), *_ROLLING]
    return {"contype": _THINGS, "conaffinity": _THINGS, "friction": sliding, "priority": priority}
