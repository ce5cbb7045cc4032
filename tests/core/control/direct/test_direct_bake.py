# SPDX-License-Identifier: GPL-3.0-or-later
"""Directed takes through a job and a worker: alone, and with a body by sampling control."""

import numpy as np
import pytest

from directed_walks import make_walks
from sinew.core import jobs
from sinew.core.control.matching.wish import WISH, Wish
from sinew.core.control.tracking_policy.learned_file import DIRECTED
from sinew.core.motion import Clip


@pytest.fixture(scope="module")
def library():
    return make_walks()[0]


def direct(library, seconds, seed=0, **settings):
    """The job of a walk along +X, done."""
    first = library.clip(0)
    still = (np.repeat(array[:1], 2, axis=0) for array in (first.local_pos, first.local_quat_wxyz))
    wish = Wish(np.full(round(60 * seconds) + 1, 1.05), np.array([(0.0, 0.0), (9.0, 0.0)]), styles=(("walk",),))
    attachments = {DIRECTED.attachment: library.to_arrays(), WISH: wish.to_arrays()}
    clip = Clip(first.skeleton, 30.0, *still, "walker")
    job = jobs.create(clip, method="direct_bake", settings=settings, seed=seed, attachments=attachments)
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    return job.result()


def test_without_physics_the_same_seed_is_the_same_take(library):
    first, again, other = (direct(library, 2.0, seed, physics=False) for seed in (1, 1, 2))
    quats = [one.take.motion.local_quat_wxyz for one in (first, again, other)]
    assert np.array_equal(quats[0], quats[1]) and not np.array_equal(quats[0], quats[2])
    take = first.take
    assert len(take.motion) == 61 and take.motion.fps == 30.0 and take.own_clock
    played = first.report["direct"]["played"]
    assert sum(row["lasts_s"] for row in played) == pytest.approx(2.0, abs=0.05)
    assert {row["clip"] for row in played} <= set(library.names)


def test_with_physics_a_body_walks_the_same_way(library):
    result = direct(library, 1.0, quality="draft")
    take = result.take
    assert take.own_clock and not take.lost and len(take.motion) == 61
    root = take.motion.world()[0][:, take.motion.skeleton.index("pelvis")]
    assert root[-1, 0] == pytest.approx(1.05, abs=0.3) and abs(root[-1, 1]) < 0.3 and root[:, 2].min() > 0.6
    assert result.report["measurements"]["joint_error_m"] < 0.1


def test_what_the_job_lacks_is_told(library):
    clip = library.clip(0)
    job = jobs.create(clip, method="direct_bake", settings={}, attachments={DIRECTED.attachment: library.to_arrays()})
    status = jobs.wait(job, jobs.launch(job))
    assert status.state == "failed" and "no wish" in status.message
