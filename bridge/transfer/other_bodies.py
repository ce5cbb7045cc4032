# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of one character on the body of another, by the roles of bones: no foot is put anywhere, no time changed.

What the other body cannot do of it is left to physics: simulation or learning within bounds makes up for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import bpy

from ...core.body import BodyModel
from ...core.body.role_retargeting import transfer_by_roles
from ...core.control.character import BodyChoices, build_plain_body
from ...core.control.tracking.source_preparation import clean_source
from ...core.errors import BadFile, RigError
from ...core.motion import Clip, Take
from ...core.paths import usable_path, why_no_file
from ...core.sim.models.reading import ENDINGS
from ..body.body_inputs import BodyRequest, join_requests, read_body_request
from ..importing.importers import open_input, open_model, set_frame_rate
from ..jobs import requests
from ..jobs.requests import Request
from ..rig.keying import RigChanged
from ..rig.placing import key_at_place
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import write_take
from ..rig.standing import read_standing_pose
from ..scene.time_slicing import SLICE_S, Slices, run_all_slices
from ..setup import preferences

_SCENES = (".blend", ".glb", ".gltf", ".fbx")


@dataclass(frozen=True, eq=False)
class BodiedClip:
    """A motion and the body that it is of, as far as its bones matter."""

    clip: Clip
    body: BodyModel


def read_bodied_clip(rig: RigMotion, armature: str) -> Slices[BodiedClip]:
    """The motion with its armature's body, a little at a time."""
    choices = read_body_request(requests.find_armature(armature)).checked()
    bodied: BodiedClip = yield lambda: BodiedClip(rig.clip, build_plain_body(clean_source(rig.clip)[0], choices))
    return bodied


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


def require_model(text: str) -> Path:
    """The model file of that name; refuses what is none."""
    path = usable_path(bpy.path.abspath(text))
    if path.suffix.lower() not in ENDINGS:
        raise BadFile(f"'{path.name}' is no model", f"Choose a file that ends in {', '.join(ENDINGS)}")
    if reason := why_no_file(path):
        raise BadFile(f"'{path.name}' {reason}", "Check the path")
    return path


def read_chosen_motion(request: Request) -> BodiedClip:
    """The motion that is asked about, read now, and the body that it is of."""
    return run_all_slices(read_bodied_clip(requests.read(replace(request, cycles=1)), request.armature))


def put_on(
    source: BodiedClip, obj: bpy.types.Object, asked: BodyRequest | None, scale: float = 1.0
) -> bpy.types.Action:
    """A new Action of the armature: the motion on its body. asked: what is said of that body besides what it says."""
    action = run_all_slices(put_on_in_slices(source, obj.name, asked, scale, slice_s=float("inf")))
    bpy.context.scene.frame_set(1)
    return action


def put_on_in_slices(
    source: BodiedClip, armature: str, asked: BodyRequest | None, scale: float = 1.0, *, slice_s: float = SLICE_S
) -> Slices[bpy.types.Action]:
    """The same a little at a time. The scene plays it from frame 1 on, which is evaluated when Blender gets to it."""
    frame = bpy.context.scene.frame_current
    rig = yield from read_standing_pose(requests.find_armature(armature), frame, 1.0, scale, slice_s)
    choices = join_requests(read_body_request(requests.find_armature(armature)), asked or BodyRequest()).checked()
    clip: Clip = yield lambda: _transfer(source, rig.clip, choices)
    if choices.given is not None:
        set_frame_rate(bpy.context.scene, clip.fps)
    render = bpy.context.scene.render
    played = RigMotion(clip, rig.bone_stretch[:1], 1, render.fps / render.fps_base, rig.metres_per_unit)
    take, name, obj = Take(clip), f"{clip.name} on {armature}"[:60], requests.find_armature(armature)
    before = obj.animation_data.action if obj.animation_data else None
    try:
        words = {"name": f".{name}", "source": before, "where": "AUTO", "slice_s": slice_s}
        keyed = yield from key_at_place(obj, take, played, **words)
    except RigChanged as error:
        raise RigError(f"'{armature}' was changed meanwhile", "Put the motion on it again") from error
    action = write_take(requests.find_armature(armature), take, played, name=name, where="AUTO", keyed=keyed).action
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, max(int(action.frame_range[1]), 2)
    scene.frame_current = 1
    return action


def _transfer(source: BodiedClip, standing: Clip, choices: BodyChoices) -> Clip:
    """The motion on the body of a character that stands there."""
    choices.require_bones(standing.skeleton)
    return transfer_by_roles(source.body, source.clip, build_plain_body(standing, choices))
