# SPDX-License-Identifier: GPL-3.0-or-later
"""Improvisers that have learned nothing: they hold the pose in which a clip begins, as well as their servos can."""

import numpy as np

from sinew.core.body.poses import pose_of_clip, targets_of_pose
from sinew.core.control.improvise.body_states import NUMBERS, StateReader
from sinew.core.control.improvise.falling import FallHeights
from sinew.core.control.improvise.latent_model import LatentModel
from sinew.core.control.improvise.learned_file import Improviser
from sinew.core.control.improvise.stream_matching import match_features
from sinew.core.control.improvise.variety import KnownMotion
from sinew.core.learn.normaliser import Normaliser, RunningStatistics
from sinew.core.learn.policy import Policy

_LATENT = 3


def make_policy(into, out, biases=None, scale=0.0, seed=0):
    """One layer from so many numbers to so many."""
    weights = scale * np.random.default_rng(seed).standard_normal((out, into)).astype(np.float32)
    statistics = RunningStatistics(1.0, np.zeros(into), np.ones(into))
    layer = weights, np.zeros(out, np.float32) if biases is None else biases.astype(np.float32)
    return Policy(Normaliser(statistics), (layer,), "elu", 1.0, np.ones(out, np.float32))


def make_improviser(body, clip):
    """It moves a little, at random, about the clip's first pose."""
    qpos, qvel = pose_of_clip(body, clip)
    state = NUMBERS * len(body.links)
    prior = make_policy(state, 2 * _LATENT)
    decoder = make_policy(state + _LATENT, body.nu, targets_of_pose(body, qpos[:1])[0], 0.0002)
    features = match_features(StateReader(body)(qpos, qvel).rows)
    styles = np.zeros(len(features), dtype=np.int64)
    known = KnownMotion(features, styles, (clip.name or "clip",), 0.1)
    starts = (np.float32(qpos[:3]).astype(float), np.zeros((3, body.nv)))
    return Improviser(
        body, LatentModel(prior, decoder), *starts, known, FallHeights(0.5, 0.4), {"seconds": 60.0, "mean_up_s": 2.0}
    )
