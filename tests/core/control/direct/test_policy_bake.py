# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes by a trained policy through a job and a worker, and what becomes of one that loses its feet."""

import numpy as np
import pytest

from directed_policies import make_constant_controller
from directed_walks import make_stored_walks
from sinew.core import jobs
from sinew.core.control.direct.train_method import store_director
from sinew.core.control.matching.wish import WISH, Wish
from sinew.core.control.tracking_policy.learned_file import DIRECTED
from sinew.core.control.tracking_policy.reference_streams import make_streams
from sinew.core.motion import Clip


@pytest.fixture(scope="module")
def stored():
    return make_stored_walks()


def director_of(stored, offset):
    """A library with a policy that asks for the same offset of all joints, whatever it sees."""
    body, clip = stored.body, stored.library.clip(0)
    streams = make_streams(body, [clip], [np.zeros((len(clip), 2), bool)])
    about = {"seconds": 60.0, "falls_per_minute": 1.0}
    return store_director(stored, make_constant_controller(streams, offset, about))


def bake(content, seconds=1.0, **settings):
    """The job of a walk along +X, ended."""
    first = DIRECTED.from_content(content, "x").library.clip(0)
    still = (np.repeat(array[:1], 2, axis=0) for array in (first.local_pos, first.local_quat_wxyz))
    wish = Wish(np.full(round(60 * seconds) + 1, 1.05), np.array([(0.0, 0.0), (9.0, 0.0)]), styles=(("walk",),))
    attachments = {DIRECTED.attachment: content, WISH: wish.to_arrays()}
    job = jobs.create(
        Clip(first.skeleton, 30.0, *still, "walker"), method="direct_bake", settings=settings, attachments=attachments
    )
    return job, jobs.wait(job, jobs.launch(job))


def test_a_policy_that_keeps_its_feet_makes_the_take(stored):
    job, status = bake(director_of(stored, 0.0), 0.6)
    assert status.state == "done"
    result = job.result()
    assert result.take.own_clock and len(result.take.motion) == 19 and result.take.fell_at_s is None
    assert not [one for one in result.report["findings"] if one["kind"] == "policy"]
    assert result.report["measurements"]["joint_error_m"] < 0.1


def test_one_that_does_not_is_told_and_the_body_is_searched_for(stored):
    content = director_of(stored, 1.2)
    job, status = bake(content, 1.5, quality="draft")
    assert status.state == "done"
    result = job.result()
    assert [one for one in result.report["findings"] if "loses its feet" in one["message"]]
    assert result.take.fell_at_s is None and not result.take.lost  # by search it walks
    job, _ = bake(content, 3.0, body_by="policy")
    take = job.result().take
    assert take.fell_at_s is not None
    # It lies limp in the end, and does not flail after its motion.
    pos = take.motion.world()[0]
    assert pos[-1, :, 2].max() < 0.7 and np.linalg.norm(np.diff(pos[-10:], axis=0), axis=-1).max() * 30.0 < 0.5


def test_a_policy_that_there_is_not_is_refused(stored):
    from sinew.core.control.tracking.library_files import store_library

    _, status = bake(store_library(stored), body_by="policy")
    assert status.state == "failed" and "no policy" in status.message and "Train" in status.hint
