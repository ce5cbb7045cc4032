# SPDX-License-Identifier: GPL-3.0-or-later
"""``sinew library`` as a user types it: build, add, show, tag, and what is wrong in one line."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from ray_cluster import needs_ray
from sinew.bridge import cli
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.io.npz import save_clip
from sinew.core.motion.plain_walk import plain_walk

SCALE = "0.0564444"


@pytest.fixture
def folder(tmp_path):
    """A folder with three clips of a walk, two of which are called so."""
    walk = plain_walk(2.2)
    for name in ("walk_1", "walk_2", "odd_1"):
        save_clip(tmp_path / "moves" / f"{name}.npz", replace(walk, name=name))
    return tmp_path / "moves"


def run(*words):
    return cli.main([str(word) for word in words])


def show(library, capsys):
    capsys.readouterr()
    assert run("library", "show", library, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_a_folder_becomes_a_library_that_is_added_to_tagged_and_drawn(folder, tmp_path, capsys):
    library = tmp_path / "moves.library.npz"
    assert run("library", "build", folder, "--out", library) == 0
    told = show(library, capsys)
    assert {"clips", "frames", "seconds", "tags"} <= told.keys()
    assert told["clips"] == 3
    assert told["seconds"] == pytest.approx(told["frames"] / 60.0)
    assert told["tags"]["walk"]["frames"] == 2 * told["frames"] // 3  # the third is called otherwise
    assert told["mirrored"] is True
    assert told["changed"] == []
    shutil.copy(folder / "odd_1.npz", tmp_path / "walk_9.npz")
    assert run("library", "add", library, tmp_path / "walk_9.npz") == 0
    assert run("library", "tag", library, "odd_1", "odd", 10, 19) == 0
    assert run("library", "tag", library, "odd_1", "odd", 15, 15, "--remove") == 0
    more = show(library, capsys)
    assert more["clips"] == 4
    assert more["tags"]["walk"]["frames"] == 3 * told["frames"] // 3
    assert more["tags"]["odd"]["frames"] == 9
    assert run("library", "show", library, "--picture", tmp_path / "moves.png") == 0
    assert (tmp_path / "moves.png").read_bytes().startswith(b"\x89PNG")


def test_clips_are_joined_and_where_no_way_leads_it_is_told_why(tmp_path, capsys):
    long, short = tmp_path / "long.library.npz", tmp_path / "short.library.npz"
    for name, seconds, library in (("a", 4.0, long), ("b", 4.2, long), ("c", 1.1, short), ("d", 1.1, short)):
        save_clip(tmp_path / library.stem / f"{name}.npz", replace(plain_walk(seconds), name=name))
    for library in (long, short):
        assert run("library", "build", tmp_path / library.stem, "--out", library) == 0
    capsys.readouterr()
    out = tmp_path / "joined.library.npz"
    assert run("library", "join", long, "--out", out, "--within", 0.5) == 0
    assert "2 ways from clip to clip" in capsys.readouterr().out
    assert show(out, capsys)["clips"] == 4 and show(long, capsys)["clips"] == 2
    assert run("library", "join", short) == 1
    told = capsys.readouterr().err
    assert "No way leads from 'c' to 'd'" in told and "less than a second and a half" in told


@needs_ray
def test_a_cluster_that_is_not_there_is_told_and_nothing_is_written(folder, tmp_path, capsys):
    library = tmp_path / "moves.library.npz"
    assert run("library", "build", folder, "--out", library, "--where", "ray:127.0.0.1:9") == 1
    assert "127.0.0.1:9" in capsys.readouterr().err and not library.exists()


def test_what_changed_is_noticed_and_only_that_is_prepared(folder, tmp_path, capsys):
    library = tmp_path / "moves.library.npz"
    run("library", "build", folder, "--out", library, "--no-mirror")
    save_clip(folder / "walk_2.npz", replace(plain_walk(1.65), name="walk_2"))
    assert show(library, capsys)["changed"] == ["walk_2"]
    before = library.read_bytes()
    assert run("library", "build", folder, "--out", library, "--no-mirror") == 0
    assert library.read_bytes() != before
    told = show(library, capsys)
    assert told["changed"] == []
    assert told["mirrored"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("build", "{none}", "--out", "{out}"), "does not exist"),
        (("build", "{empty}", "--out", "{out}"), "There are no motion files in"),
        (("build", "{moves}", "--out", "x.blend"), "has the wrong ending"),
        (("build", "{moves}", "--out", "{out}", "--scale", "0"), "The scale is 0"),
        (("show", "{none}"), "There is no library in"),
        (("show", "{moves}/walk_1.npz"), "is no library"),
        (("add", "{none}", "{moves}/walk_1.npz"), "There is no library in"),
    ],
)
def test_what_is_wrong_is_one_line(folder, tmp_path, capsys, words, message):
    (tmp_path / "empty").mkdir()
    places = {
        "none": tmp_path / "none",
        "empty": tmp_path / "empty",
        "moves": folder,
        "out": tmp_path / "x.library.npz",
    }
    assert run("library", *(word.format(**places) for word in words)) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "x.library.npz").exists()


def test_a_file_that_is_no_library_is_not_written_over(folder, capsys):
    before = (folder / "odd_1.npz").read_bytes()
    assert run("library", "build", folder / "walk_1.npz", "--out", folder / "odd_1.npz") == 1
    assert "is no library" in capsys.readouterr().err
    assert (folder / "odd_1.npz").read_bytes() == before


def test_tags_beyond_the_end_and_of_no_clip_are_refused(folder, tmp_path, capsys):
    library = tmp_path / "moves.library.npz"
    run("library", "build", folder / "walk_1.npz", "--out", library)
    before = library.read_bytes()
    for words, message in (
        (("walk_1", "x", 3, 9999), "goes to frame 9999"),
        (("walk_7", "x", 3, 4), "no clip 'walk_7'"),
    ):
        capsys.readouterr()
        assert run("library", "tag", library, *words) == 1
        assert message in capsys.readouterr().err
    assert library.read_bytes() == before


def test_other_skeletons_come_along_and_what_cannot_is_left_out(shared_mocap, tmp_path, capsys):
    library = tmp_path / "mixed.library.npz"
    files = [shared_mocap.parent / "libraries" / "locomotion" / f"{name}.bvh" for name in ("run_16_35", "run_16_45")]
    fox = shared_mocap / "skinned" / "Fox.glb"
    (tmp_path / "torn.bvh").write_text("HIERARCHY\nROOT Hips\n{\n", encoding="utf-8")
    save_clip(tmp_path / "plain_walk.npz", plain_walk(2.2))
    every = [tmp_path / "torn.bvh", *files, tmp_path / "plain_walk.npz", fox]
    assert run("library", "build", *every, "--scale", SCALE, "--out", library, "--no-mirror") == 0
    said = capsys.readouterr().err
    assert "is left out" in said and "stands on 4 feet" in said and "torn" in said
    told = show(library, capsys)
    assert told["names"] == ["run_16_35", "run_16_45", "plain_walk"]
    assert told["tags"]["run"]["proposed"] is False


def test_clips_of_two_skeletons_with_no_role_in_common_are_not_mixed(folder, tmp_path, capsys):
    """Nobody could say which bone of a chain is a leg: it is left out, by name, and nothing is guessed."""
    names, parents, steps = ("one", "two", "three"), (-1, 0, 1), np.tile([0.0, 0.0, 0.4], (3, 1))
    chain = Skeleton(names, np.array(parents), steps, np.tile([1.0, 0.0, 0.0, 0.0], (3, 1)), np.full(3, 0.4))
    still = (np.repeat(part[None], 120, axis=0) for part in (chain.rest_pos, chain.rest_quat_wxyz))
    save_clip(tmp_path / "chain.npz", Clip(chain, 60.0, *still, "chain"))
    library = tmp_path / "x.library.npz"
    assert run("library", "build", folder / "walk_1.npz", tmp_path / "chain.npz", "--out", library, "--no-mirror") == 0
    said = capsys.readouterr().err
    assert "chain" in said and "is left out" in said
    assert show(library, capsys)["names"] == ["walk_1"]
    assert run("library", "build", tmp_path / "chain.npz", "--out", tmp_path / "y.library.npz") == 1
    assert "Nothing in the skeleton can stand" in capsys.readouterr().err and not (tmp_path / "y.library.npz").exists()
