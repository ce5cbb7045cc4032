# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of servos: the clip's targets and the fragment's offsets, which ease in instead of jumping."""

import numpy as np
import pytest

from sinew.core.control.tracking.reference import FRAGMENT_STEPS

from ..sampling.toys import tracking_error_of, waving, world_of


@pytest.fixture(scope="module")
def reference():
    world = world_of(4)
    yield tracking_error_of(world, waving(0.7)).reference
    world.close()


def test_offsets_come_half_way_in_the_first_step_and_all_the_way_in_the_next(reference):
    before = np.array([[0.0, 0.1, -0.2, 0.3], [0.0, 0.0, 0.0, 0.0]])
    offsets = np.array([[0.4, 0.1, 0.2, -0.1], [0.0, 1.0, -1.0, 0.5]])
    fragments = np.array([2, 5])
    asked = reference.servo_targets(fragments, before, offsets)
    assert asked.shape == (2, FRAGMENT_STEPS, 4)
    for row, fragment in enumerate(fragments):
        added = asked[row] - reference.targets[reference.frames_of(int(fragment))]
        np.testing.assert_allclose(added[0], 0.5 * (before + offsets)[row], atol=1e-12)
        np.testing.assert_allclose(added[1:], np.tile(offsets[row], (FRAGMENT_STEPS - 1, 1)), atol=1e-12)


def test_offsets_that_stay_change_nothing_from_fragment_to_fragment(reference):
    offsets = np.tile([0.2, -0.1, 0.4, 0.0], (3, 1))
    asked = reference.servo_targets(np.arange(3), offsets, offsets)
    added = asked - reference.targets[reference.frames_of_many(np.arange(3))]
    assert np.abs(added - offsets[:, None]).max() < 1e-12


def test_no_step_of_what_is_asked_is_more_than_half_of_what_offsets_change(reference):
    """Over fragments that follow each other, besides what the clip asks."""
    rng = np.random.default_rng(0)
    offsets = rng.normal(size=(6, 4))
    before = np.concatenate([np.zeros((1, 4)), offsets[:-1]])
    added = (
        reference.servo_targets(np.arange(6), before, offsets)
        - reference.targets[reference.frames_of_many(np.arange(6))]
    )
    steps = np.abs(np.diff(np.concatenate([np.zeros((1, 4)), added.reshape(-1, 4)]), axis=0))
    assert (steps.reshape(6, FRAGMENT_STEPS, 4) <= 0.5 * np.abs(offsets - before)[:, None] + 1e-12).all()


def test_beyond_the_clip_s_end_its_last_targets_are_held(reference):
    last = reference.fragments - 1
    zero = np.zeros((1, 4))
    asked = reference.servo_targets(np.array([last + 3]), zero, zero)
    np.testing.assert_array_equal(asked[0], np.tile(reference.targets[-1], (FRAGMENT_STEPS, 1)))
