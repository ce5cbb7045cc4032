# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills of the stock clips, and the body that they are for."""

from functools import cache

import pytest

from sinew.core.body import BodyModel, build_body
from sinew.core.control.graph.motion_graph import Skill, guessed_gait, guessed_kind
from sinew.core.motion.io import stock


@cache
def skill_of(name: str) -> Skill:
    """A stock clip as the skill that it is guessed to be."""
    clip = stock.load(name)
    return Skill(name, clip, guessed_kind(clip), guessed_gait(clip))


@pytest.fixture(scope="session")
def stock_skill():
    """By the name of a stock clip its skill."""
    return skill_of


@pytest.fixture(scope="session")
def body() -> BodyModel:
    """The stock humanoid's body."""
    clip = stock.load("walk")
    return build_body(clip.skeleton, clip=clip)[0]
