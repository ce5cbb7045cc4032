# SPDX-License-Identifier: GPL-3.0-or-later
"""Only some bones are simulated: the others are the source's, and these move as parts of a body."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control import muscle
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.errors import RigError
from sinew.core.geometry.quaternions import angle_between
from sinew.core.measure import measure_take
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PushPart, StageParts

from ....engines_here import engine_here
from ....stock_clips import stock_clip
from .people import MemoryRun

ARM = ("upper_arm.L", "forearm.L")


def simulated(clip, bones, engine="mujoco", softness=0.7, **attachments):
    engine_here(engine)
    run = MemoryRun(0, attachments)
    run.engine = engine
    return SamplingMethod().run(clip, SamplingSettings(bones=bones, softness=softness), run), run


def apart(clip, take):
    """(B,) radians by which each bone's own rotation is off at most, and metres of its place."""
    turned = angle_between(clip.local_quat_wxyz, take.motion.local_quat_wxyz).max(axis=0)
    return dict(zip(clip.skeleton.names, turned, strict=True)), np.abs(clip.local_pos - take.motion.local_pos).max()


def limp(clip):
    return muscle.make_muscle_attachment(np.zeros(len(clip)), clip.fps)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_a_limp_arm_moves_and_nothing_else(engine):
    clip = stock_clip("walk", 0, 40)
    take, run = simulated(clip, "left_arm", engine, **limp(clip))
    turned, moved = apart(clip, take)
    assert moved == 0.0 and len(take.motion) == len(clip) and take.fell_at_s is None
    assert max(angle for name, angle in turned.items() if name not in ARM) < 1e-7
    assert all(turned[name] > 0.05 for name in ARM)
    assert any(kind == "part" and "upper_arm.L" in message for kind, message in run.findings)
    assert len(run.traces) == 1 and run.traces[0].torque.max() == 0.0


def test_the_softer_the_looser():
    clip = stock_clip("walk", 0, 40)
    worst = []
    for softness in (0.0, 0.7, 1.0):
        turned, _ = apart(clip, simulated(clip, "arms", softness=softness)[0])
        worst.append(max(turned[name] for name in ARM))
    assert worst[0] < 0.1 < worst[1] < worst[2]


def test_soft_bones_hold_their_weight_where_they_rest():
    clip = stock_clip("walk", 10, 11)
    still = replace(
        clip,
        local_pos=np.repeat(clip.local_pos, 60, axis=0),
        local_quat_wxyz=np.repeat(clip.local_quat_wxyz, 60, axis=0),
    )
    turned, _ = apart(still, simulated(still, "arms")[0])
    assert max(turned[name] for name in ARM) < 0.06


def test_an_upper_body_that_slumps_is_not_lost():
    clip = stock_clip("walk", 0, 38)
    take, run = simulated(clip, "upper_body", softness=1.0)
    turned, _ = apart(clip, take)
    assert turned["chest"] > 0.5 and turned["thigh.L"] < 1e-7
    assert measure_take(run.traces[0], clip, take.motion).lost_at_s is None


def test_a_push_on_the_arm_moves_the_arm_only():
    clip = stock_clip("kick", 0, 30)
    push = PushPart("Push", "Hero", "forearm.L", np.array([0.0, 60.0, 0.0]), 0.1, 0.2)
    stage = stage_to_arrays(StageParts(("Hero",), pushes=(push,)))
    calm, hit = simulated(clip, "left_arm")[0], simulated(clip, "left_arm", stage=stage)[0]
    turned, _ = apart(calm.motion, hit)
    assert max(turned[name] for name in ARM) > 0.2
    assert max(angle for name, angle in turned.items() if name not in ARM) < 1e-7


def test_a_bone_below_a_simulated_one_keeps_its_own_keys():
    clip = stock_clip("walk", 0, 30)
    turned, _ = apart(clip, simulated(clip, "upper_arm.L", **limp(clip))[0])
    assert turned["upper_arm.L"] > 0.05 and turned["forearm.L"] < 1e-7


@pytest.mark.parametrize(
    ("bones", "message"),
    [("pelvis", "whole body"), ("left_arn", "no bone and no part"), ("tail", "no part for 'Tail'")],
)
def test_what_cannot_be_simulated_alone_is_named(bones, message):
    with pytest.raises(RigError, match=message):
        simulated(stock_clip("walk", 0, 10), bones)
