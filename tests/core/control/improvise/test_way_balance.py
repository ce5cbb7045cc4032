# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways of moving: what is alike is one, and what is shown too seldom is worth more and is looked up sooner."""

import numpy as np
import pytest

from directed_walks import make_walks
from sinew.core.control.improvise.body_states import StateReader
from sinew.core.control.improvise.stream_matching import (
    StreamMatcher,
    describe_stream_frames,
    group_ways,
    match_features,
)
from sinew.core.control.improvise.variety import sample_known_motion
from sinew.core.control.improvise.way_balance import WayBalance
from sinew.core.control.matching.directing import Directing
from sinew.core.control.tracking_policy.matching_streams import make_clip_streams, streamed_clips


@pytest.fixture(scope="module")
def library():
    return make_walks()


@pytest.fixture(scope="module")
def streams(library):
    directing = Directing(library[1], library[0])
    return make_clip_streams(directing, library[1], np.arange(len(library[0])))


def test_the_same_again_is_shown_too_much_and_what_nobody_does_is_lacking(library, streams):
    reader = StateReader(library[1])
    clips = streamed_clips(Directing(library[1], library[0]), np.arange(len(library[0])))
    known = sample_known_motion(streams, clips, library[0], reader)
    balance = WayBalance(known)
    assert balance.wanted.sum() == pytest.approx(1.0) and len(balance.wanted) > 8
    still = int(np.linalg.norm(streams.qvel, axis=1).argmin())
    stands = describe_stream_frames(streams, reader, np.full(16, still))
    walks = describe_stream_frames(streams, reader, np.arange(16) * 10)
    first = balance.judge(stands)[1]
    for _ in range(600):
        like, lacking = balance.judge(stands)
    assert like.min() > 0.9 and lacking.max() == -1.0 < first.min()
    like, lacking = balance.judge(walks)
    assert like.min() > 0.8 and lacking.max() == 1.0
    far = stands + 3.0
    assert balance.judge(far)[0].max() < 0.01


def test_frames_that_lead_to_what_is_lacking_are_found_sooner(library, streams):
    matcher = StreamMatcher(streams, StateReader(library[1]))
    rows = describe_stream_frames(streams, StateReader(library[1]), matcher.frames[::4])
    rows = rows + 0.1 * np.random.default_rng(0).standard_normal(rows.shape, dtype=np.float32)
    plain = matcher.find(rows, np.random.default_rng(1))
    way = int(matcher.wanted.argmax())
    shown = matcher.wanted.copy()
    shown[way] *= 1e-3
    led = matcher.find(rows, np.random.default_rng(1), shown)
    assert matcher.shares(plain).sum() == pytest.approx(1.0)
    leads = matcher._leads_to[np.searchsorted(matcher.frames, np.stack([plain, led]))] == way
    assert leads[1].sum() > leads[0].sum()


def test_moving_and_standing_in_the_same_pose_are_two_ways(streams, library):
    rows = describe_stream_frames(streams, StateReader(library[1]), np.arange(0, 40, 10))
    moves = rows.reshape(len(rows), -1, 15).copy()
    moves[:, :, 9] += 2.0
    both = match_features(np.concatenate([rows, moves.reshape(rows.shape)]))
    ways = group_ways(np.repeat(both, 5, axis=0))
    assert not set(ways[:20]) & set(ways[20:])


def test_styles_are_told_of_the_clips_that_they_are(library, streams):
    clips = streamed_clips(Directing(library[1], library[0]), np.arange(len(library[0])))
    known = sample_known_motion(streams, clips, library[0], StateReader(library[1]))
    frames = np.linspace(0, len(streams) - 1, len(known.style)).astype(np.int64)
    stands = np.array(known.styles)[known.style] == "stand"
    assert stands.any() and len(clips) == len(streams.starts) - 1
    assert np.linalg.norm(streams.qvel[frames[stands]], axis=1).max() < 1.0
