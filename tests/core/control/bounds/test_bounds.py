# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.bench.run import BenchRun
from sinew.core.control.bounds.bounds import (
    AXES,
    Bounds,
    attach_bounds,
    attach_keys,
    bound_names,
    bounds_of_preset,
    read_job_bounds,
    require_start_within,
    sample_widths,
)
from sinew.core.control.bounds.presets import bounds_preset, bounds_presets
from sinew.core.errors import BadSettings, BoundsError
from sinew.core.motion.io import stock


def off(bounds):
    """The bounds that are off at all times."""
    return tuple(name for name, width in zip(bounds.names, bounds.widths.min(axis=0), strict=True) if np.isinf(width))


def is_keyed(bounds):
    """Whether the widths change over time."""
    return bool(np.any(bounds.widths != bounds.widths[:1]))


def test_the_presets_have_the_papers_numbers(body):
    assert set(bounds_presets()) == {"loose", "tight", "cartwheel", "locomotion", "style_exploration"}
    loose = bounds_of_preset(body, "loose")
    by_name = dict(zip(loose.names, loose.widths[0], strict=True))
    assert [by_name[axis] for axis in AXES] == [0.2, 0.2, 0.2]
    assert by_name["root"] == by_name["joint thigh.L"] == 0.7
    assert by_name["effector foot.R"] == 0.5
    assert not off(loose)
    assert not is_keyed(loose)
    wheel = bounds_of_preset(body, "cartwheel")
    assert set(wheel.names) - set(off(wheel)) == {*AXES, "root"}
    style = bounds_of_preset(body, "style_exploration")
    assert set(style.names) - set(off(style)) == {*AXES, "root", "joint foot.L", "joint foot.R", "joint head"}
    assert np.all(bounds_of_preset(body, "tight").widths < loose.widths)


def test_unknown_bounds_are_refused_with_those_there_are():
    with pytest.raises(BadSettings, match="locomotion"):
        bounds_preset("narrow")


def test_a_bound_of_no_width_is_refused_by_name(body):
    loose = bounds_of_preset(body, "loose")
    for nothing in (0.0, -0.1, np.nan):
        widths = np.array(loose.widths)
        widths[0, 1] = nothing
        with pytest.raises(BoundsError, match=r"'com y'.*wider than zero"):
            Bounds(loose.names, widths)
    with pytest.raises(BoundsError, match="'root' is 0 wide at frame 7"):
        loose.with_keys("root", {0: 0.5, 7: 0.0, 10: 0.5}, 20)


def test_keys_outside_the_clip_are_refused(body):
    loose = bounds_of_preset(body, "loose")
    for keys in ({0: 0.5, 40: 0.2}, {-1: 0.5}, {}):
        with pytest.raises(BoundsError, match=r"'com x'.*frames 0 to 38"):
            loose.with_keys("com x", keys, 39)
    with pytest.raises(BoundsError, match="no bound 'com w'"):
        loose.with_keys("com w", {0: 0.5}, 39)


def test_keyed_widths_follow_the_clips_time(body, walk):
    clip = stock.load_stock("walk")
    keyed = bounds_of_preset(body, "loose").with_keys("com z", {10: 0.1, 20: 0.3}, len(clip))
    assert is_keyed(keyed)
    widths = sample_widths(keyed, walk, clip)
    assert widths.shape == (walk.steps + 1, len(keyed.names))
    column = keyed.names.index("com z")
    np.testing.assert_allclose(widths[[0, 10, 15, 20, 38], column], [0.1, 0.1, 0.2, 0.3, 0.3], atol=1e-3)
    assert (widths[:, 0] == 0.2).all()
    with pytest.raises(BoundsError, match="39 frames, and the clip"):
        sample_widths(keyed, walk, stock.load_stock("run"))


def test_a_bound_can_be_off_for_a_while(body, walk):
    clip = stock.load_stock("walk")
    widths = np.repeat(bounds_of_preset(body, "loose").widths, len(clip), axis=0)
    widths[10:20, 0] = np.inf
    found = sample_widths(Bounds(bound_names(body), widths), walk, clip)[:, 0]
    assert np.isinf(found[10:20]).all()
    assert np.isfinite(found[:9]).all()
    assert np.isfinite(found[21:]).all()


def test_bounds_travel_with_a_job_and_know_their_bones(body):
    given, clip = bounds_of_preset(body, "tight").without("joint head"), stock.load_stock("walk")
    attached = attach_bounds(given)
    found = read_job_bounds(BenchRun("mujoco", 0, attached), body, "loose", clip)
    np.testing.assert_array_equal(found.widths, given.widths)
    assert read_job_bounds(BenchRun("mujoco", 0, {}), body, "loose", clip).widths[0, 0] == 0.2
    arrays, meta = attached["bounds"]
    some = ({"widths": arrays["widths"][:, :4]}, {"names": meta["names"][:4]})
    assert set(off(read_job_bounds(BenchRun("mujoco", 0, {"bounds": some}), body, "loose", clip))) == set(
        given.names[4:]
    )


def test_keys_travel_with_a_job_on_top_of_a_preset(body):
    clip, attached = stock.load_stock("walk"), attach_keys({"com z": {0: 0.1, 38: 0.3}}, ["joint head"])
    found = read_job_bounds(BenchRun("mujoco", 0, attached), body, "loose", clip)
    assert is_keyed(found)
    assert off(found) == ("joint head",)
    np.testing.assert_allclose(found.widths[[0, 19, 38], found.names.index("com z")], [0.1, 0.2, 0.3])
    assert not attach_keys({})
    with pytest.raises(BoundsError, match="key at frame 99"):
        read_job_bounds(BenchRun("mujoco", 0, attach_keys({"root": {99: 0.1}})), body, "loose", clip)


def test_bounds_that_the_start_pose_is_not_within_are_refused(body, reference_of):
    # The clip cuts 7 cm into the floor, and is lifted to be simulated.
    run, clip = reference_of("run"), stock.load_stock("run")
    loose = bounds_of_preset(body, "loose")
    require_start_within(sample_widths(loose, run, clip), run, clip)
    narrow = loose.with_keys("com z", {0: 0.02}, len(clip))
    with pytest.raises(BoundsError, match="exclude the start pose: 'com z'"):
        require_start_within(sample_widths(narrow, run, clip), run, clip)
