# SPDX-License-Identifier: GPL-3.0-or-later
"""A standing man whose feet are moved by hand: steps, glides and turns."""

from dataclasses import replace

import numpy as np

from sinew.core.body import build_body
from sinew.core.body.leg_ik import find_legs, solve_leg_ik
from sinew.core.body.terrain_adaptation import adapt_to_ground
from sinew.core.geometry.quaternions import conjugate, from_rotation_vector, multiply
from sinew.core.measure.smoothness import jerk
from sinew.core.motion import Clip

from .figures import person

FPS = 60.0
TIME = np.arange(121) / FPS
STANDS = (TIME >= 0.5) & (TIME <= 1.3)  # when a foot that is ``stepping`` is down
INSIDE = slice(round(0.55 * FPS), round(1.25 * FPS))  # well within that


def standing_man(*, toes=False):
    """A person with slightly bent knees who stands for two seconds, and the body."""
    skeleton = person() if toes else person(without=("toe",))
    pos, quat = (np.repeat(part[None], 121, axis=0) for part in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    clip = Clip(skeleton, FPS, pos, quat, "standing")
    body = build_body(skeleton, clip=clip)[0]
    clip = moved(body, clip, {side: np.tile([0.0, 0.0, 0.03], (len(clip), 1)) for side in (0, 1)})
    return body, adapt_to_ground(body, clip, None)[0]


def moved(body, clip, ways):
    """The clip with the feet of some legs, by number, taken along ways (T, 3) in metres."""
    for number, way in ways.items():
        leg = find_legs(body, clip.skeleton)[number]
        goal = clip.world()[0][:, leg.foot] + way
        clip = replace(clip, local_quat_wxyz=solve_leg_ik(clip, leg, goal))
    return clip


def turned(body, clip, number, turns):
    """The clip with a foot turned in the world by rotation vectors (T, 3) about its own head."""
    leg = find_legs(body, clip.skeleton)[number]
    quat = clip.world()[1]
    local = np.array(clip.local_quat_wxyz)
    above = quat[:, clip.skeleton.parents[leg.foot]]
    local[:, leg.foot] = multiply(conjugate(above), multiply(from_rotation_vector(turns), quat[:, leg.foot]))
    return replace(clip, local_quat_wxyz=local)


def foot_path(body, clip, number):
    return clip.world()[0][:, find_legs(body, clip.skeleton)[number].foot]


def stepping(way_m, seconds=(0.5, 1.3), lift_m=0.15, length=121):
    """(T, 3) metres: down at the first time and up at the second, sliding by ``way_m`` along X in between."""
    time = np.arange(length) / FPS
    share = np.clip((time - seconds[0]) / (seconds[1] - seconds[0]), 0.0, 1.0)
    away = np.maximum(seconds[0] - time, 0.0) + np.maximum(time - seconds[1], 0.0)
    up = lift_m * np.sin(np.clip(away / 0.3, 0.0, 1.0) * 0.5 * np.pi) ** 2
    swing = 0.1 * np.clip((time - seconds[1]) / 0.3, 0.0, 1.0) - 0.1 * np.clip((seconds[0] - time) / 0.3, 0.0, 1.0)
    return np.stack([way_m * share + swing, np.zeros_like(time), up], -1)


def same(a, b):
    return np.array_equal(a.local_pos, b.local_pos) and np.array_equal(a.local_quat_wxyz, b.local_quat_wxyz)


def roughness(clip):
    return jerk(clip.world()[0], clip.fps)


def on_feet(body, clip, *by_leg):
    """(T, L) flags: each leg's links are carried when its own flags (T,) say so."""
    flags = np.zeros((len(clip), len(body.links)), dtype=bool)
    for leg, when in zip(find_legs(body, clip.skeleton), by_leg, strict=False):
        flags[:, list(leg.links)] = np.asarray(when)[:, None]
    return flags


def along(x, z=0.0):
    """(T, 3) metres: a way along X."""
    return np.stack([x, np.zeros_like(x), np.full_like(x, z)], -1)


def glided(clip, way):
    """The whole character taken along a way (T, 3)."""
    pos = np.array(clip.local_pos)
    pos[:, 0] += way
    return Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz, clip.name)


def assert_only_left_leg_turned(clip, source):
    """The hips, the other leg and all the rest are as they were, every bit of them."""
    own = [clip.skeleton.index(name) for name in ("thigh.L", "shin.L", "foot.L")]
    others = [bone for bone in range(len(clip.skeleton)) if bone not in own]
    assert np.array_equal(clip.local_quat_wxyz[:, others], source.local_quat_wxyz[:, others])
    assert np.array_equal(clip.local_pos, source.local_pos)
