# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of one character on the body of another, by the roles of bones: no foot is put anywhere, no time changed.

What the other body cannot do of it is left to physics: simulation or learning within bounds makes up for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import bpy

from ...core.body import BodyModel
from ...core.body.role_retargeting import transfer_by_roles
from ...core.control.character import build_plain_body
from ...core.control.tracking.source_preparation import clean_source
from ...core.errors import BadFile
from ...core.jobs import find_worker_python
from ...core.motion import Clip, Take
from ...core.paths import usable_path, why_no_file
from ...core.sim.models.reading import ENDINGS, read_model_file
from ..body.body_inputs import BodyRequest, join_requests, read_body_request
from ..importing.importers import open_input, open_model, set_frame_rate
from ..importing.models import add_given_character, model_name
from ..jobs import requests
from ..jobs.requests import Request
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import write_take
from ..rig.standing import read_standing_pose
from ..scene.time_slicing import run_all_slices
from ..setup import preferences

_SCENES = (".blend", ".glb", ".gltf", ".fbx")


@dataclass(frozen=True, eq=False)
class BodiedClip:
    """A motion and the body that it is of, as far as its bones matter."""

    clip: Clip
    body: BodyModel


def read_bodied_clip(rig: RigMotion, armature: str) -> BodiedClip:
    """The motion with its armature's body. For Blender's own thread."""
    choices = read_body_request(requests.find_armature(armature)).checked()
    clip = clean_source(rig.clip)[0]
    return BodiedClip(rig.clip, build_plain_body(clip, choices))


def open_other_character(text: str, scale: float = 1.0, told: Callable[[str], None] = lambda note: None) -> float:
    """Open a model or a scene with a character, in place of what is open now; gives the scale left for the reader.

    told: what a model has that a body has not.
    """
    path = usable_path(text)
    if path.suffix.lower() not in (*ENDINGS, *_SCENES):
        raise BadFile(f"'{text}' is no character", f"Give a file that ends in {', '.join((*ENDINGS, *_SCENES))}")
    if reason := why_no_file(path):
        raise BadFile(f"'{text}' {reason}", "Check the path")
    if path.suffix.lower() in _SCENES:
        return open_input(text, scale)
    for note in open_model(text, scale, preferences.preferred_python()):
        told(note)
    return 1.0


def import_character(scene: bpy.types.Scene, text: str, scale: float = 1.0) -> tuple[bpy.types.Object, tuple[str, ...]]:
    """Add a model to a scene, to what is there; gives its armature and what it has that a body has not."""
    path = usable_path(bpy.path.abspath(text))
    if path.suffix.lower() not in ENDINGS:
        raise BadFile(f"'{path.name}' is no model", f"Choose a file that ends in {', '.join(ENDINGS)}")
    if reason := why_no_file(path):
        raise BadFile(f"'{path.name}' {reason}", "Check the path")
    character = read_model_file(path, find_worker_python(preferences.preferred_python()), scale)
    return add_given_character(scene, character, model_name(path)), character.notes


def read_chosen_motion(request: Request) -> BodiedClip:
    """The motion that is asked about, read now, and the body that it is of."""
    return read_bodied_clip(requests.read(replace(request, cycles=1)), request.armature)


def put_on(
    source: BodiedClip, obj: bpy.types.Object, asked: BodyRequest | None, scale: float = 1.0
) -> bpy.types.Action:
    """A new Action of the armature: the motion on its body. asked: what is said of that body besides what it says."""
    rig = run_all_slices(read_standing_pose(obj, bpy.context.scene.frame_current, 1.0, scale, float("inf")))
    choices = join_requests(read_body_request(obj), asked or BodyRequest()).checked()
    choices.require_bones(rig.clip.skeleton)
    target = build_plain_body(rig.clip, choices)
    clip = transfer_by_roles(source.body, source.clip, target)
    scene = bpy.context.scene
    if choices.given is not None:
        set_frame_rate(scene, clip.fps)
    fps = scene.render.fps / scene.render.fps_base
    played = RigMotion(clip, rig.bone_stretch[:1], 1, fps, rig.metres_per_unit)
    action = write_take(obj, Take(clip), played, name=f"{clip.name} on {obj.name}"[:60], where="AUTO").action
    scene.frame_start, scene.frame_end = 1, max(int(action.frame_range[1]), 2)
    scene.frame_set(1)
    return action
