# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies that nobody trained."""

import numpy as np

from sinew.core.control.tracking_policy.controller import TrackingController
from sinew.core.control.tracking_policy.environment import find_acting
from sinew.core.control.tracking_policy.observations import StreamFeatures
from sinew.core.learn.normaliser import Normaliser, RunningStatistics
from sinew.core.learn.policy import Policy


def make_constant_controller(streams, offset, about=None):
    """One that asks for the same offset of all joints, whatever it sees."""
    acting, body = find_acting(streams.body), streams.body
    features = StreamFeatures(streams, acting)
    size = features.rows.shape[1] + 18 + 2 * body.nu + 6 * len(features.links) + 1 + len(acting)
    layer = np.zeros((len(acting), size), np.float32), np.full(len(acting), offset, np.float32)
    noise = np.ones(len(acting), np.float32)
    policy = Policy(Normaliser(RunningStatistics.empty(size)), (layer,), "elu", 1.0, noise)
    return TrackingController(policy, 0.4, about=about or {})


def make_idle_controller(streams):
    """One whose offsets are always zero: the servos follow the stream, and nobody keeps the balance."""
    return make_constant_controller(streams, 0.0)
