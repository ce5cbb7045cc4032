# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of key moments, with everything named rather than held, and what the scene says of it."""

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.control.editing.constraints import EditConstraint, FrameNumbers, Reach
from ...core.control.editing.limb_reaching import find_limb, limb_point
from ...core.control.editing.retime_method import RetimeSettings
from ...core.control.tracking.facing import twist_angle, upright_rotation
from ...core.errors import BadSettings
from ...core.geometry.quaternions import Array
from ..jobs.requests import Request
from ..jobs.scene_request import settings_group_of
from ..rig.keyed_properties import sample_property_in_slices
from ..rig.rig_reader import RigMotion
from ..scene.settings_groups import plain_values
from ..scene.time_slicing import Slices

METHOD = "retime"


@dataclass(frozen=True)
class KeyMoment:
    """A key moment as an animator has it; None leaves a thing to the Action.

    frame: of the Action. at: the frame at which it is to happen. place: metres on the ground. heading: radians from +X.
    bone, point: a hand or foot, and where it is to be, in metres.
    target: the name of an object that place, point and heading are read from, as goal and facing say (``properties``).
    """

    frame: int
    at: int | None = None
    place: tuple[float, float] | None = None
    heading: float | None = None
    bone: str = ""
    point: tuple[float, float, float] | None = None
    target: str = ""
    goal: str = "NONE"
    facing: str = "KEEP"

    def __post_init__(self) -> None:
        if self.goal == "REACH" and not self.bone:
            raise BadSettings("Nothing is chosen to reach with", "Choose a hand or foot in Reach with")
        if self.needs_target and not self.target:
            raise BadSettings("There is no target to be at, to reach or to face", "Choose an object for it")
        if not self.asks:
            raise BadSettings(
                f"Nothing is asked of frame {self.frame}",
                "Retime it, give it a target to be at or to reach, or a direction to face",
            )

    @property
    def needs_target(self) -> bool:
        """Whether something of it is read from an object."""
        return self.goal != "NONE" or self.facing in ("TOWARDS", "TARGET")

    @property
    def asks(self) -> bool:
        """Whether anything is wanted of it."""
        known = (self.at, self.place, self.heading, self.point)
        return self.needs_target or any(value is not None for value in known)


@dataclass(frozen=True)
class RetimeRequest:
    """source: which motion is edited, by the method 'retime' and its settings. moments: what is asked of it."""

    source: Request
    moments: tuple[KeyMoment, ...]

    @property
    def settings(self) -> RetimeSettings:
        """How it is edited."""
        return RetimeSettings.from_mapping(self.source.settings or {})


def retime_request(scene: bpy.types.Scene, source: Request) -> RetimeRequest:
    """What the panel asks for; source: the chosen motion."""
    own = scene.sinew.retime
    settings = plain_values(settings_group_of(scene, METHOD), RetimeSettings)
    moment = KeyMoment(
        frame=scene.frame_current if own.use_current else own.frame,
        at=own.at if own.use_at else None,
        heading=own.heading if own.facing == "ANGLE" else None,
        bone=own.bone if own.goal == "REACH" else "",
        target=own.target.name if own.target else "",
        goal=own.goal,
        facing=own.facing,
    )
    source = replace(source, method=METHOD, settings=settings, fade_s=None, body=None)
    return RetimeRequest(source, (moment,))


def number_frames(rig: RigMotion) -> FrameNumbers:
    """How the animator numbers frames."""
    return FrameNumbers(rig.scene_fps, rig.frame_start)


def read_edits(
    scene: bpy.types.Scene, request: RetimeRequest, rig: RigMotion, body: BodyModel, slice_s: float
) -> Slices[tuple[tuple[EditConstraint, ...], tuple[Reach, ...]]]:
    """What the scene and the request ask for, in metres, seconds and radians."""
    constraints, reaches, settings = [], [], request.settings
    for moment in request.moments:
        frame = moment.frame - rig.frame_start
        place, heading, point = moment.place, moment.heading, moment.point
        if moment.needs_target:
            matrix = yield from _target_matrix(scene, moment, rig, slice_s)
            where = rig.metres_per_unit * matrix[:3, 3]
            if moment.goal == "PLACE":
                place = (float(where[0]), float(where[1]))
            elif moment.goal == "REACH":
                point = (float(where[0]), float(where[1]), float(where[2]))
            heading = _heading(moment, matrix, where, rig, body, heading)
        time_s = None if moment.at is None else (moment.at - rig.frame_start) / rig.scene_fps
        constraints.append(EditConstraint(frame, time_s, place, heading, settings.rigid_s))
        if point is not None:
            find_limb(body, moment.bone)  # refuses what is no hand or foot before there is a job
            reaches.append(Reach(frame, moment.bone, point, settings.reach_s))
    return tuple(constraints), tuple(reaches)


def _target_matrix(scene: bpy.types.Scene, moment: KeyMoment, rig: RigMotion, slice_s: float) -> Slices[Array]:
    """(4, 4) where the target is at the frame at which the key moment is to happen."""
    if moment.target not in scene.objects:
        raise BadSettings(f"There is no object '{moment.target}' in this scene", "Choose a target that is there")
    frame = float(moment.frame if moment.at is None else moment.at)
    rows = yield from sample_property_in_slices(
        scene.objects[moment.target],
        None,
        np.array([frame]),
        lambda evaluated: [list(row) for row in evaluated.matrix_world],
        slice_s=slice_s,
    )
    return np.asarray(rows[0])


def _heading(
    moment: KeyMoment, matrix: Array, where: Array, rig: RigMotion, body: BodyModel, known: float | None
) -> float | None:
    """Radians from +X that the hips are to face."""
    bone, frame = rig.clip.skeleton.index(body.links[0].bone), moment.frame - rig.frame_start
    pos, quat = rig.clip.world()
    root, aside = pos[:, bone], 0.0
    if moment.facing == "TARGET":
        ahead = -matrix[:2, 1]
    elif moment.facing == "TOWARDS":
        ahead = where[:2] - root[0, :2]
    else:
        return known
    if float(np.linalg.norm(ahead)) < 1e-6:
        raise BadSettings(
            f"'{moment.target}' gives no direction to face at frame {moment.frame}",
            "Move it away from where the Action begins, or lay its Y axis level",
        )
    if moment.facing == "TOWARDS" and moment.goal == "REACH" and 0 <= frame < len(pos):
        # Who kicks sideways faces sideways: it is the limb that goes towards the target.
        limb = limb_point(rig.clip, find_limb(body, moment.bone))[frame] - root[frame]
        aside = float(twist_angle(quat[frame, bone], upright_rotation(body)) - np.arctan2(limb[1], limb[0]))
    return float(np.arctan2(ahead[1], ahead[0])) + aside
