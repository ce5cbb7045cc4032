# SPDX-License-Identifier: GPL-3.0-or-later
"""``sinew direct train`` and ``direct test``: from a library to a policy and its figures, and what cannot be."""

import json

import pytest

from directed_walks import make_stored_walks
from little_policies import LITTLE, launch_here
from sinew.bridge.cli import main
from sinew.core.control.tracking.library_files import LIBRARY_FILE, store_library
from sinew.core.control.tracking_policy.learned_file import DIRECTED

LITTLE_WORDS = tuple(word for name, value in LITTLE.items() for word in ("--set", f"{name}={value}"))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The file of a small library with a body."""
    path = tmp_path_factory.mktemp("libraries") / "walks.library.npz"
    LIBRARY_FILE.write_content(path, *store_library(make_stored_walks()))
    return path


@pytest.fixture
def at_once(scene, monkeypatch):
    """Jobs are done in this process, with little effort."""
    launch_here(monkeypatch.setattr)


def run(*words):
    return main(["direct", *map(str, words)])


def test_a_library_is_trained_tested_and_trained_further(at_once, library, tmp_path, capsys):
    out, report = tmp_path / "c.library.npz", tmp_path / "r.json"
    words = ("train", library, "--out", out, "--seed", 2, "--report", report, "--job-dir", tmp_path / "job")
    assert run(*words, "--minutes", 5, *LITTLE_WORDS) == 0
    told = json.loads(report.read_text())
    assert told["method"] == "direct_train" and told["settings"]["minutes"] == 5.0 and told["out"] == str(out)
    assert told["train"]["samples"] >= 1000 and told["train"]["tests"]
    assert "Trained for" in capsys.readouterr().out
    first = out.read_bytes()
    assert run(*words, "--minutes", 5, *LITTLE_WORDS) == 0  # it is done already
    assert out.read_bytes() == first
    capsys.readouterr()
    assert run("test", out, "--minutes", 0.04, "--seed", 2, "--report", tmp_path / "t.json", "--json") == 0
    printed, told = json.loads(capsys.readouterr().out), json.loads((tmp_path / "t.json").read_text())
    assert printed == told and {"falls", "minutes", "joint_error_m", "skate_m_s", "turn_90_s"} <= told.keys()
    assert told["minutes"] == pytest.approx(0.04, abs=0.02) and isinstance(told["falls"], int)
    assert run("test", out, "--minutes", 0.04) == 0
    assert "falls in" in capsys.readouterr().out
    assert run("train", out, "--out", tmp_path / "d.library.npz", *LITTLE_WORDS) == 0
    assert main(["library", "show", str(out), "--json"]) == 0
    begun = tmp_path / "begun.library.npz"
    words = ("train", library, "--begin", out, "--out", begun, "--report", report, *LITTLE_WORDS)
    assert run(*words) == 0 and begun.is_file()
    assert json.loads(report.read_text())["begun_with"]["clips"] >= 5
    first = out.read_bytes()
    for words in (("tag", out, "straight", "stroll", 0, 9), ("build", library, "--out", out)):
        assert main(["library", *map(str, words)]) == 1
        assert "would lose its policy" in capsys.readouterr().err and out.read_bytes() == first


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "{library}"), "There is no place for what is learned"),
        (
            ("train", "{library}", "--begin", "{library}", "--out", "{tmp}/c.library.npz"),
            "has no policy to begin with. Choose one that was trained",
        ),
        (
            ("train", "{library}", "--begin", "{tmp}/none.library.npz", "--out", "{tmp}/c.library.npz"),
            "There is no library in",
        ),
        (("train", "{library}", "--out", "{library}"), "is what is learned from. Give --out another name"),
        (("train", "{library}", "--out", "{tmp}/c.blend"), "wrong ending"),
        (("train", "{tmp}/none.library.npz", "--out", "{tmp}/c.library.npz"), "There is no library in"),
        (("train", "{library}", "--out", "{tmp}/c.library.npz", "--set", "hours=1"), "no setting 'hours'"),
        (("train", "{library}", "--out", "{tmp}/c.library.npz", "--minutes", "-1"), "minutes"),
        (("test", "{library}"), "has no policy to test. Train it first"),
    ],
)
def test_what_cannot_be_is_told_with_its_fix(scene, library, tmp_path, capsys, words, said):
    assert run(*(word.format(library=library, tmp=tmp_path) for word in words)) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_cut_or_newer_are_refused(at_once, library, tmp_path, capsys):
    out = tmp_path / "c.library.npz"
    assert run("train", library, "--out", out, *LITTLE_WORDS) == 0
    cut, newer, torn = (tmp_path / f"{name}.library.npz" for name in ("cut", "newer", "torn"))
    cut.write_bytes(out.read_bytes()[:-1000])
    arrays, meta = DIRECTED.read_content(out)
    DIRECTED.write_content(newer, arrays, {**meta, "version": 99})
    kept = {name: array for name, array in arrays.items() if not name.startswith("policy_")}
    DIRECTED.write_content(torn, kept, meta)
    capsys.readouterr()
    for path, said in ((cut, "not a whole .npz"), (newer, "newer Sinew"), (torn, "is not whole")):
        for words in (("test", path), ("train", path, "--out", tmp_path / "x.library.npz")):
            assert run(*words) == 1
            assert said in capsys.readouterr().err
