# SPDX-License-Identifier: GPL-3.0-or-later
"""How unlike two frames are (the paper's equation 5): places and velocities of all joints, seen from the root."""

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.library import Library
from ...motion.skeleton import freeze_array
from ..matching.features import FPS, RootTrack
from ..tracking.facing import rotate_about_z, twist_angle, upright_rotation

VELOCITY_S = 0.12
"""A difference of 1 m/s counts as much as one of so many metres: about as far as it goes while a blend fades."""

Floats = NDArray[np.float32]


def compute_pose_features(body: BodyModel, library: Library, track: RootTrack) -> Floats:
    """(M, 6 J) of every frame, for J joints; the squared distance of two is what a transition costs, in m².

    It is the mean over joints of squared differences in place (metres) and velocity (times ``VELOCITY_S``).
    """
    bones = find_joint_bones(body)
    pos = library.motion.world()[0][:, bones]
    vel = np.empty_like(pos)
    for first, stop in zip(library.starts[:-1], library.starts[1:], strict=True):
        vel[first:stop] = _rate(pos[first:stop])
    ground = np.concatenate([track.pos, np.zeros((len(pos), 1))], axis=-1)
    places = rotate_about_z(-track.heading, pos - ground[:, None])
    rates = VELOCITY_S * rotate_about_z(-track.heading, vel)
    found = np.concatenate([places, rates], axis=1).reshape(len(pos), -1) / np.sqrt(len(bones))
    return freeze_array(np.ascontiguousarray(found, dtype=np.float32))


def find_joint_bones(body: BodyModel) -> list[int]:
    """The bones that count in a pose: those of the body's links."""
    return [body.skeleton.index(link.bone) for link in body.links]


def local_joints(body: BodyModel, clip: Clip) -> Array:
    """(T, J, 3) metres: the joints as seen from the pelvis, level and facing along +X; for comparing key poses."""
    pos, quat = clip.world()
    root = clip.skeleton.index(body.links[0].bone)
    heading = twist_angle(quat[:, root], upright_rotation(body))
    level = pos[:, root] * [1.0, 1.0, 0.0]
    return rotate_about_z(-heading, pos[:, find_joint_bones(body)] - level[:, None])


def _rate(pos: Array) -> Array:
    """(T, J, 3) m/s, by central differences."""
    return np.gradient(pos, 1.0 / FPS, axis=0) if len(pos) > 1 else np.zeros_like(pos)
