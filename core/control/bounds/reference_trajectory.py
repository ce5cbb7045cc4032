# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference trajectory m(t) that bounds are centred on (section 3.2), sampled at control steps, with its phase.

A cycle is repeated without end. It is a whole number of control steps, so it is played up to half a step slower or
faster than its clip.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.pose_space import PoseSpace
from ...body.poses import link_transforms, pose_of_clip, velocity_of_pose
from ...body.symmetry import symmetrize_cycle
from ...errors import BadMotion
from ...geometry.quaternions import Array, multiply, rotate
from ...motion import Clip
from ...motion.loops import is_cyclic
from ...sim.stage_parts import Finding
from ..tracking.facing import rotate_pose_about_z, rotation_about_z, twist_angle
from ..tracking.servo_targets import compute_feedforward_targets
from ..tracking.source_preparation import CYCLES, prepare_source
from .gait_symmetry import GaitMirror
from .low_frame_rate import smooth_low_frame_rate

CONTROL_FPS = 30
FILM_STEPS = 2
"""Film steps in a control step, each with a feed-forward target of its own: 60 a second, as takes have."""

_FILM_FPS = CONTROL_FPS * FILM_STEPS
_MARGIN = 12  # film steps on either side, for finite differences and filters
_LEAST_STEPS = 6
_HARMONICS = 4
_STRAIGHT = 0.2  # radians: a cycle that turns by less is taken to go straight on
_INSTANT_S = 1e-4

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReferenceTrajectory:
    """T control steps of a motion, frame 0 to frame T; of a cycle frame T is frame 0 one cycle further.

    qpos: (T + 1, nq), qvel: (T + 1, nv): pose and velocity in each frame, in the clip's own place and heading.
    targets: (T, FILM_STEPS, nu) feed-forward servo targets, ahead of their lag; those of step i lead to frame i + 1.
    film_qpos: (T * FILM_STEPS + 1, nq) poses at all film steps.
    times_s: (T + 1,) seconds in the clip that correspond to the frames.
    cycle_turn: radians about Z, cycle_shift: (2,) metres that a cycle adds: p -> turned(p) + shift. Zero if not cyclic.
    symmetric: whether the second half of the steps is the mirror image of the first.
    findings: what was wrong with the clip; controllers do not keep them.
    """

    body: BodyModel
    cyclic: bool
    qpos: Array
    qvel: Array
    targets: Array
    film_qpos: Array
    times_s: Array
    cycle_turn: float
    cycle_shift: Array
    symmetric: bool = False
    findings: tuple[Finding, ...] = ()

    @property
    def steps(self) -> int:
        """T, how many control steps it lasts, or one cycle of it."""
        return len(self.targets)

    @property
    def duration_s(self) -> float:
        """Seconds that it lasts, or one cycle of it."""
        return self.steps / CONTROL_FPS

    @cached_property
    def pose_space(self) -> PoseSpace:
        """Differences of poses."""
        return PoseSpace(self.body)

    @cached_property
    def end_effectors(self) -> "EndEffectors":
        """The body's end effectors."""
        return EndEffectors(self.body)

    @cached_property
    def com(self) -> Array:
        """(T + 1, 3) metres, the centre of mass in each frame."""
        return pose_centre_of_mass(self.body, self.qpos)

    @cached_property
    def com_velocity(self) -> Array:
        """(T + 1, 3) m/s."""
        ahead, behind = (
            pose_centre_of_mass(self.body, self.pose_space.integrate(self.qpos, by * self.qvel)) for by in _INSTANTS
        )
        return np.asarray((ahead - behind) / (2.0 * _INSTANT_S))

    @cached_property
    def effector_pos(self) -> Array:
        """(T + 1, E, 3) metres from the root to the end effectors in each frame."""
        pos, quat = link_transforms(self.body, self.qpos)
        return self.end_effectors.positions(pos, quat) - pos[:, :1]

    @cached_property
    def phase_features(self) -> Array:
        """(T + 1, P) the phase of each frame as harmonics, periodic in a cycle or stride, not in a motion that ends."""
        share = (2.0 if self.symmetric else 1.0) * np.arange(self.steps + 1) / self.steps
        angle = (2.0 if self.cyclic else 1.0) * np.pi * share[:, None] * np.arange(1, _HARMONICS + 1)
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)

    @cached_property
    def gait_mirror(self) -> GaitMirror | None:
        """The mirror of the second stride of a symmetric gait; None for all else."""
        return GaitMirror(self.body, self.cycle_shift, self.end_effectors.links) if self.symmetric else None

    def is_mirrored(self, at: Indices) -> NDArray[np.bool_]:
        """(N,) which of frames (N,) are in a mirrored second stride."""
        return np.asarray(self.symmetric & (at % self.steps >= self.steps // 2))

    @cached_property
    def rotation_starts(self) -> Indices:
        """(L,) where in a velocity the rotations of root and joints begin; each ends where the next begins."""
        return np.asarray([3, *self.body.qvel_starts[1:-1]])

    def fingerprint(self) -> str:
        """A hash of poses and targets, so that a controller is not played with another motion."""
        found = hashlib.sha256()
        for array in (self.qpos, self.targets):
            found.update(np.round(array, 9).tobytes())
        return found.hexdigest()


_INSTANTS = (_INSTANT_S, -_INSTANT_S)


class EndEffectors:
    """End effectors of a body: the far ends of the bones of leaf links.

    links: (E,) which links; lengths: (E,) metres along their own +Y; names: their bones.
    """

    def __init__(self, body: BodyModel) -> None:
        parents = {link.parent for link in body.links}
        self.links: Indices = np.array([i for i in range(1, len(body.links)) if i not in parents], dtype=np.int64)
        self.names = tuple(body.links[i].bone for i in self.links)
        self.lengths: Array = np.array([body.skeleton.lengths[body.skeleton.index(name)] for name in self.names])

    def positions(self, link_pos: Array, link_quat_wxyz: Array) -> Array:
        """(..., E, 3) their positions, of links' positions (..., L, 3) and rotations (..., L, 4)."""
        quat = link_quat_wxyz[..., self.links, :]
        w, x, y, z = (quat[..., part] for part in range(4))
        along = np.empty((*x.shape, 3))
        along[..., 0], along[..., 1] = 2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z)
        along[..., 2] = 2.0 * (y * z + w * x)
        return np.asarray(link_pos[..., self.links, :] + self.lengths[:, None] * along)


def pose_centre_of_mass(body: BodyModel, qpos: Array) -> Array:
    """(..., 3) metres, the centre of mass in poses (..., nq)."""
    pos, quat = link_transforms(body, qpos)
    mass = np.array([link.mass for link in body.links])
    centres = pos + rotate(quat, np.broadcast_to([link.com for link in body.links], pos.shape))
    return np.asarray(np.einsum("l,...lx->...x", mass / mass.sum(), centres))


def make_reference_trajectory(
    body: BodyModel, clip: Clip, *, cyclic: bool | None = None, symmetric: bool = False
) -> ReferenceTrajectory:
    """The reference trajectory of a clip on flat ground.

    cyclic: whether it is repeated; None to detect it. symmetric: make both strides mirror images of each other.
    """
    cycle = is_cyclic(clip) if cyclic is None else cyclic
    symmetric = symmetric and cycle
    begins_as = pose_of_clip(body, clip.frames(0, 1))[0][0]
    clip = symmetrize_cycle(body, clip) if symmetric else straighten_cycle(clip) if cycle else clip
    prepared, report = prepare_source(body, clip, cycles=CYCLES if cycle else 1)
    start_s = report.begin_s
    played_s = np.arange(len(prepared)) / prepared.fps if report.times_s is None else report.times_s
    ends_s = np.interp([start_s, start_s + clip.duration_s], played_s, np.arange(len(played_s)) / prepared.fps)
    lasts = (ends_s[1] - ends_s[0]) * CONTROL_FPS
    count = round(lasts) if cycle else int(np.floor(lasts + 1e-6))
    count = 2 * round(0.5 * lasts) if symmetric else count
    if count < _LEAST_STEPS:
        raise BadMotion(
            f"'{clip.name}' lasts {clip.duration_s:.2f} s, which is too short to be learned",
            f"Choose a range of at least {_LEAST_STEPS / CONTROL_FPS:g} s",
        )
    if not cycle:
        ends_s[1] = ends_s[0] + count / CONTROL_FPS
    steps = np.arange(-_MARGIN, count * FILM_STEPS + _MARGIN + 1)
    times_s = ends_s[0] + (ends_s[1] - ends_s[0]) * steps / (count * FILM_STEPS)
    pos, quat = prepared.sample(times_s)
    qpos = pose_of_clip(body, Clip(clip.skeleton, _FILM_FPS, pos, quat, clip.name))[0]
    qpos = smooth_low_frame_rate(PoseSpace(body), qpos, _FILM_FPS, clip.fps)
    if cycle:
        qpos = _begun_as(qpos, _MARGIN, begins_as)
    within = slice(_MARGIN, -_MARGIN)
    film = qpos[within]
    aimed = compute_feedforward_targets(body, qpos, _FILM_FPS)[within][1:].reshape(count, FILM_STEPS, body.nu)
    rates = velocity_of_pose(body, qpos, 1.0 / _FILM_FPS)[within]
    turn, shift = _step(film) if cycle else (0.0, np.zeros(2))
    source_s = np.interp(times_s[within], np.arange(len(played_s)) / prepared.fps, played_s) - start_s
    return ReferenceTrajectory(
        body,
        cycle,
        film[::FILM_STEPS],
        rates[::FILM_STEPS],
        aimed,
        film,
        source_s[::FILM_STEPS],
        turn,
        shift,
        symmetric,
        report.findings,
    )


def straighten_cycle(clip: Clip) -> Clip:
    """A cycle whose heading at its end is nearly that at its beginning, rotated so that both are equal.

    Captures of straight walks begin and end in strides whose headings differ by some degrees. Repeated, the body would
    have to veer by that at every seam, while its path within the cycle is straight.
    """
    roots = np.flatnonzero(clip.skeleton.parents < 0)
    root = int(roots[np.argmax([np.ptp(clip.local_pos[:, one], axis=0).max() for one in roots])])
    turn = _wrapped(float(twist_angle(clip.local_quat_wxyz[-1, root], clip.local_quat_wxyz[0, root])))
    if abs(turn) > _STRAIGHT:
        return clip
    quat = np.array(clip.local_quat_wxyz)
    quat[:, root] = multiply(rotation_about_z(-turn * np.linspace(0.0, 1.0, len(clip))), quat[:, root])
    return replace(clip, local_quat_wxyz=quat)


def _begun_as(qpos: Array, first: int, like: Array) -> Array:
    """Poses (K, nq) moved over the floor so that pose ``first`` has the place and heading of ``like`` (nq,)."""
    heading = np.full(len(qpos), float(twist_angle(like[3:7], qpos[first, 3:7])))
    found, _ = rotate_pose_about_z(heading, qpos, np.zeros((len(qpos), 3)))
    found[:, :2] += like[:2] - found[first, :2]
    return found


def _wrapped(angle: float) -> float:
    """The same angle without whole turns."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def _step(qpos: Array) -> tuple[float, Array]:
    """What a cycle of poses (K, nq) adds: radians about Z, and metres (2,) in the plane."""
    first, last = qpos[0], qpos[-1]
    turn = _wrapped(float(twist_angle(last[3:7], first[3:7])))
    cos, sin = np.cos(turn), np.sin(turn)
    return turn, last[:2] - np.array([cos * first[0] - sin * first[1], sin * first[0] + cos * first[1]])
