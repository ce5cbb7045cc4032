# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills as chains of control fragments: clips are prepared, resampled to whole fragments and segmented (section 4)."""

from dataclasses import dataclass, replace

import numpy as np

from ....body import BodyModel
from ....body.four_legs import SOLES
from ....body.pose_space import PoseSpace
from ....body.poses import link_transforms, pose_of_clip, velocity_of_pose
from ....body.symmetry import symmetrize_cycle
from ....geometry.differences import velocity
from ....geometry.quaternions import Array
from ....motion import Clip
from ....sim.stage_parts import Finding
from ...tracking.facing import rotate_pose_about_z, twist_angle, upright_rotation
from ...tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from ...tracking.servo_targets import compute_feedforward_targets
from ...tracking.source_preparation import CYCLES, prepare_source
from ..transitions.blending import blend_transition, count_blend_fragments
from ..transitions.distances import VELOCITY_S, PointClouds, link_centres, point_cloud_distances, point_weights
from ..transitions.footskate_cleanup import link_heights
from ..transitions.motion_graph import Skill
from .fragments import Track, to_fragment_frame

FRAGMENT_S = FRAGMENT_STEPS / CONTROL_FPS
_MARGIN = 4  # control steps on either side, from which rates and targets are differentiated
_DOWN_M, _STANDS = 0.02, 0.5  # a sole that is this near to its lowest place and this slow, of the gait's speed, is down


@dataclass(frozen=True, eq=False)
class ChainMotion:
    """The motion of a chain at the control rate, of T = 6 K + 1 moments: qpos (T, nq), rates (T, nv), targets (T, nu).

    times_s: (K + 1,) seconds in its clip where its fragments begin, and the last ends.
    touch: of a gait, the fragment at which the left foot touches down; the right one does half a cycle later.
    findings: what was wrong with the source.
    """

    qpos: Array
    rates: Array
    targets: Array
    times_s: Array
    touch: int = 0
    findings: tuple[Finding, ...] = ()

    def segment(self, body: BodyModel) -> Track:
        """Its K fragments, each in its own frame."""
        count = (len(self.qpos) - 1) // FRAGMENT_STEPS
        at = FRAGMENT_STEPS * np.arange(count)[:, None]
        within = at + np.arange(FRAGMENT_STEPS + 1)
        qpos, rates = to_fragment_frame(self.qpos[within], self.rates[within], upright_rotation(body))
        return Track(body, qpos, rates, self.targets[within[:, 1:]])


def skill_motion(body: BodyModel, skill: Skill, mirrored: bool = True) -> ChainMotion:
    """A skill on flat ground, resampled to whole fragments; mirrored: a gait's strides are made symmetric."""
    cycle = skill.kind == "cycle" and skill.closes
    clip = symmetrize_cycle(body, skill.clip) if skill.gait and mirrored else skill.clip
    prepared, timing = prepare_source(body, clip, cycles=CYCLES if cycle else 1, name=skill.name)
    start_s = timing.begin_s
    ends_s = np.array([start_s, start_s + clip.duration_s])
    if timing.times_s is not None:
        ends_s = np.interp(ends_s, timing.times_s, np.arange(len(timing.times_s)) / prepared.fps)
    count = max(round((ends_s[1] - ends_s[0]) / FRAGMENT_S), 2)
    if skill.gait:  # so that its second half can be the mirror image of its first, fragment by fragment
        count = 2 * max(round((ends_s[1] - ends_s[0]) / (2.0 * FRAGMENT_S)), 1)
    times_s, qpos = _resample_fragments(body, prepared, ends_s, count)
    touch = 0
    if (
        skill.gait
    ):  # feet come down where fragments begin, so that a stride can begin with them; the first stays about it
        step = _find_touchdown(body, qpos[_MARGIN:-_MARGIN])
        aside = (step + FRAGMENT_STEPS // 2) % FRAGMENT_STEPS - FRAGMENT_STEPS // 2
        touch = (step - aside) // FRAGMENT_STEPS % count
        times_s, qpos = _resample_fragments(body, prepared, ends_s + aside * (times_s[1] - times_s[0]), count)
    at_s = times_s[_MARGIN : len(times_s) - _MARGIN : FRAGMENT_STEPS]
    if timing.times_s is not None:
        at_s = np.interp(at_s, np.arange(len(timing.times_s)) / prepared.fps, timing.times_s)
    found = replace(add_controls(body, qpos, _MARGIN, at_s - start_s), touch=touch)
    found = _close_cycle(body, found) if skill.kind == "cycle" and not cycle else found
    return replace(found, findings=timing.findings)


def _close_cycle(body: BodyModel, line: ChainMotion) -> ChainMotion:
    """A motion whose end differs from its beginning, made a cycle: its beginning is blended from its end."""
    (first, last), whole = ((line.qpos[at], line.rates[at]) for at in (0, -1)), len(line.times_s) - 1
    steps = count_blend_fragments(pose_distance(body, last, first), whole - 1) * FRAGMENT_STEPS
    eased = blend_transition(PoseSpace(body), body, line.qpos[: steps + 1], line.rates[: steps + 1], *last)
    cycle = np.concatenate([eased, line.qpos[steps + 1 :]])
    came = align_last_pose(line.qpos[-_MARGIN - 1 :], eased[0])[:-1]
    onward = align_last_pose(cycle[_MARGIN::-1], cycle[-1])[-2::-1]
    return add_controls(body, np.concatenate([came, cycle, onward]), _MARGIN, line.times_s)


def _resample_fragments(body: BodyModel, clip: Clip, ends_s: Array, count: int) -> tuple[Array, Array]:
    """Seconds (T,) and poses (T, nq) of ``count`` fragments from one time of a clip to another, with a margin."""
    steps = np.arange(-_MARGIN, count * FRAGMENT_STEPS + _MARGIN + 1)
    times_s = ends_s[0] + (ends_s[1] - ends_s[0]) * steps / (count * FRAGMENT_STEPS)
    pos, quat = clip.sample(times_s)
    return times_s, pose_of_clip(body, Clip(clip.skeleton, CONTROL_FPS, pos, quat, clip.name))[0]


def _find_touchdown(body: BodyModel, qpos: Array) -> int:
    """The step of a cycle (T, nq) at which the left foot comes down; 0 if it has none, or never leaves the floor."""
    soles = [index for index, link in enumerate(body.links) if link.role in SOLES and link.side == "L"]
    if not soles:
        return 0
    height = link_heights(body, qpos)[:-1, soles].min(axis=1)
    speed = np.linalg.norm(velocity(link_transforms(body, qpos)[0][:, soles, :2], 1.0 / CONTROL_FPS), axis=-1)
    travels = float(np.linalg.norm(qpos[-1, :2] - qpos[0, :2])) * CONTROL_FPS / (len(qpos) - 1)
    # A foot may skim the floor for long before it stands.
    down = (height < height.min() + _DOWN_M) & (speed[:-1].min(axis=1) < _STANDS * travels)
    began = np.flatnonzero(down & ~np.roll(down, 1))
    # Of several, the one after the longest swing.
    swings = [next(k for k in range(1, len(down) + 1) if down[step - k]) for step in began]
    return int(began[int(np.argmax(swings))]) if len(began) else 0


def add_controls(body: BodyModel, qpos: Array, margin: int, times_s: Array) -> ChainMotion:
    """Poses (T, nq) at the control rate with rates and servo targets, without ``margin`` of them at either end."""
    rates = velocity_of_pose(body, qpos, 1.0 / CONTROL_FPS)
    targets = compute_feedforward_targets(body, qpos, CONTROL_FPS)
    kept = slice(margin, len(qpos) - margin)
    return ChainMotion(qpos[kept], rates[kept], targets[kept], times_s)


def pose_distance(body: BodyModel, one: tuple[Array, Array], other: tuple[Array, Array]) -> float:
    """Metres between two moments, each a pose (nq,) and rates (nv,), as in ``transitions/distances.py``."""
    space, clouds = PoseSpace(body), []
    for qpos, rates in (one, other):
        before, after = (link_centres(body, space.integrate(qpos, sign * VELOCITY_S * rates)) for sign in (-0.1, 0.1))
        pos, weight = 0.5 * (before + after), point_weights(body)
        pos[:, :2] -= weight @ pos[:, :2]
        clouds.append(PointClouds(pos[None], (after - before)[None] / (0.2 * VELOCITY_S), weight))
    return float(point_cloud_distances(*clouds)[0, 0])


def align_last_pose(qpos: Array, onto: Array) -> Array:
    """Poses (T, nq), moved in the plane and turned about the vertical so that the last one is at ``onto`` (nq,)."""
    heading = twist_angle(onto[3:7], qpos[-1, 3:7])
    posed, _ = rotate_pose_about_z(np.full(len(qpos), heading), qpos, np.zeros((len(qpos), 3)))
    posed[:, :2] += onto[:2] - posed[-1, :2]
    return posed
