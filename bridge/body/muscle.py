# SPDX-License-Identifier: GPL-3.0-or-later
"""How much muscle a character has, frame by frame: ``object.sinew_body.muscle`` as it is keyed or driven."""

import bpy
import numpy as np

from ...core.control import muscle
from ...core.errors import RigError
from ...core.geometry.quaternions import Array
from ..rig import actions, keyed_properties
from ..rig.rig_reader import RigMotion
from ..scene.time_slicing import SLICE_S, Slices

PATH = keyed_properties.MUSCLE


def read_muscle_attachment_in_slices(
    obj: bpy.types.Object,
    rig: RigMotion,
    action: bpy.types.Action | None,
    keys: muscle.MuscleKeys | None,
    *,
    slice_s: float = SLICE_S,
) -> Slices[dict[str, tuple[dict[str, np.ndarray], dict[str, object]]]]:
    """What travels with the job for ``core.control.muscle.load_muscle``; nothing where all of it is used throughout.

    action: what ``rig`` was read from, None for whatever moves the armature now. keys: said on the command line, in
    scene frames, None for what the armature says.
    """
    if keys is None:
        values = yield from read_muscle_in_slices(obj, rig, action, slice_s)
    else:
        values = muscle.interpolate_muscle_keys(keys, keyed_properties.scene_frames(rig))
    return muscle.make_muscle_attachment(values, rig.clip.fps)


def read_muscle_in_slices(
    obj: bpy.types.Object, rig: RigMotion, action: bpy.types.Action | None = None, slice_s: float = SLICE_S
) -> Slices[Array]:
    """(T,) the armature's muscle at each frame of the clip, as it is evaluated: keys, NLA and drivers."""
    frames, name = keyed_properties.scene_frames(rig), obj.name
    own = getattr(obj, "sinew_body", None)
    if own is None:  # Sinew's properties are not registered
        return np.ones(len(frames))
    # Where another Action's keys move it now, its value is only what they left behind at this frame.
    steady = 1.0 if keyed_properties.is_animated(obj, PATH) else own.muscle
    with actions.play_temporarily(obj, action):
        moves = keyed_properties.is_animated(obj, PATH)
    if not moves:
        values = np.full(len(frames), steady)
    else:
        values = yield from keyed_properties.sample_property_in_slices(
            obj, action, frames, lambda evaluated: evaluated.sinew_body.muscle, slice_s=slice_s
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise RigError(
            f"The muscle of '{name}' is not a number at frame {frames[bad[0]]:g}", "Mend its keys or its driver"
        )
    return values
