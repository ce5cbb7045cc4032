# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines against each other and against themselves at a finer step, on a real body."""

import json

import pytest

from sinew.bench import engines as bench_engines
from sinew.core.sim import engines

from ...engines_here import HAS_BULLET, needs_bullet


@pytest.fixture(scope="module")
def body():
    return bench_engines.mannequin()


@pytest.fixture(scope="module")
def agreement(body):
    names = ("mujoco", "bullet") if HAS_BULLET else ("mujoco",)
    return bench_engines.agreement({name: engines.get_engine(name) for name in names}, body)


def test_mujoco_is_near_its_own_limit_at_120_hz(agreement):
    """Dropped and pushed, no link is further than 1 cm from where eight times as many steps put it."""
    apart = agreement["mujoco_with_itself_at_960_hz"]
    assert apart["worst_m"] < 0.01 and apart["worst_rad"] < 0.01
    heights = agreement["mujoco_com_height_m"]
    assert heights[0] - heights[2] == pytest.approx(0.1, abs=0.02), "it did not land on its feet, or fell"


@needs_bullet
def test_engines_move_the_mannequin_alike(agreement):
    """With fine steps the same motion within 5 mm on average; at 120 Hz within what Bullet's own steps cost it."""
    fine, coarse = (agreement[f"mujoco_with_bullet_at_{hz}_hz"] for hz in (960, 120))
    assert fine["mean_m"] < 0.005 and fine["worst_m"] < 0.02
    assert coarse["mean_m"] < 0.03 and coarse["worst_m"] < 0.15


def test_the_benchmark_gives_json():
    figures = bench_engines.measure(("mujoco", "havok"), copies=2, repeats=1)
    assert json.loads(json.dumps(figures)) == figures
    assert "havok" in figures["missing"] and list(figures["speed"]) == ["mujoco"]
    assert figures["speed"]["mujoco"]["copies_in_contact"] == 2
    assert figures["body"]["degrees_of_freedom"] >= 34
