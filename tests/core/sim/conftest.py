# SPDX-License-Identifier: GPL-3.0-or-later
"""Every test that asks for ``engine`` or ``compiled`` runs on each engine that is installed."""

from collections.abc import Callable

import pytest

from sinew.core.sim.engine import Engine, World
from sinew.core.sim.engines import ENGINES
from sinew.core.sim.stage import Stage

from ...engines_here import engine_here


@pytest.fixture(params=list(ENGINES))
def engine(request) -> Engine:
    return engine_here(request.param)


@pytest.fixture
def compiled(engine: Engine):
    """``compiled(stage, copies=1, ...)`` gives a world that is closed after the test."""
    worlds: list[World] = []

    def build(stage: Stage, copies: int = 1, **options) -> World:
        worlds.append(engine.compile(stage, copies, **options))
        return worlds[-1]

    yield build
    for world in worlds:
        world.close()


Compiled = Callable[..., World]
