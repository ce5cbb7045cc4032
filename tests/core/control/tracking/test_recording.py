# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes of real motion: their feet stand where physics carries them, and what is measured is what is handed over."""

import numpy as np
import pytest

from sinew.core.body import foot_skate
from sinew.core.control.tracking import recording as film_module
from sinew.core.measure import ground_contact
from sinew.core.measure.position_errors import root_relative_distances
from sinew.core.motion import Clip
from sinew.core.sim.stage import Terrain
from sinew.core.sim.stage_parts import PushPart, StageParts

from ....stock_clips import stock_clip
from ..sampling.people import simulated

FPS = 60.0
LEGS = ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R")


@pytest.fixture
def holdings(monkeypatch):
    """What physics had and what was made of it, clip by clip, in the cast's order."""
    seen = []
    original = film_module.lock_feet

    def lock_feet(body, clip, stands, ground=None, until=None):
        seen.append((clip, *original(body, clip, stands, ground, until)))
        return seen[-1][1:]

    monkeypatch.setattr(film_module, "lock_feet", lock_feet)
    return seen


@pytest.fixture
def finished(monkeypatch):
    """The clips at the control rate that takes are made of, in the cast's order."""
    seen = []
    original = film_module.copy_footprints

    def copy_footprints(*given):
        seen.append(original(*given))
        return seen[-1]

    monkeypatch.setattr(film_module, "copy_footprints", copy_footprints)
    return seen


@pytest.fixture
def unfiltered(monkeypatch):
    """The clips at the control rate as physics had them, in the cast's order."""
    seen = []
    original = film_module._moved_along

    def moved_along(body, before, *more):
        seen.append(before)
        return original(body, before, *more)

    monkeypatch.setattr(film_module, "_moved_along", moved_along)
    return seen


def links_of(body, clip):
    """The links' frames in a clip: (T, L, 3) metres and (T, L, 4)."""
    pos, quat = clip.world()
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    return pos[:, bones], quat[:, bones]


def skate(trace, clip):
    pos, quat = links_of(trace.body, clip)
    return foot_skate.foot_skate_by_force(
        trace.body, pos, quat, trace.contact_force, 1.0 / FPS, ground_contact.height_under(trace.stage.terrain)
    )


def error(trace, clip):
    return root_relative_distances(trace.wanted_pos, links_of(trace.body, clip)[0]).mean()


def test_a_walk_stands_still_and_is_as_near_to_its_source_as_before(monkeypatch, holdings, finished, unfiltered):
    take, run = simulated(monkeypatch, stock_clip("walk", 0, 38))
    (trace,), ((steady, standing, report),), (clip,), (physics,) = run.traces, holdings, finished, unfiltered
    assert take.fell_at_s is None and report.touched
    assert skate(trace, clip) < 0.02 and skate(trace, clip) < 0.5 * skate(trace, physics)
    assert abs(error(trace, clip) - error(trace, physics)) < 1e-3
    assert report.most < 0.045
    assert ("held", report.message) in run.findings
    # The animator gets the clip that is measured.
    assert np.array_equal(take.motion.local_quat_wxyz, clip.resample(take.motion.fps).local_quat_wxyz)
    pos, quat = links_of(trace.body, clip)
    np.testing.assert_allclose(trace.seen_pos, pos, atol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(trace.seen_quat_wxyz * quat, axis=-1)), 1.0, atol=1e-9)
    # Holding leaves all above the legs as it was, and what else is done to it takes out tremble alone.
    others = [bone for bone, name in enumerate(clip.skeleton.names) if name not in LEGS]
    assert np.array_equal(standing.local_quat_wxyz[:, others], steady.local_quat_wxyz[:, others])
    assert np.array_equal(standing.local_pos, steady.local_pos)
    above = [index for index, link in enumerate(trace.body.links) if link.bone not in LEGS]
    apart = np.linalg.norm((pos - links_of(trace.body, physics)[0])[:, above], axis=-1)
    assert 1e-4 < apart.max() < 0.01
    jerks = [np.abs(np.diff(links_of(trace.body, one)[0][:, above], 3, axis=0)).mean() for one in (clip, physics)]
    assert jerks[0] < 0.8 * jerks[1]


def test_links_of_a_source_that_stretches_are_moved_by_what_their_feet_are_moved_by(monkeypatch, holdings):
    """Bones are then not where the links are, and what is measured is still the body."""
    walk = stock_clip("walk", 0, 12)
    pos = np.array(walk.local_pos)
    pos[:, walk.skeleton.index("shin.L")] *= 1.0 + 0.02 * np.sin(np.arange(len(walk)))[:, None]
    _, run = simulated(monkeypatch, Clip(walk.skeleton, walk.fps, pos, walk.local_quat_wxyz, walk.name))
    (trace,), ((physics, clip, report),) = run.traces, holdings
    before, after = (links_of(trace.body, one)[0] for one in (physics, clip))
    apart = np.linalg.norm(trace.seen_pos - after, axis=-1)
    assert report.touched and apart.max() > 2e-3
    shin = next(link.joint.pos for link in trace.body.links if link.bone == "shin.L")
    there = np.linalg.norm(np.diff(trace.seen_pos[:, _pair(trace.body, "thigh.L", "shin.L")], axis=1)[:, 0], axis=-1)
    np.testing.assert_allclose(there, np.linalg.norm(shin), atol=2e-3)
    unmoved = np.all(before == after, axis=-1)
    assert unmoved.any() and not unmoved.all()


def _pair(body, *bones):
    return [next(i for i, link in enumerate(body.links) if link.bone == bone) for bone in bones]


def test_feet_are_held_on_a_slope(monkeypatch, holdings):
    grid = np.arange(-6.0, 6.01, 0.1)
    x, y = np.meshgrid(grid, grid)
    hill = Terrain(0.05 * x + 0.03 * np.sin(2.0 * y), 0.1, grid[[0, 0]])
    take, run = simulated(monkeypatch, stock_clip("walk", 0, 24), parts=StageParts(("Hero",), terrain=hill))
    (trace,), ((physics, clip, _),) = run.traces, holdings
    assert take.fell_at_s is None
    assert skate(trace, clip) < 0.03 and skate(trace, clip) < 0.6 * skate(trace, physics)
    depths = [
        ground_contact.penetration(trace.body, *links_of(trace.body, one), trace.contact_force, hill)[0]
        for one in (physics, clip)
    ]
    assert depths[1] < depths[0] + 5e-4


def test_everybody_on_the_stage_is_held_by_name(monkeypatch, holdings, finished):
    clip = stock_clip("walk", 0, 14)
    pos = np.array(clip.local_pos)
    pos[:, 0, 0] += 3.0
    other = Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz, clip.name)
    take, run = simulated(monkeypatch, clip, others=[("Anna", other)], parts=StageParts(("Hero", "Anna")))
    assert len(holdings) == 2 and all(report.touched for *_, report in holdings)
    for one, clip60 in zip((take, take.others[0]), finished, strict=True):
        assert np.array_equal(one.motion.local_quat_wxyz, clip60.resample(one.motion.fps).local_quat_wxyz)
    told = [message for kind, message in run.findings if kind == "held"]
    assert [message.startswith("Anna: ") for message in told] == [False, True]


def test_who_is_shoved_on_ice_goes_on_sliding(monkeypatch, holdings):
    push = PushPart("Push", "Hero", "pelvis", np.array([500.0, 0.0, 0.0]), 0.2, 0.2)
    stand = stock_clip("walk", 0, 1)
    still = Clip(
        stand.skeleton, 30.0, np.repeat(stand.local_pos, 30, axis=0), np.repeat(stand.local_quat_wxyz, 30, axis=0)
    )
    _, run = simulated(monkeypatch, still, parts=StageParts(("Hero",), pushes=(push,), friction=0.05))
    (trace,), ((physics, clip, _),) = run.traces, holdings
    feet = foot_skate.sole_links(trace.body)
    before, after = (links_of(trace.body, one)[0][:, feet, 0] for one in (physics, clip))
    assert np.ptp(before, axis=0).max() > 0.3
    assert np.abs(after - before).max() < 0.045
    assert np.ptp(after, axis=0).max() > 0.9 * np.ptp(before, axis=0).max()


def test_who_never_stands_is_not_held(monkeypatch, holdings):
    """In the air: no ground, no stance, and only tremble to take out."""
    take, run = simulated(monkeypatch, stock_clip("walk", 0, 8), parts=StageParts(("Hero",), ground=False))
    (trace,), ((physics, clip, report),) = run.traces, holdings
    assert clip is physics and not report.touched
    apart = np.linalg.norm(take.motion.world()[0] - physics.resample(take.motion.fps).world()[0], axis=-1)
    assert apart.max() < 0.01
    assert "held" not in [kind for kind, _ in run.findings]
    assert np.isfinite(trace.seen_pos).all()
