# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay's benchmark has as many bodies as it was asked for, and leaves no add-on behind."""

import argparse

import bpy
import pytest

from sinew.bench import overlay
from sinew.core.errors import SinewError


def test_it_measures_at_least_so_many_bodies(scene):
    found = overlay.measure(argparse.Namespace(window=None, bodies=20, seen_as=None))
    assert found["bodies"] >= 20 and found["characters"] == 2
    for clock in ("worked_out_ms", "worked_out_processor_ms"):
        assert 0.0 < found[clock]["median"] <= found[clock]["p95"]
    assert not hasattr(bpy.types.Scene, "sinew_overlay")


def test_a_window_that_does_not_come_is_told(scene):
    with pytest.raises(SinewError, match="gave no figures"):
        overlay.measure(argparse.Namespace(window="echo", bodies=20, seen_as=None))
