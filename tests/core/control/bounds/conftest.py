# SPDX-License-Identifier: GPL-3.0-or-later
"""Reference trajectories of stock clips, their body, and worlds to follow them in."""

from contextlib import ExitStack, closing
from functools import cache

import numpy as np
import pytest

from sinew.core.body import BodyModel, build_body
from sinew.core.control.bounds.bounds import Bounds, bounds_of_preset, sample_widths
from sinew.core.control.bounds.environment import BoundsEnvironment, EpisodeConfig
from sinew.core.control.bounds.reference_trajectory import ReferenceTrajectory, make_reference_trajectory
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

from ....stock_clips import stock_clip


@pytest.fixture(scope="session")
def body() -> BodyModel:
    """The stock humanoid's."""
    clip = stock_clip("walk")
    return build_body(clip.skeleton, clip=clip)[0]


@pytest.fixture(scope="session")
def reference_of(body):
    """By the name of a stock clip its course."""

    @cache
    def made(name: str) -> ReferenceTrajectory:
        return make_reference_trajectory(body, stock_clip(name))

    return made


@pytest.fixture(scope="session")
def walk(reference_of) -> ReferenceTrajectory:
    return reference_of("walk")


@pytest.fixture(scope="session")
def world_of(body):
    """Worlds of one character in some copies, each compiled only once."""
    with ExitStack() as opened:

        @cache
        def compiled(copies: int):
            stage = Stage((Character(body),))
            return opened.enter_context(closing(engines.get_engine("mujoco").compile(stage, copies)))

        yield compiled


@pytest.fixture(scope="session")
def environment_of(body, reference_of, world_of):
    """Environments of a stock clip within a preset's bounds, or others."""

    def made(name="walk", copies=8, bounds: str | Bounds = "locomotion", seed=0, config=None, terms=()):
        reference = reference_of(name)
        chosen = bounds_of_preset(body, bounds) if isinstance(bounds, str) else bounds
        widths = sample_widths(chosen, reference, stock_clip(name))
        rng = np.random.default_rng(seed)
        return BoundsEnvironment(
            reference, widths, world_of(copies), rng, config=config or EpisodeConfig(), terms=terms
        )

    return made
