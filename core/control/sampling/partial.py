# SPDX-License-Identifier: GPL-3.0-or-later
"""Only some bones of a character are simulated: no search is needed, for what is animated keeps the balance."""

from contextlib import closing
from dataclasses import replace

import numpy as np

from ...body import BodyModel
from ...body.named_parts import choose_links
from ...body.pose_smoothing import smooth_poses
from ...body.pose_space import PoseSpace
from ...body.poses import link_transforms
from ...body.servos import servo_torques
from ...body.stances import Flags
from ...geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, slerp
from ...motion import Clip, Take
from ...sim import engines
from ...sim.stage import Stage
from ...sim.trace import Trace
from ..cast import load_cast, resample_prop_motions
from ..character import build_job_body
from ..method import Run
from ..muscle import load_muscle
from ..staging import build_job_stage
from ..tracking.partial_rollout import (
    PartialRecording,
    PartialRollout,
    PrescribedPath,
    make_carrier_stage,
    prescribe_path,
)
from ..tracking.recording import mark_touching_bones

PART = "part"
"""Name of the report's detail: which bones were simulated."""


def simulate_part(clip: Clip, bones: str, softness: float, smooth: float, run: Run) -> Take:
    """A take in which ``bones`` (``choose_links``) have a body, and all the rest is the source, to the bit.

    softness: 0 for servos as strong as a whole body's, 1 for none. smooth: as for ``make_take``. Muscle is that of the
    simulated part. Others on the stage are where their animation has them.
    """
    members = load_cast(run)
    clips = (clip, *(member.clip for member in members))
    bodies = [build_job_body(one, run, member)[0] for one, member in zip(clips, (None, *members), strict=True)]
    chosen = choose_links(bodies[0], bones)
    bodies[0] = soften(bodies[0], chosen, softness)
    stage = build_job_stage(run, *bodies)
    _tell(run, bodies[0], chosen)
    heavy = make_carrier_stage(stage, chosen)
    with closing(engines.get_engine(run.engine).compile(heavy, 1)) as world:
        dt_s = world.dt_s
        paths = tuple(prescribe_path(body, one, dt_s) for body, one in zip(bodies, clips, strict=True))
        muscle = _muscle_at(load_muscle(run, clip), clip, len(paths[0].qpos), dt_s)
        recording = PartialRollout(world, paths, chosen, muscle).run(run.progress)
    if recording.lost:
        at = ", ".join(f"{step * dt_s:.1f} s" for step in recording.lost[:3])
        run.add_finding(
            "part",
            f"The simulated bones went out of control at {at} and were put back into the source there",
            "Give them more muscle, or look for keys that jump",
        )
    run.add_trace(_make_trace(stage, paths[0], recording, chosen, muscle, 1.0 / dt_s))
    seen = smooth_poses(PoseSpace(bodies[0]), recording.qpos, smooth, 1.0 / dt_s)
    motion = turn_bones(clip, bodies[0], chosen, paths[0].qpos, seen, 1.0 / dt_s)
    touched = np.linalg.norm(recording.contact_force, axis=-1)
    return Take(
        motion,
        contacts=mark_touching_bones(bodies[0], touched, motion, 1.0 / dt_s),
        others=tuple(Take(member.clip) for member in members),
        props=resample_prop_motions(stage, recording.prop_pos, recording.prop_quat_wxyz, 1.0 / dt_s, motion),
    )


def soften(body: BodyModel, chosen: Flags, softness: float) -> BodyModel:
    """The body with softer servos of its chosen links (L,), which can give as much torque as before.

    Servos that keep a whole body upright would hold a part so firmly that its weight does not show. Stiffness and
    damping go down together, so that the softer a part is, the longer it swings.
    """
    share = (1.0 - softness) ** 2
    links = (
        replace(link, joint=replace(link.joint, kp=share * link.joint.kp, kd=share * link.joint.kd)) if soft else link
        for link, soft in zip(body.links, chosen, strict=True)
    )
    return replace(body, links=tuple(links))


def turn_bones(clip: Clip, body: BodyModel, chosen: Flags, wanted: Array, seen: Array, fps: float) -> Clip:
    """The clip with the chosen links' (L,) bones turned as poses ``seen`` are against those ``wanted``, both (K, nq).

    By how a joint differs and not by how it is: what a body cannot show of a bone, such as a knee that turns sideways,
    stays in it. Nothing else is touched.
    """
    quat = np.array(clip.local_quat_wxyz)
    place = np.minimum(np.arange(len(clip)) * fps / clip.fps, len(seen) - 1.0)
    low = np.minimum(place.astype(int), max(len(seen) - 2, 0))
    high = np.minimum(low + 1, len(seen) - 1)
    for index in np.flatnonzero(chosen):
        link, own = body.links[index], slice(*body.qpos_starts[index : index + 2])
        if link.joint.kind == "hinge":
            by = from_rotation_vector((seen[:, own] - wanted[:, own]) * link.joint.axis)
        else:
            by = multiply(conjugate(wanted[:, own]), seen[:, own])
        bone = clip.skeleton.index(link.bone)
        quat[:, bone] = multiply(quat[:, bone], slerp(by[low], by[high], place - low))
    return replace(clip, local_quat_wxyz=quat)


def _muscle_at(muscle: Array | None, clip: Clip, count: int, dt_s: float) -> Array:
    """(count,) muscle (T,) of the clip's frames at physics steps."""
    if muscle is None:
        return np.ones(count)
    return np.interp(np.arange(count) * dt_s, np.arange(len(muscle)) / clip.fps, muscle)


def _make_trace(
    stage: Stage, path: PrescribedPath, recording: PartialRecording, chosen: Flags, muscle: Array, fps: float
) -> Trace:
    """The part beside its animation. What touches animated links is no force that anybody felt."""
    body = path.body
    (wanted_pos, wanted_quat), (pos, quat) = (link_transforms(body, qpos) for qpos in (path.qpos, recording.qpos))
    share = np.array([link.mass for link in body.links]) / body.mass
    return Trace(
        body,
        stage,
        0,
        fps,
        wanted_pos=wanted_pos,
        wanted_quat_wxyz=wanted_quat,
        wanted_com=np.einsum("l,klx->kx", share, wanted_pos),
        seen_pos=pos,
        seen_quat_wxyz=quat,
        seen_com=np.einsum("l,klx->kx", share, pos),
        contact_force=np.where(chosen[:, None], recording.contact_force, 0.0),
        torque=_torques(body, recording, chosen, muscle),
        rate=recording.qvel[:, 6:],
        is_part=True,
    )


def _torques(body: BodyModel, recording: PartialRecording, chosen: Flags, muscle: Array) -> Array:
    """(K, nu) N·m of the chosen links' servos; those of animated links do nothing."""
    dofs = np.repeat(chosen[1:], [link.joint.dofs for link in body.links[1:]])
    return np.where(dofs, servo_torques(body, recording.qpos, recording.qvel, recording.targets, muscle), 0.0)


def _tell(run: Run, body: BodyModel, chosen: Flags) -> None:
    names = [body.links[index].bone for index in np.flatnonzero(chosen)]
    run.add_detail(PART, {"simulated": names, "animated": len(body.links) - len(names)})
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    run.add_finding(PART, f"Only {shown} {'was' if len(names) == 1 else 'were'} simulated; the rest is as animated", "")
