# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills as rows of fragments: clips made fit for physics, brought to whole fragments and cut."""

from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...body.footing import stood_on
from ...body.planted import planted
from ...body.poses import pose_of_clip, targets_of_pose, velocity_of_pose
from ...body.retiming import retimed
from ...body.symmetry import symmetric
from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.loops import looped
from ...motion.repair import repaired
from ..sampling.reference import CONTROL_FPS, FRAGMENT_STEPS
from .facing import upright
from .motion_graph import Skill
from .track import Track, faced

FRAGMENT_S = FRAGMENT_STEPS / CONTROL_FPS
# A cycle is prepared among others like it, and taken from the middle: what comes before and after it is as it will be.
_CYCLES, _MIDDLE = 5, 2
_MARGIN = 4  # control steps on either side that rates and targets are told by
_GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class Moments:
    """A motion at the control rate, of 6 K + 1 moments: qpos (T, nq), rates (T, nv), targets (T, nu).

    times_s: (K + 1,) seconds in its clip where its fragments begin, and the last ends.
    """

    qpos: Array
    rates: Array
    targets: Array
    times_s: Array

    def cut(self, body: BodyModel) -> Track:
        """Its K fragments."""
        count = (len(self.qpos) - 1) // FRAGMENT_STEPS
        at = FRAGMENT_STEPS * np.arange(count)[:, None]
        within = at + np.arange(FRAGMENT_STEPS + 1)
        qpos, rates = faced(self.qpos[within], self.rates[within], upright(body))
        return Track(body, qpos, rates, self.targets[within[:, 1:]])


def skill_moments(body: BodyModel, skill: Skill) -> Moments:
    """A skill as whole fragments on flat ground, played a little faster or slower for that; a gait's are even."""
    cycle = skill.kind == "cycle"
    clip = symmetric(body, skill.clip) if skill.gait else skill.clip
    whole = looped(clip, _CYCLES) if cycle else clip
    start_s = _MIDDLE * clip.duration_s if cycle else 0.0
    prepared, _ = repaired(whole)
    prepared, _ = stood_on(body, prepared, None)
    prepared, _ = planted(body, prepared, None)
    prepared, timing = retimed(body, prepared, _GRAVITY, None)
    ends_s = np.array([start_s, start_s + clip.duration_s])
    if timing.times_s is not None:
        ends_s = np.interp(ends_s, timing.times_s, np.arange(len(timing.times_s)) / prepared.fps)
    count = max(round((ends_s[1] - ends_s[0]) / FRAGMENT_S), 2)
    if skill.gait:  # so that its second half can be the mirror image of its first, fragment by fragment
        count = 2 * max(round((ends_s[1] - ends_s[0]) / (2.0 * FRAGMENT_S)), 1)
    steps = np.arange(-_MARGIN, count * FRAGMENT_STEPS + _MARGIN + 1)
    times_s = ends_s[0] + (ends_s[1] - ends_s[0]) * steps / (count * FRAGMENT_STEPS)
    pos, quat = prepared.sampled(times_s)
    steady = Clip(prepared.skeleton, CONTROL_FPS, pos, quat, clip.name)
    at_s = times_s[_MARGIN : len(times_s) - _MARGIN : FRAGMENT_STEPS]
    if timing.times_s is not None:
        at_s = np.interp(at_s, np.arange(len(timing.times_s)) / prepared.fps, timing.times_s)
    return told(body, pose_of_clip(body, steady)[0], _MARGIN, at_s - start_s)


def told(body: BodyModel, qpos: Array, margin: int, times_s: Array) -> Moments:
    """Poses (T, nq) at the control rate with rates and targets, without ``margin`` of them at either end."""
    rates = velocity_of_pose(body, qpos, 1.0 / CONTROL_FPS)
    targets = targets_of_pose(body, qpos)
    # A servo that damps absolute rates lags kd/kp behind a moving target: aim that much ahead.
    lead_s = body.per_dof("kd") / np.maximum(body.per_dof("kp"), 1e-9)
    targets = targets + lead_s * np.gradient(targets, 1.0 / CONTROL_FPS, axis=0)
    kept = slice(margin, len(qpos) - margin)
    return Moments(qpos[kept], rates[kept], targets[kept], times_s)
