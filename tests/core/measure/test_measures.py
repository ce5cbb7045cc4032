# SPDX-License-Identifier: GPL-3.0-or-later
"""All measures of a take at once: known motions, falls, what is not a number, and very short ones."""

import numpy as np
import pytest

from sinew.core.errors import BadMotion
from sinew.core.measure import TakeMeasures, measure_take
from sinew.core.sim.trace import Trace

from .figures_seen import DT_S, clip_of, figure, standing, trace_of, weighing

NAMES = """
    joint_error_m joint_error_max_m joint_error_global_m root_error_m root_error_max_m com_error_m com_error_max_m
    tip_error_m tip_error_max_m skate_m_s source_skate_m_s penetration_m penetration_max_m jerk_m_s3 jerk_ratio
    torque_use torque_use_max energy_j_kg
""".split()
BODY = figure("foot.L", "foot.R", "hand.L", "hand.R", "head")


def clips(moments=11):
    """A source at rest, and the take of it."""
    clip = clip_of(BODY, standing(BODY, moments)[0])
    return clip, clip


def fallen(moments=50, at=30, low=0.9):
    """Link places that keep up to a moment, and lie on the floor from then on."""
    pos, _ = standing(BODY, moments)
    pos[at:, :, 2] *= 1.0 - low
    return pos


def test_everything_has_a_name():
    trace = trace_of(BODY, contact_force=weighing(BODY, 11, "foot.L"))
    assert list(measure_take(trace, *clips()).to_mapping()) == NAMES


def test_a_take_like_its_source_is_perfect():
    found = measure_take(trace_of(BODY, contact_force=weighing(BODY, 11, "foot.L")), *clips()).to_mapping()
    assert found == pytest.approx(dict.fromkeys(NAMES, 0.0), abs=1e-9)


def test_a_shifted_take():
    pos = standing(BODY, 11)[0] + [0.0, 0.1, 0.0]
    found = measure_take(trace_of(BODY, pos), *clips())
    assert (found.joint_error_m, found.joint_error_max_m) == pytest.approx((0.0, 0.0), abs=1e-12)
    off = ("joint_error_global_m", "root_error_m", "root_error_max_m", "com_error_m", "com_error_max_m", "tip_error_m")
    assert [getattr(found, name) for name in off] == pytest.approx([0.1] * len(off))


def test_skate_is_of_the_take_and_of_the_source():
    pos, wanted = standing(BODY, 11)[0], standing(BODY, 11)[0]
    pos[:, 1, 0] += 0.03 * DT_S * np.arange(11)
    wanted[:, 1:3, 0] += 0.2 * DT_S * np.arange(11)[:, None]
    force = weighing(BODY, 11, "foot.L")
    found = measure_take(trace_of(BODY, pos, wanted_pos=wanted, contact_force=force), *clips())
    assert (found.skate_m_s, found.source_skate_m_s) == pytest.approx((0.03, 0.2))


def test_strength_and_energy():
    torque, rate = np.full((50, BODY.nu), 25.0), np.full((50, BODY.nu), 2.0)
    torque[0] = 100.0
    found = measure_take(trace_of(BODY, moments=50, torque=torque, rate=rate), *clips(50))
    assert found.torque_use_max == pytest.approx(1.0) and found.torque_use == pytest.approx((49 * 0.25 + 1.0) / 50)
    assert found.energy_j_kg == pytest.approx((49 * 25.0 + 100.0) * 2.0 * 0.02 * BODY.nu / BODY.mass)


def test_after_a_fall_nobody_follows_anything():
    pos = fallen()
    pos[:, 1, 0] += np.where(np.arange(50) < 30, 0.0, 1.0 * np.arange(50))
    pos[40, 0, 2] = -0.3  # what lies may sink in, and that counts
    found = measure_take(trace_of(BODY, pos, contact_force=weighing(BODY, 50, "foot.L")), *clips(50))
    assert (found.joint_error_max_m, found.root_error_max_m, found.tip_error_max_m) == pytest.approx((0.0, 0.0, 0.0))
    assert found.skate_m_s == pytest.approx(0.0)
    assert found.penetration_max_m == pytest.approx(0.4)


def test_who_turns_over_and_comes_back_was_lost_all_the_same():
    pos, quat = standing(BODY, 60)
    quat[20:40] = [0.0, 1.0, 0.0, 0.0]  # half a turn about X: no place changes
    found = measure_take(trace_of(BODY, pos, quat), *clips(60))
    assert (found.lost_at_s, found.lost_s) == pytest.approx((20 * DT_S, 20 * DT_S))
    assert "lost_s" in found.to_mapping() and "lost_at_s" not in found.to_mapping()


def test_jerk_ends_with_the_fall():
    rng = np.random.default_rng(0)
    rest = standing(BODY, 50)[0]
    wild = rest.copy()
    wild[30:] += 0.1 * rng.normal(size=wild[30:].shape)
    source, take = clip_of(BODY, rest), clip_of(BODY, wild)
    assert measure_take(trace_of(BODY, fallen()), source, take).jerk_m_s3 == pytest.approx(0.0, abs=1e-6)
    assert measure_take(trace_of(BODY, rest), source, take).jerk_m_s3 > 1000.0


def test_errors_of_capture_are_not_the_sources_jerk():
    pos = standing(BODY, 50)[0] + 0.2 * np.sin(0.1 * np.arange(50))[:, None, None]
    lost = pos.copy()
    lost[20:22] += 30.0
    take = clip_of(BODY, pos)
    whole, torn = (measure_take(trace_of(BODY, moments=50), clip_of(BODY, p), take) for p in (pos, lost))
    assert whole.jerk_ratio == pytest.approx(1.0)
    assert torn.jerk_ratio == pytest.approx(1.0) and torn.jerk_m_s3 == pytest.approx(whole.jerk_m_s3, rel=0.1)


@pytest.mark.filterwarnings("error")
def test_physics_that_blew_up_is_measured_up_to_there():
    pos, quat = standing(BODY, 20)
    force, torque = weighing(BODY, 20, "foot.L"), np.full((20, BODY.nu), 50.0)
    pos[:8] += [0.0, 0.05, 0.0]
    for array in (pos, quat, force, torque):
        array[8:] = np.nan
    found = measure_take(trace_of(BODY, pos, quat, contact_force=force, torque=torque), *clips(20)).to_mapping()
    assert set(found) == {*NAMES, "lost_s"} and np.isfinite(list(found.values())).all()
    assert (found["root_error_m"], found["torque_use"]) == pytest.approx((0.05, 0.5))


@pytest.mark.filterwarnings("error")
def test_what_was_never_a_number_has_no_measures():
    pos = np.full((20, len(BODY.links), 3), np.nan)
    assert measure_take(trace_of(BODY, pos), *clips(20)) == TakeMeasures(lost_at_s=0.0, lost_s=pytest.approx(20 * DT_S))


@pytest.mark.filterwarnings("error")
def test_a_fall_at_once_has_no_errors():
    found = measure_take(trace_of(BODY, fallen(20, 0)), *clips(20))
    assert (found.joint_error_m, found.skate_m_s, found.jerk_m_s3) == (None, None, None)
    assert found.energy_j_kg == 0.0


@pytest.mark.filterwarnings("error")
def test_one_moment_has_errors_and_no_speeds():
    pos = standing(BODY, 1)[0] + [0.1, 0.0, 0.0]
    found = measure_take(trace_of(BODY, pos, contact_force=weighing(BODY, 1, "foot.L")), *clips(1)).to_mapping()
    assert set(NAMES) - set(found) == {"skate_m_s", "source_skate_m_s", "jerk_m_s3", "jerk_ratio"}
    assert found["root_error_m"] == pytest.approx(0.1)


@pytest.mark.filterwarnings("error")
def test_a_body_of_one_part():
    body = figure()
    clip = clip_of(body, standing(body, 11)[0])
    found = measure_take(trace_of(body, standing(body, 11)[0] + [0.1, 0.0, 0.0]), clip, clip).to_mapping()
    assert {"root_error_m", "com_error_m", "jerk_m_s3", "energy_j_kg", "joint_error_global_m"} <= set(found)
    assert not {"joint_error_m", "tip_error_m", "skate_m_s", "torque_use"} & set(found)


def test_clips_alone():
    pos, _ = standing(BODY, 40)
    moved = pos + [0.0, 0.0, 0.2]
    moved[:, 5] += [0.3, 0.0, 0.0]
    found = measure_take(None, clip_of(BODY, pos), clip_of(BODY, moved)).to_mapping()
    assert (found["root_error_m"], found["joint_error_max_m"]) == pytest.approx((0.2, 0.3))
    assert found["joint_error_m"] == pytest.approx(0.3 / 5)
    assert not {"skate_m_s", "com_error_m", "torque_use", "penetration_m"} & set(found)


def test_clips_of_other_rates_and_lengths_are_compared_where_both_are():
    pos = standing(BODY, 101)[0]
    pos[:, :, 0] += np.linspace(0.0, 2.0, 101)[:, None]
    source = clip_of(BODY, pos, 100.0)
    take = source.frames(0, 51).resample(25.0)
    assert measure_take(None, source, take).joint_error_global_m == pytest.approx(0.0, abs=1e-9)


def test_riders_do_not_count_where_a_body_is_known():
    """A cape may flutter: only the bones that have a link are measured."""
    body = figure("head")
    rng = np.random.default_rng(0)
    pos = standing(BODY, 30)[0]
    wild = pos.copy()
    cape = [i for i, name in enumerate(BODY.skeleton.names) if name not in ("pelvis", "head")]
    wild[:, cape] += rng.normal(size=(30, len(cape), 3))
    found = measure_take(trace_of(body, moments=30), clip_of(BODY, pos), clip_of(BODY, wild))
    assert found.jerk_m_s3 == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("fps", [0.0, np.nan])
def test_a_trace_without_a_rate_is_refused(fps):
    trace = trace_of(BODY)
    values = {name: value for name, value in vars(trace).items() if name != "fps"}
    with pytest.raises(BadMotion, match="moments a second"):
        Trace(**values, fps=fps)


@pytest.mark.parametrize("name", ["seen_pos", "wanted_quat_wxyz", "seen_com", "torque", "contact_force"])
def test_a_trace_of_another_body_is_refused(name):
    trace = trace_of(BODY)
    values = dict(vars(trace))
    values[name] = values[name][:-1]
    with pytest.raises(BadMotion, match=name):
        Trace(**values)


def test_a_trace_is_frozen_and_says_how_long_it_is():
    trace = trace_of(BODY, moments=7)
    assert (len(trace), trace.dt_s) == (7, DT_S)
    with pytest.raises(ValueError, match="read-only"):
        trace.seen_pos[0] = 1.0
    with pytest.raises(BadMotion, match="no moments"):
        trace_of(BODY, moments=0)
