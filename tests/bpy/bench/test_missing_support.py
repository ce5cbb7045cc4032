# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded motions that need what their files do not have are told so, and no others."""

import pytest

from sinew.bench import mocap
from sinew.core.body.build import build_body
from sinew.core.control.tracking.source_preparation import prepare_source

NEED = {
    "83_27_stairs_up": "needs_stairs",
    "115_06_lift_box": "needs_load",
    "60_05_dance_salsa": "needs_partner",
    "07_01_walk": None,
    "49_06_cartwheel": None,
    "80_10_boxing": None,
    "140_08_getup_back": None,
}


@pytest.mark.parametrize(("name", "kind"), NEED.items())
def test_what_is_missing_is_said(scene, shared_mocap, name, kind):
    clip = mocap.read_mocap_clip(name)
    body, _ = build_body(clip.skeleton, clip=clip)
    found = [one.kind for one in prepare_source(body, clip)[1].findings if one.kind.startswith("needs_")]
    assert found == ([] if kind is None else [kind])
