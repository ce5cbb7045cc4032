# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench simulate`` from the command line: options, recorded motion, sheets and the page."""

import json

import bpy
import numpy as np
import pytest

from sinew.bench import mocap
from sinew.bench.command import main
from sinew.bench.run import BenchRun
from sinew.bench.simulate import command, files
from sinew.bench.simulate.cases import stock_cases
from sinew.bench.simulate.goals import stock_summary
from sinew.bridge.preview.palette import shrink
from sinew.core.control.character import build_job_body

PASS = ("--method", "passthrough")


def run(*words):
    return main(["bench", "simulate", *(str(word) for word in words)])


def result(capsys, *words):
    assert run(*words, *PASS) == 0
    told = capsys.readouterr()
    # Under pytest standard output is not file 1, and so Blender's importers are heard.
    return json.loads(told.out[told.out.index("{") :])["simulate"], told.err


def test_options_choose_what_is_simulated(scene, capsys, tmp_path):
    file = tmp_path / "rows.jsonl"
    words = ("--json", "--only", "stock", "--clips", "kick,punch", "--seeds", "0,4", "--rows", file, "--twice")
    found, told = result(capsys, *words)
    assert [(row["clip"], row["seed"]) for row in found["rows"]] == [
        (name, seed) for name in ("kick", "punch") for seed in (0, 4)
    ]
    assert found["finished"] is True and found["same_again"] is True
    assert found["settings"]["method"] == "passthrough"
    assert list(found["summary"]) == ["stock"] and found["summary"]["stock"]["stood"] == 4
    # Each row was told as soon as it was known, in a line and whole in the file.
    assert len(told.splitlines()) == 4
    assert [json.loads(line) for line in file.read_text().splitlines() if line] == found["rows"]


def test_clips_may_come_from_several_groups_and_unknown_ones_are_refused(scene, capsys):
    assert list(command._chosen((), ("walk",))) == ["stock", "again", "bullet", "push"]
    assert command._chosen(("push",), ()) == {"push": ("walk",)}
    assert run("--clips", "wlak") == 1
    assert "There is no clip 'wlak' in stock" in capsys.readouterr().err
    assert run("--only", "everything") == 1
    assert "There is no group 'everything'" in capsys.readouterr().err
    assert run("--seeds", "one") == 2
    assert "not a list of numbers" in capsys.readouterr().err
    assert run("--quality", "superb", "--clips", "kick") == 1
    assert "superb" in capsys.readouterr().err


def test_the_benchmark_has_help_and_others_take_no_options(scene, capsys):
    assert run("--help") == 0
    assert "--sheets" in capsys.readouterr().out
    assert main(["bench", "engines", "--only", "x"]) == 2
    assert "unrecognized arguments: --only x" in capsys.readouterr().err


def test_without_recorded_motion_it_says_so_and_goes_on(scene, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(mocap, "FOLDER", tmp_path / "none")
    found, told = result(capsys, "--only", "files,odd")
    assert found["rows"] == []
    assert "skipped, there is no folder of recorded motions" in told
    assert set(found["summary"]) == {"files", "odd"} and "skipped" in found["summary"]["files"]


def test_files_are_taken_as_users_have_them(scene, capsys, shared_mocap):
    names = "09_01_run,83_27_stairs_up,cmu_88_01_wrong_frame_time,cmu_90_10_three_frames,Fox"
    found, _ = result(capsys, "--only", "files", "--clips", names)
    rows = {row["clip"]: row for row in found["rows"]}
    # What the check says of units is accepted, be it one thing after the other: then nothing is wrong with them.
    assert [len(rows[name]["accepted"]) for name in ("09_01_run", "cmu_88_01_wrong_frame_time", "Fox/Walk")] == [
        1,
        2,
        1,
    ]
    assert not any("tall" in finding or "a second" in finding for row in found["rows"] for finding in row["findings"])
    # Whole, with the pose that CMU's files begin with, and at the right speed.
    assert rows["09_01_run"]["clip_s"] == pytest.approx(148 / 120)
    assert rows["cmu_88_01_wrong_frame_time"]["clip_s"] == pytest.approx(2.0 * 202 / 120, rel=0.01)
    # Every Action of a file is a row; what is no motion is refused, and no miss.
    assert {name for name in rows if name.startswith("Fox")} == {"Fox/Survey", "Fox/Walk", "Fox/Run"}
    assert "too short to simulate" in rows["cmu_90_10_three_frames"]["refused"]
    summary = found["summary"]["files"]
    assert summary["goals"]["97 % that need nothing absent stay up"]["stood"] == "5 of 5"
    assert list(summary["refused"]) == ["cmu_90_10_three_frames"]
    assert summary["need_what_is_missing"].keys() == {"83_27_stairs_up"} and "needs" not in rows["09_01_run"]


def test_every_file_that_is_asked_for_is_there(scene, shared_mocap):
    assert len(files.file_names()) == 26 + 3 + 6 + 5 + 1 + 1 and len(mocap.mocap_names("odd")) == 6
    assert {name.partition("/")[0] for name in files.NEEDS} <= set(files.file_names())


def test_odd_files_are_refused_or_taken_with_their_own_hint(scene, capsys, shared_mocap):
    names = "cmu_90_10_three_frames,cmu_88_01_wrong_frame_time"
    found, _ = result(capsys, "--only", "odd", "--clips", names)
    wrong, right, short = found["rows"]
    assert "too short to simulate" in short["refused"] and short["verdict"] == "refused"
    assert "four times gravity" in wrong["findings"][0]
    assert "60" in right["hint_taken"] and right["findings"] == []
    assert right["clip_s"] == pytest.approx(2.0 * wrong["clip_s"])
    assert found["summary"]["odd"]["verdicts"]["cmu_90_10_three_frames"] == ["refused"]
    assert len(found["summary"]["odd"]["verdicts"]["cmu_88_01_wrong_frame_time"]) == 2


def test_the_mannequins_mesh_makes_a_body_of_a_stock_clip(scene):
    case = next(stock_cases(("kick",), (0,), "mujoco"))
    plain, _ = build_job_body(case.clip, BenchRun("mujoco", 0, {}))
    body, _ = build_job_body(case.clip, BenchRun("mujoco", 0, mocap.mannequin_attachments()))
    assert body.mass != plain.mass and [link.bone for link in body.links] == [link.bone for link in plain.links]
    # Each shape lies around its own bone, as the tables' do, and not around another's.
    for link, other in zip(body.links, plain.links, strict=True):
        assert np.linalg.norm(link.shapes[0].pos - other.shapes[0].pos) < 0.08
        assert link.mass == pytest.approx(other.mass, rel=1.0)


def test_sheets_and_a_page_of_all_known_rows(scene, capsys, tmp_path):
    rows, docs = tmp_path / "rows.jsonl", tmp_path / "docs"
    result(capsys, "--only", "stock", "--clips", "punch", "--seeds", "1", "--rows", rows)
    with rows.open("a") as stream:
        stream.write('{"group": "sto')  # torn by a kill
    result(capsys, "--only", "stock", "--clips", "kick", "--seeds", "2,3", "--sheets", docs, "--rows", rows)
    picture = docs / "images" / "simulate" / "kick.png"
    assert picture.stat().st_size <= 150_000
    text = (docs / "simulate.md").read_text(encoding="utf-8")
    assert "![kick, simulated](images/simulate/kick.png)\n\nSeed 2: stood" in text
    assert "| kick | 1.5 s | 2 of 2 |" in text and "| punch | 2.1 s | 1 of 1 |" in text


def test_wall_times_of_a_busy_machine_are_none():
    rows = [
        {
            "clip": "walk",
            "seed": seed,
            "clip_s": 5.0,
            "fell_at_s": None,
            "wall_over_clip": wall,
            "processor_over_clip": own,
        }
        for seed, (wall, own) in enumerate([(0.5, 1.0), (3.0, 1.0), (0.9, 1.2)])
    ]
    found = stock_summary(rows)
    assert found["median_wall_over_clip"] == pytest.approx(0.7) and found["worst_wall_over_clip"] == 0.9
    assert found["goals"]["at most 2.5 x clip time"]["kept"] == "2 of 2"
    assert stock_summary(rows[1:2])["goals"]["median wall time at most 0.7 x clip time"]["met"] is None
    del rows[1]["processor_over_clip"]  # of before, when nobody asked
    assert stock_summary(rows)["worst_wall_over_clip"] == 3.0


def test_a_picture_shrinks_to_fit_and_still_shows_the_same(scene, tmp_path):
    path, size = tmp_path / "picture.png", 64
    across = np.linspace(0.0, 1.0, size)
    pixels = np.ones((size, size, 4), dtype=np.float32)
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = (
        across,
        across[:, None],
        np.random.default_rng(0).random((size, size)),
    )
    image = bpy.data.images.new("picture", size, size)
    image.pixels.foreach_set(pixels.ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    before = path.stat().st_size
    shrink(path, 3000)
    assert path.stat().st_size <= 3000 < before
    again = bpy.data.images.load(str(path))
    seen = np.empty(size * size * 4, dtype=np.float32)
    again.pixels.foreach_get(seen)
    assert tuple(again.size) == (size, size)
    assert np.abs(seen.reshape(size, size, 4) - pixels).mean() < 0.1
