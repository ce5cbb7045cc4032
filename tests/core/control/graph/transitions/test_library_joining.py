# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries joined by a motion graph: ways from clip to clip, without jumps, as loosely as is asked for."""

import numpy as np
import pytest

from directed_walks import make_stored_walks
from sinew.core.control.graph.transitions.library_joining import Join, choose_joins, join_library
from sinew.core.control.tracking.library_files import store_library, stored_library_from_content
from sinew.core.errors import BadMotion, BadSettings
from sinew.core.geometry.quaternions import angle_between


@pytest.fixture(scope="module")
def stored():
    return make_stored_walks(("straight", "arc -1", "arc +1"))


@pytest.fixture(scope="module")
def joined(stored):
    return join_library(stored, 0.5)


def test_from_every_clip_a_way_leads_to_every_other_and_is_kept(stored, joined):
    ways = {(join.source, join.target) for join in joined.joins}
    assert {source for source, _ in ways} == {target for _, target in ways} == {0, 1, 2}
    assert len(joined.stored.clips) == 3 + len(joined.joins) and joined.widest_m <= 0.5
    back = stored_library_from_content(*store_library(joined.stored), "it")
    assert [clip.name for clip in back.clips] == [clip.name for clip in joined.stored.clips]


def test_a_way_begins_as_the_one_clip_ends_as_the_other_and_does_not_jump(stored, joined):
    library = joined.stored.library
    plain = library.clip(0)
    most = angle_between(plain.local_quat_wxyz[1:], plain.local_quat_wxyz[:-1]).max()
    for number, join in enumerate(joined.joins, start=3):
        clip, source = joined.stored.clips[number], joined.stored.clips[join.source]
        target = joined.stored.clips[join.target]
        quat = clip.local_quat_wxyz.astype(float)
        begins = min(60, join.leave)
        own = slice(join.leave - begins, join.leave)
        off = angle_between(quat[:begins, 1:], source.local_quat_wxyz[own, 1:].astype(float))
        assert off.max() < 0.02
        after = join.enter + len(clip) - begins
        wanted = target.local_quat_wxyz[after - 24 : after].astype(float)
        assert angle_between(quat[-24:], wanted).max() < 0.02
        assert angle_between(quat[1:], quat[:-1]).max() < 1.5 * most
        steps = np.linalg.norm(np.diff(clip.local_pos[:, 0], axis=0), axis=1)
        assert steps.max() < 0.05  # 3 m/s


def test_what_is_too_far_apart_is_told_with_how_near_it_is(stored):
    with pytest.raises(BadMotion, match=r"No way leads from .* within 1e-06 m") as error:
        join_library(stored, 1e-6)
    needed = float(error.value.hint.split()[2])
    assert 0.0 < needed < 0.5
    with pytest.raises(BadSettings, match="cannot be joined"):
        join_library(stored, 0.0)
    with pytest.raises(BadMotion, match="One clip alone"):
        join_library(make_stored_walks(("straight",)))


def test_what_connects_is_kept_however_many_are_nearer():
    near = [Join(0, 60, target, 0, 0.1 + 0.01 * target) for target in (1, 2, 3)]
    home = [Join(source, 60, 0, 0, 0.2) for source in (1, 2, 3)]
    found = choose_joins([*near, *home, Join(1, 60, 2, 0, 0.3)], 4, 0.5, "abcd")
    assert {(one.source, one.target) for one in found} >= {(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)}
    with pytest.raises(BadMotion, match="No way leads from 'a' to 'd'"):
        choose_joins([*near[:2], *home], 4, 0.5, "abcd")
