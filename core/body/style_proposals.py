# SPDX-License-Identifier: GPL-3.0-or-later
"""Style tags that Sinew proposes: from how fast the hips go, which way, how they turn and how low they are.

Speeds are in units of the leg: the square root of gravity times leg length, whose square is the Froude number. People
of any size break into a run near half of it.
"""

from dataclasses import dataclass

import numpy as np

from ..geometry.angles import arctan2_exact
from ..geometry.differences import velocity
from ..geometry.flags import find_runs
from ..geometry.quaternions import Array, conjugate, multiply
from ..motion import Clip
from ..motion.clip import Tag
from ..motion.flights import GRAVITY_M_S2
from .four_legs import lowest_height
from .leg_ik import Leg, find_legs
from .model import BodyModel
from .sagittal_plane import find_sagittal_plane
from .stances import Flags, smooth_hann

STYLES = ("idle", "walk", "run", "back", "side", "crouch", "turn")
"""What may be proposed."""

_SMOOTH_S = 0.5  # half of the window that evens out the steps of a gait
_IDLE, _RUN = 0.06, 0.67  # of the leg's speed; people stand below the first and run above the second
_STILL_RAD_S, _TURNS_RAD_S = 0.4, 1.0
_LOW = 0.89  # of the height of the hips on straight legs: lower ones crouch
_SHORTEST_S, _BRIDGE_S = 0.4, 0.3


@dataclass(frozen=True, eq=False)
class TravelMeasures:
    """How a body travels, frame by frame and evened out over its steps.

    speed_m_s, forward_m_s, left_m_s: (T,) of the hips over the ground; against where the body faces.
    turning_rad_s: (T,) positive to the left. height: (T,) of the hips, 1 when standing on straight legs.
    leg_m: from the ground to the hips then.
    """

    speed_m_s: Array
    forward_m_s: Array
    left_m_s: Array
    turning_rad_s: Array
    height: Array
    leg_m: float


def measure_travel(body: BodyModel, clip: Clip) -> TravelMeasures:
    """Measure a clip that is on the ground."""
    root = clip.skeleton.index(body.links[0].bone)
    pos, quat = clip.world()
    rest_quat = body.skeleton.rest_world()[1]
    whole = multiply(quat[:, root], conjugate(rest_quat[root]))
    heading = np.unwrap(np.asarray(2.0 * arctan2_exact(whole[:, 3], whole[:, 0])))
    plane = find_sagittal_plane(body)
    left = np.array([0.0, 1.0, 0.0]) if plane is None else plane.normal
    facing = smooth_hann(heading, clip.fps, _SMOOTH_S) + float(
        np.arctan2(-left[0], left[1])
    )  # forward is a quarter turn to the right of the left
    hips = [leg.hip for leg in find_hind_legs(body)] or [root]
    way = smooth_hann(velocity(pos[:, hips].mean(axis=1), clip.dt_s), clip.fps, _SMOOTH_S)
    turning = smooth_hann(velocity(heading[:, None], clip.dt_s), clip.fps, _SMOOTH_S)[:, 0]
    forward = np.cos(facing) * way[:, 0] + np.sin(facing) * way[:, 1]
    aside = np.cos(facing) * way[:, 1] - np.sin(facing) * way[:, 0]
    standing = measure_hip_height(body)
    height = smooth_hann(pos[:, hips, 2].mean(axis=1), clip.fps, _SMOOTH_S) / standing
    return TravelMeasures(np.hypot(way[:, 0], way[:, 1]), forward, aside, turning, height, standing)


def find_hind_legs(body: BodyModel) -> list[Leg]:
    """The legs with feet, not with hands, of the body's own skeleton."""
    return [leg for leg in find_legs(body, body.skeleton) if leg.links and body.links[leg.links[0]].role == "foot"]


def measure_hip_height(body: BodyModel) -> float:
    """Metres from the ground to the hips when the legs are straight and the feet as at rest."""
    pos, quat = body.skeleton.rest_world()
    found = []
    for leg in find_hind_legs(body):
        along = np.linalg.norm(pos[leg.knee] - pos[leg.hip]) + np.linalg.norm(pos[leg.foot] - pos[leg.knee])
        soles = [(body.skeleton.index(body.links[i].bone), shape) for i in leg.links for shape in body.links[i].shapes]
        lows = [lowest_height(shape, pos[bone][None], quat[bone][None])[0] for bone, shape in soles]
        found.append(float(along + pos[leg.foot, 2] - min(lows, default=pos[leg.foot, 2])))
    return float(np.mean(found)) if found else max(float(pos[0, 2] - pos[:, 2].min()), 1e-3)


def propose_styles(body: BodyModel, clip: Clip) -> tuple[Tag, ...]:
    """Tags of ranges in which the clip does one of ``STYLES``, as proposals; the clip must be on the ground.

    Who goes low crouches and does not walk; turning goes together with all of them.
    """
    one = measure_travel(body, clip)
    unit = float(np.sqrt(GRAVITY_M_S2 * one.leg_m))
    fast, turns = one.forward_m_s > _RUN * unit, np.abs(one.turning_rad_s) > _TURNS_RAD_S
    low = (one.height < _LOW) & ~fast  # sprinters are low, too
    still = (one.speed_m_s < _IDLE * unit) & (np.abs(one.turning_rad_s) < _STILL_RAD_S)
    moves = (one.speed_m_s >= _IDLE * unit) & ~low
    aside = moves & (np.abs(one.left_m_s) > np.abs(one.forward_m_s))
    back = moves & ~aside & (one.forward_m_s < 0.0)
    flags = {
        "idle": still & ~low,
        "walk": moves & ~fast & ~aside & ~back,
        "run": fast & ~aside,
        "back": back,
        "side": aside,
        "crouch": low,
        "turn": turns,
    }
    return tuple(Tag(name, *span, True) for name in STYLES for span in _spans(flags[name], clip.fps))


def _spans(flags: Flags, fps: float) -> list[tuple[int, int]]:
    """Runs of flags that are long enough, bridged where they are broken for a moment."""
    found: list[tuple[int, int]] = []
    for start, stop in find_runs(flags):
        if found and start - found[-1][1] < _BRIDGE_S * fps:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    shortest = min(_SHORTEST_S * fps, len(flags))
    return [span for span in found if span[1] - span[0] >= shortest]
