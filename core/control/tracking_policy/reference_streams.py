# SPDX-License-Identifier: GPL-3.0-or-later
"""What the policy follows: streams of kinematic motion on a body, with all that rewards and observations need of it.

In DReCon the kinematic character never feels the simulated one, so streams of motion matching are made beforehand, and
training only indexes arrays. Single precision, because there may be an hour of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.pose_space import PoseSpace
from ...body.poses import link_transforms, pose_of_clip
from ...geometry.quaternions import Array, rotate
from ...motion import Clip
from ..matching.features import FPS
from ..tracking.facing import twist_angle, upright_rotation
from ..tracking.servo_targets import compute_feedforward_targets

CONTROL_FRAMES = 2
"""Frames in a control step: the policy acts 30 times a second (the paper's k = 2)."""
CONTROL_FPS = FPS / CONTROL_FRAMES

Indices = NDArray[np.int64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

DRAWN_SHARE, DRAWN_SHARE_ON_A_PATH = 0.1, 0.05
"""Of how far a body is from its stream, that this comes after it in a control step: less where its place matters."""


@dataclass(frozen=True, eq=False)
class ReferenceStreams:
    """S streams one after the other, F frames in all at 60 a second, each in its own place on the ground.

    starts: (S + 1,) first frame of each, then F. qpos: (F, nq), qvel: (F, nv). targets: (F, nu) servo targets that lead
    to a frame. link_pos: (F, L, 3), com: (F, 3) metres, com_velocity: (F, 3) m/s, heading: (F,) radians about Z.
    contacts: (F, legs) which feet stand. drawn_share: of how far its body is from it, that a stream comes after it
    in a control step.
    """

    body: BodyModel
    starts: Indices
    qpos: Floats
    qvel: Floats
    targets: Floats
    link_pos: Floats
    com: Floats
    com_velocity: Floats
    heading: Floats
    contacts: Flags
    drawn_share: float = DRAWN_SHARE

    def __len__(self) -> int:
        return len(self.qpos)

    @cached_property
    def ends(self) -> Indices:
        """(F,) the last frame of each frame's stream."""
        return np.repeat(self.starts[1:] - 1, np.diff(self.starts))

    @cached_property
    def pose_space(self) -> PoseSpace:
        """Differences of poses."""
        return PoseSpace(self.body)

    @property
    def minutes(self) -> float:
        """How long all of them last."""
        return len(self) / FPS / 60.0

    def later(self, frame: Indices, frames: int) -> Indices:
        """(N,) so many frames after frames (N,), held at the ends of their streams."""
        found: Indices = np.minimum(frame + frames, self.ends[frame])
        return found


def make_streams(
    body: BodyModel, clips: Sequence[Clip], contacts: Sequence[Flags], drawn_share: float = DRAWN_SHARE
) -> ReferenceStreams:
    """The streams of clips at 60 frames a second, with the contacts (T, legs) of each."""
    parts = [_describe_clip(body, clip) for clip in clips]
    starts = np.concatenate([[0], np.cumsum([len(clip) for clip in clips])]).astype(np.int64)
    joined: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return ReferenceStreams(body, starts, contacts=np.concatenate(contacts), drawn_share=drawn_share, **joined)


def join_streams(streams: Sequence[ReferenceStreams]) -> ReferenceStreams:
    """All of them as one."""
    lengths = np.concatenate([np.diff(one.starts) for one in streams])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    names = ("qpos", "qvel", "targets", "link_pos", "com", "com_velocity", "heading", "contacts")
    return ReferenceStreams(
        streams[0].body, starts, *(np.concatenate([getattr(one, name) for one in streams]) for name in names)
    )


def _describe_clip(body: BodyModel, clip: Clip) -> dict[str, Floats]:
    qpos, qvel = pose_of_clip(body, clip)
    pos, quat = link_transforms(body, qpos)
    mass = np.array([link.mass for link in body.links])
    centres = pos + rotate(quat, np.broadcast_to([link.com for link in body.links], pos.shape))
    com = np.einsum("l,tlx->tx", mass / mass.sum(), centres)
    found: dict[str, Array] = {
        "qpos": qpos,
        "qvel": qvel,
        "targets": compute_feedforward_targets(body, qpos, FPS),
        "link_pos": pos,
        "com": com,
        "com_velocity": np.gradient(com, 1.0 / FPS, axis=0),
        "heading": twist_angle(qpos[:, 3:7], upright_rotation(body)),
    }
    return {name: array.astype(np.float32) for name, array in found.items()}
