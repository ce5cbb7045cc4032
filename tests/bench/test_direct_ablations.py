# SPDX-License-Identifier: GPL-3.0-or-later
"""Ablations of directed training: each variant changes what it says, and what was measured is drawn."""

from sinew.bench.direct_ablations import FAMILIES, VARIANTS, configure_variant, draw_ablations, draw_cubes
from sinew.core.control.direct.train_method import DirectTrainSettings


def test_every_variant_is_trained_otherwise_than_as_it_is():
    basis = DirectTrainSettings(millions=0.1)
    configs = {one.name: configure_variant(basis, one) for one in VARIANTS}
    usual = configs["as it is"]
    assert FAMILIES == ("smoothing", "joints", "last layer", "rewards", "stages")
    assert configs["no smoothing"].tracking.smoothing == 1.0 != usual.tracking.smoothing
    assert configs["all joints"].tracking.all_joints and configs["last layer full size"].ppo.output_scale == 1.0
    assert configs["no places of links"].tracking.weights.pose == 0.0 < usual.tracking.weights.pose
    assert not configs["starts anywhere alike"].tracking.hard and usual.tracking.hard
    same = [one.name for one in VARIANTS if configs[one.name] == usual]
    assert same == ["as it is", "begun with a policy"] and [one.name for one in VARIANTS if one.warm] == same[1:]


def test_a_family_is_drawn_beside_training_as_it_is():
    tests = [[100_000, 20.0, 0.1], [200_000, 12.0, 0.08]]
    rows = [{"variant": name, "tests": tests} for name in ("as it is", "no smoothing", "no speeds")]
    drawn = draw_ablations(rows)
    assert list(drawn) == ["ablation_smoothing", "ablation_rewards"]
    assert "no smoothing" in drawn["ablation_smoothing"] and "no speeds" not in drawn["ablation_smoothing"]
    assert draw_ablations(rows[1:]) == {}


def test_cubes_are_a_line_for_each_controller():
    rows = [{"mass_kg": mass, "lasts_s": 10.0 - mass, "trained": name} for name in ("a", "b") for mass in (4.0, 1.0)]
    drawing = draw_cubes(rows)["cubes"]
    assert ">a<" in drawing and ">b<" in drawing
    assert draw_cubes([]) == {}
