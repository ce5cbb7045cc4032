# SPDX-License-Identifier: GPL-3.0-or-later
"""A body fitted by another process is the one that would be fitted here; what is wrong with it comes back in words."""

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.part_edit import PartEdit
from sinew.core.control.character import BodyChoices
from sinew.core.errors import JobError, RigError
from sinew.core.jobs.body_fitting import fit_in_worker
from sinew.core.motion import Skeleton
from sinew.core.motion.io import stock


def test_it_is_the_same_body():
    skeleton = stock.stock_skeleton()
    edits = {"shin.L": PartEdit("box", (0.1, 0.1, 0.4), mass_kg=4.0)}
    choices = BodyChoices("heavy", "stunts", 90.0, {"foot.R": "ride"}, edits)
    there = fit_in_worker(skeleton, None, None, choices)
    here, _ = build_body(
        skeleton, preset="heavy", gains="stunts", mass_kg=90.0, overrides={"foot.R": "ride"}, edits=edits
    )
    assert [link.bone for link in there.links] == [link.bone for link in here.links]
    for made, wanted in zip(there.links, here.links, strict=True):
        assert (made.mass, made.joint.kp) == (wanted.mass, wanted.joint.kp)
        assert np.array_equal(made.shapes[0].size, wanted.shapes[0].size)


def test_what_can_have_no_body_is_told():
    post = Skeleton(("post",), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), np.ones(1))
    with pytest.raises(JobError) as told:
        fit_in_worker(post, None, None, BodyChoices())
    with pytest.raises(RigError) as known:
        build_body(post)
    assert told.value.message == known.value.message and told.value.hint == known.value.hint
