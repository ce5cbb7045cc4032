# SPDX-License-Identifier: GPL-3.0-or-later
"""Each character of a stage has a strength of its own."""

import numpy as np
import pytest

from . import bodies
from .playing import begin, play, stage_of

BODY = bodies.humanoid()
STEPS = 30  # of 4 physics steps: 1 s


def standing(x=0.0):
    pose = bodies.rest_pose(BODY)
    pose[0] += x
    return pose


def heights(rows):
    """(N, K, C) of the pelvis of each character in metres."""
    return rows.link_pos[:, :, :: len(BODY.links), 2]


def strengths(*rows):
    """(N, STEPS, C) from one row of factors for each copy."""
    return np.repeat(np.array(rows, dtype=float)[:, None], STEPS, axis=1)


def test_one_goes_limp_and_the_other_stands_as_if_alone(compiled):
    """In the copies the first, the second and nobody is limp; whoever is not stays within 1 mm of one who is alone."""
    world, alone = compiled(stage_of(BODY, BODY), 3), compiled(stage_of(BODY))
    factors = strengths((0.0, 1.0), (1.0, 0.0), (1.0, 1.0))
    _, rows = play(world, begin(world, standing(), standing(2.5)), 1.0, muscle=factors)
    _, lonely = play(alone, begin(alone, standing()), 1.0)
    for copy, character in np.ndindex(3, 2):
        if factors[copy, 0, character]:
            own = rows.link_pos[copy, :, character * len(BODY.links) : (character + 1) * len(BODY.links)]
            expected = lonely.link_pos[0] + [2.5 * character, 0.0, 0.0]
            np.testing.assert_allclose(own, expected, atol=0.001)
        else:
            assert heights(rows)[copy, -1, character] < 0.6 * heights(rows)[copy, 0, character], "the limp one stands"


def test_limp_ones_do_not_care_who_stands_beside_them(compiled):
    """Who is limp beside somebody strong sinks as one does whose whole stage is limp."""
    world = compiled(stage_of(BODY, BODY), 2)
    _, rows = play(
        world, begin(world, standing(), standing(2.5)), 0.5, muscle=strengths((0.0, 1.0), (0.0, 0.0))[:, : STEPS // 2]
    )
    np.testing.assert_allclose(heights(rows)[0, :, 0], heights(rows)[1, :, 0], atol=0.005)


def test_equal_factors_are_one_for_all_bit_for_bit(compiled):
    """(N, K) is (N, K, C) with equal factors, where they change in time too; ones are None."""
    world = compiled(stage_of(BODY, bodies.chain(4, 30.0, 3.0, 20.0)), 2)
    states = begin(world, standing(), bodies.rest_pose(bodies.chain(4), (2.0, 0.0, 0.5)))
    rng = np.random.default_rng(0)
    targets = 0.1 * rng.normal(size=(2, 12, BODY.nu + 7))
    factors = np.repeat(rng.uniform(size=(2, 3)), 4, axis=1)
    for shared in (factors, np.ones((2, 12))):
        each = np.repeat(shared[..., None], 2, axis=-1)
        found, rows = world.rollout(states, targets, substeps=2, muscle=each)
        same, same_rows = world.rollout(states, targets, substeps=2, muscle=shared)
        np.testing.assert_array_equal(found, same)
        for name, values in vars(rows).items():
            np.testing.assert_array_equal(values, getattr(same_rows, name), err_msg=name)
    np.testing.assert_array_equal(found, world.rollout(states, targets, substeps=2)[0])


def test_strength_comes_and_goes_for_each_alone(compiled):
    """What one rollout does with factors that change, character by character, two do with those of their parts."""
    world = compiled(stage_of(BODY, BODY))
    states, targets = begin(world, standing(), standing(2.5)), np.zeros((1, 12, 2 * BODY.nu))
    factors = np.ones((1, 12, 2))
    factors[:, 6:, 0], factors[:, :6, 1] = 0.2, 0.5
    whole, _ = world.rollout(states, targets, substeps=4, muscle=factors)
    first, _ = world.rollout(states, targets[:, :6], substeps=4, muscle=factors[:, :6])
    second, _ = world.rollout(first[:, -1], targets[:, 6:], substeps=4, muscle=factors[:, 6:])
    np.testing.assert_array_equal(whole, np.concatenate([first, second], axis=1))
    assert not np.array_equal(whole, world.rollout(states, targets, substeps=4, muscle=factors[..., ::-1])[0])


def test_a_wrong_number_of_factors_is_refused(compiled):
    world = compiled(stage_of(BODY, BODY))
    with pytest.raises(ValueError, match=r"muscle has the shape .* \(copies, steps, 2\)"):
        play(world, begin(world, standing(), standing(2.5)), 1.0, muscle=np.ones((1, STEPS, 3)))
