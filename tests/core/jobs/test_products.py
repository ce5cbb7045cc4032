# SPDX-License-Identifier: GPL-3.0-or-later
"""What a method makes beside its take comes home whole, or the job has no result."""

import numpy as np
import pytest

from sinew.core.errors import JobError
from sinew.core.jobs.running import WorkerRun

# A method that makes something besides its take.
_MAKES = """
import numpy as np
plainly = Passthrough.run

def run(self, clip, settings, run):
    run.add_product("graph", {"gains": np.arange(6.0).reshape(2, 3)}, {"skills": ["walk"], "worst": float("nan")})
    return plainly(self, clip, settings, run)

Passthrough.run = run
"""


def test_what_is_made_beside_the_take_comes_home(make, run_worker):
    job = make()
    run_worker(job, _MAKES)
    assert job.status().state == "done", job.log
    arrays, meta = job.product("graph")
    np.testing.assert_array_equal(arrays["gains"], [[0, 1, 2], [3, 4, 5]])
    assert meta == {"skills": ["walk"], "worst": None}
    assert len(job.result().take.motion) == 40


def test_a_damaged_product_is_no_result_and_can_be_made_again(make, run_worker):
    job = make()
    run_worker(job, _MAKES)
    file = job.product_file("graph")
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(JobError, match=r"(?s)graph\.npz.*damaged.*Start the job again"):
        job.product("graph")
    assert not job.has_result()
    run_worker(job, _MAKES)
    assert job.product("graph")[0]["gains"].shape == (2, 3)


def test_a_job_that_made_nothing_else_says_so(make, run_worker):
    job = make()
    with pytest.raises(JobError, match="has no result: it is created"):
        job.product("graph")
    run_worker(job)
    with pytest.raises(JobError, match="has made no 'graph'"):
        job.product("graph")


@pytest.mark.parametrize("name", ["take", "../x", "", "Graph"])
def test_a_product_cannot_stand_in_the_way_of_other_files(make, name):
    with pytest.raises(JobError, match="cannot be called"):
        WorkerRun(make(), 1).add_product(name, {}, {})


def test_what_is_shown_on_the_way_is_replaced_and_never_torn(make):
    job = make()
    run = WorkerRun(job, 1)
    assert job.shown() is None
    for count in (1, 2):
        run.show({"link_pos": np.zeros((count, 3))}, {"fps": 30, "bones": ["hip"]})
    arrays, about = job.shown()
    assert arrays["link_pos"].shape == (2, 3) and about == {"fps": 30, "bones": ["hip"]}
    assert [path.name for path in job.folder.glob("*shown*")] == ["shown.npz"]
    job.shown_file.write_bytes(job.shown_file.read_bytes()[:-30])
    assert job.shown() is None
    job.shown_file.unlink()
    job.shown_file.mkdir()  # as when a disk is full, nothing can be written there
    run.show({"link_pos": np.zeros((1, 3))}, {})
