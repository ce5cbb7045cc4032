# SPDX-License-Identifier: GPL-3.0-or-later
"""What the simulation benchmark simulates, and what it says of one run."""

import numpy as np
import pytest

from sinew.bench.run import BenchRun, Case, hash_take, method_and_settings, simulate_case
from sinew.bench.simulate import cases as bench_simulate
from sinew.bench.source_comparison import compare_with_source, judge_take
from sinew.core.control.staging import STAGE
from sinew.core.motion import Clip, Take
from sinew.core.motion.io import stock
from sinew.core.sim.stage_io import stage_from_arrays


class Broken:
    """A method with a bug."""

    uses_engine = False

    def run(self, clip, settings, run):
        return clip.no_such_thing


def rest(frames, fps=60.0):
    skeleton = stock.stock_skeleton()
    pos, quat = (np.tile(v, (frames, 1, 1)) for v in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    return Clip(skeleton, fps, pos, quat, "rest")


def test_cyclic_clips_are_looped_to_five_seconds_and_others_are_not():
    lengths = {
        case.name: case.clip.duration_s for case in bench_simulate.stock_cases(stock.stock_names(), (0,), "mujoco")
    }
    assert len(lengths) == 15
    for name in ("walk", "run", "backflip", "jump", "spin", "roll", "dance_a", "dance_b", "crawl", "cartwheel"):
        period = stock.stock_info(name).duration_s
        assert 5.0 <= lengths[name] < 5.0 + period + 1e-6
        assert lengths[name] / period == pytest.approx(round(lengths[name] / period))
    for name in ("kick", "punch", "getup_facedown", "getup_faceup", "spinkick"):
        assert lengths[name] == stock.stock_info(name).duration_s


def test_every_clip_has_every_seed_on_the_engine():
    cases = list(bench_simulate.stock_cases(("kick", "walk"), (0, 2), "bullet", group="bullet"))
    assert [(case.group, case.name, case.seed, case.engine) for case in cases] == [
        ("bullet", name, seed, "bullet") for name in ("kick", "walk") for seed in (0, 2)
    ]


def test_recorded_clips_are_cut_at_ten_seconds():
    assert bench_simulate.short_enough(rest(1500, 120.0)).duration_s == pytest.approx(10.0)
    assert len(bench_simulate.short_enough(rest(61))) == 61


def test_a_walk_is_pushed_from_eight_sides_at_four_phases():
    cases = list(bench_simulate.push_cases(("walk",), (0,), "mujoco"))
    assert len(cases) == 32
    assert len({(case.words["from"], case.words["phase"]) for case in cases}) == 32
    cycle_s = stock.stock_info("walk").duration_s
    for case in cases:
        parts = stage_from_arrays(*case.attachments[STAGE])
        (push,) = parts.pushes
        assert np.linalg.norm(push.force) == pytest.approx(200.0) and push.force[2] == 0.0
        assert push.duration_s == pytest.approx(0.1)
        assert push.start_s == pytest.approx((1.0 + case.words["phase"]) * cycle_s)
        # It is watched for three seconds after the push, and not much longer.
        assert 3.0 - 1e-6 <= case.clip.duration_s - push.start_s - 0.1 < 3.0 + 1.0 / case.clip.fps
        assert parts.characters == (push.character,)


def test_pushes_come_from_where_they_say():
    # The stock character walks towards -Y, so its left is +X.
    towards = dict(zip(bench_simulate.SIDES, bench_simulate.push_directions(stock.load_stock("walk")), strict=True))
    assert towards["front"] == pytest.approx([0.0, 1.0, 0.0], abs=0.1)
    assert towards["left"] == pytest.approx([-1.0, 0.0, 0.0], abs=0.1)
    assert towards["back"] == pytest.approx(-towards["front"])
    assert towards["front left"] == pytest.approx((towards["front"] + towards["left"]) / np.sqrt(2.0))


def test_a_row_says_what_was_made_of_the_clip():
    case = Case("stock", "kick", stock.load_stock("kick"), 3, "mujoco", words={"needs": "a ball"})
    row, take = simulate_case(case, *method_and_settings("passthrough", []))
    assert (row["group"], row["clip"], row["seed"], row["needs"]) == ("stock", "kick", 3, "a ball")
    assert row["fell_at_s"] is None and row["joint_error_m"] == 0.0
    assert row["wall_over_clip"] == row["wall_s"] / row["clip_s"]
    assert row["sha256"] == hash_take(take)


def test_what_physics_saw_is_what_is_measured(monkeypatch):
    seen = []

    class Traced:
        uses_engine = False

        def run(self, clip, settings, run):
            run.add_trace("trace")
            run.add_finding("ground", "The floor was low", "")
            return Take(clip)

    class Found:
        lost_at_s = 0.5

        def to_mapping(self):
            return {"skate_m_s": 0.01}

    def measured(*given):
        seen.extend(given)
        return Found()

    monkeypatch.setattr("sinew.bench.run.measure_take", measured)
    clip = rest(30)
    row, _ = simulate_case(Case("stock", "rest", clip), Traced(), None)
    assert row["skate_m_s"] == 0.01 and row["findings"] == ["The floor was low"]
    assert seen[0] == "trace" and seen[1] is clip


def test_a_refusal_and_a_bug_are_rows_too(capsys):
    row, take = simulate_case(Case("odd", "rest", rest(3)), *method_and_settings("passthrough", []))
    assert take is None and "too short to simulate" in row["refused"] and "fell_at_s" not in row
    row, take = simulate_case(Case("stock", "rest", rest(30)), Broken(), None)
    assert take is None and row["bug"].startswith("AttributeError")
    assert "no_such_thing" in capsys.readouterr().err


def test_an_engine_that_is_not_there_is_a_refusal():
    row, _ = simulate_case(Case("stock", "rest", rest(30), engine="havok"), *method_and_settings("sampling", []))
    assert "havok" in row["refused"]


def test_the_fingerprint_knows_every_number():
    clip = rest(4)
    moved = np.array(clip.local_pos)
    moved[2, 3, 1] += 1e-15
    takes = [
        Take(clip),
        Take(clip, fell_at_s=0.05),
        Take(Clip(clip.skeleton, 60.0, moved, clip.local_quat_wxyz)),
        Take(clip, contacts=np.ones((4, len(clip.skeleton)), dtype=bool)),
    ]
    assert len({hash_take(take) for take in takes}) == 4
    assert hash_take(Take(rest(4))) == hash_take(takes[0])


def test_a_run_gives_what_the_case_has():
    run = BenchRun("mujoco", 7, {"stage": ({}, {"a": 1})})
    assert run.attachment("stage") == ({}, {"a": 1}) and run.attachment("mesh") is None
    assert run.load_checkpoint() is None
    assert run.rng.random() == np.random.default_rng(7).random()


def test_what_a_jump_of_the_source_costs_is_seen():
    from sinew.core.body.build import build_body

    clean = rest(60)
    body, _ = build_body(clean.skeleton)
    pos = np.array(clean.local_pos)
    pos[30, 0] += [3.0, 0.0, -0.3]  # lost for a frame, below the floor
    broken = Clip(clean.skeleton, 60.0, pos, clean.local_quat_wxyz)
    found = compare_with_source(broken, clean, body)
    assert found["source_fastest_joint_m_s"] == pytest.approx(0.5 * 60.0 * np.hypot(3.0, 0.3))
    assert found["fastest_joint_m_s"] == 0.0
    assert found["source_deepest_m"] == pytest.approx(0.3, abs=0.01) and found["deepest_m"] < 0.01
    assert found["source_jerk_m_s3"] > 1000.0 and found["jerk_m_s3"] == 0.0
    assert judge_take({"fell_at_s": None, **found})["verdict"] == "better"
    assert judge_take({"fell_at_s": None, **compare_with_source(clean, broken, body)})["verdict"] == "worse"
    assert judge_take({"fell_at_s": None, **compare_with_source(clean, clean, body)})["verdict"] == "as good"


def test_feet_are_held_against_how_they_slid_in_the_source_as_it_came():
    from sinew.core.body.build import build_body
    from sinew.core.body.clearance import put_on_floor
    from sinew.core.body.foot_skate import source_foot_skate

    still = rest(60)
    body, _ = build_body(still.skeleton)
    pos = np.array(still.local_pos)
    pos[:, 0] += np.array([0.1, 0.0, 0.0]) * np.arange(60)[:, None] / 60.0 + [0.0, 0.0, 0.4]  # on a floor at 0.4 m
    gliding = Clip(still.skeleton, 60.0, pos, still.local_quat_wxyz)
    slid = source_foot_skate(body, put_on_floor(body, gliding)[0])
    assert slid == pytest.approx(0.1, rel=1e-6)
    found = compare_with_source(gliding, still, body) | {"source_skate_m_s": slid}
    assert "skate_m_s" in judge_take({"fell_at_s": None, "skate_m_s": 0.05, **found})["better"]


def test_verdicts_without_a_take_or_on_the_ground():
    assert judge_take({"refused": "Too short"}) == {"verdict": "refused"}
    fast = {"source_fastest_joint_m_s": 100.0, "fastest_joint_m_s": 8.0}
    assert judge_take({"fell_at_s": 1.0, **fast}) == {"verdict": "fell", "better": ["fastest_joint_m_s"], "worse": []}
    deep = {"source_deepest_m": 0.0, "deepest_m": 0.2}
    assert judge_take({"fell_at_s": None, **fast, **deep})["verdict"] == "mixed"


def test_odd_rows_carry_their_verdict():
    case = Case("odd", "kick", stock.load_stock("kick"), compare=True)
    row, _ = simulate_case(case, *method_and_settings("passthrough", []))
    assert row["verdict"] == "as good"
    row, _ = simulate_case(Case("odd", "rest", rest(2), compare=True), *method_and_settings("passthrough", []))
    assert row["verdict"] == "refused"
