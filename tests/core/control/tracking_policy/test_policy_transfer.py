# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy for another body: on its own it is the same, and on another one it sees and does the same in the world."""

from dataclasses import replace

import numpy as np
import pytest

from directed_walks import make_walks
from sinew.core.body import build_body
from sinew.core.body.poses import link_transforms
from sinew.core.body.role_retargeting import transfer_by_roles
from sinew.core.control.tracking_policy.environment import find_acting
from sinew.core.control.tracking_policy.observations import (
    StreamFeatures,
    TrackingState,
    find_tracked_links,
    list_observation_parts,
)
from sinew.core.control.tracking_policy.policy_transfer import match_links, transfer_policy
from sinew.core.control.tracking_policy.reference_streams import make_streams
from sinew.core.errors import BadSettings
from sinew.core.geometry.quaternions import rotate
from sinew.core.learn.normaliser import Normaliser, RunningStatistics
from sinew.core.learn.policy import Policy

from ...body.figures import person, turned


@pytest.fixture(scope="module")
def walks():
    library, body = make_walks()
    return body, [library.clip(index) for index in range(2)]


def make_policy(body, clips):
    """Nobody's policy, that does something, and has seen clips followed."""
    rng, acting = np.random.default_rng(0), find_acting(body)
    size = sum(part for parts in list_observation_parts(body, acting) for _, part in parts)
    layers = [
        (rng.standard_normal((a, b)) * 0.2, rng.standard_normal(a) * 0.1) for a, b in ((16, size), (len(acting), 16))
    ]
    layers = tuple(tuple(array.astype(np.float32) for array in layer) for layer in layers)
    statistics = RunningStatistics.from_rows(observe(body, clips))
    return Policy(Normaliser(statistics), layers, "elu", 0.3, np.full(len(acting), 0.2, np.float32))


def observe(body, clips, nudge=0.0):
    """(F, O) what is seen of a body on clips. nudge: radians that its thighs are turned forward from them."""
    streams = make_streams(body, clips, [np.zeros((len(clip), 2), dtype=bool) for clip in clips])
    features = StreamFeatures(streams, find_acting(body))
    arrays = (streams.qpos, streams.qvel, streams.link_pos, streams.com, streams.com_velocity)
    state = TrackingState(streams, features, np.arange(len(streams)), *(array.astype(float) for array in arrays))
    return state.observations(np.zeros((len(streams), len(find_acting(body)))))


def test_on_its_own_body_it_is_the_same(walks):
    body, clips = walks
    policy = make_policy(body, clips)
    same = transfer_policy(policy, body, body, clips)
    seen = observe(body, clips)
    np.testing.assert_allclose(same(seen), policy(seen), atol=1e-5)
    np.testing.assert_allclose(same.noise, policy.noise, atol=1e-6)


@pytest.mark.parametrize("skeleton", [person(), turned(person(), 70.0)], ids=["person", "turned"])
def test_on_another_skeleton_it_turns_the_same_parts_the_same_way(walks, skeleton):
    body, clips = walks
    other = build_body(skeleton)[0]
    policy = make_policy(body, clips)
    moved = [transfer_by_roles(body, clip, other) for clip in clips]
    brought = transfer_policy(policy, body, other, clips)
    here, there = policy(observe(body, clips)), brought(observe(other, moved))
    links, ways = match_links(body, other), []
    for its, actions in ((body, here), (other, there)):
        link = next(i for i, one in enumerate(its.links) if (one.role, one.side) == ("thigh", "L"))
        offsets = np.zeros((len(actions), its.nu))
        offsets[:, find_acting(its)] = actions
        start = its.qvel_starts[link] - 6
        streams = make_streams(its, clips if its is body else moved, [np.zeros((len(c), 2), bool) for c in clips])
        rotation = link_transforms(its, streams.qpos.astype(float))[1][:, link]
        ways.append(rotate(rotation, offsets[:, start : start + 3]))
    assert links[0] == 0 and (links[1:] > 0).any()
    wide = np.linalg.norm(ways[0], axis=-1).mean()
    assert np.linalg.norm(ways[0] - ways[1], axis=-1).mean() < 0.25 * wide


def test_what_only_one_has_changes_nothing(walks):
    body, clips = walks
    policy = make_policy(body, clips)
    acting, tracked = find_acting(body), find_tracked_links(body)
    # A body one of whose forearms is called something else: nobody sees it, and the rest goes on.
    index = next(int(i) for i in tracked if body.links[i].role == "forearm")
    other = replace(
        body, links=tuple(replace(link, role="tail") if i == index else link for i, link in enumerate(body.links))
    )
    brought = transfer_policy(policy, body, other, clips)
    assert brought.action_size == len(find_acting(other)) and len(acting) <= brought.action_size
    assert np.isfinite(brought(observe(other, clips))).all()
    assert match_links(body, other)[index] == -1


def test_a_policy_of_no_such_body_is_refused(walks):
    body, clips = walks
    policy = make_policy(body, clips)
    other = build_body(person())[0]
    smaller = replace(policy, layers=((policy.layers[0][0][:, 1:], policy.layers[0][1]), policy.layers[1]))
    with pytest.raises(BadSettings, match="does not fit the body"):
        transfer_policy(smaller, body, other, clips)
