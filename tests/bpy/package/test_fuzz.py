# SPDX-License-Identifier: GPL-3.0-or-later
"""The fuzzer: the same seed damages the same, what must not happen is told, and a few cases of every format pass."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fuzzer measures memory as Linux tells it")


@pytest.fixture(scope="module")
def fuzz():
    """Its modules that need no child."""
    sys.path.insert(0, str(ROOT))
    try:
        from tools.fuzz import child, findings, mutations, runner
    finally:
        sys.path.remove(str(ROOT))
    return {"child": child, "findings": findings, "mutations": mutations, "runner": runner}


def test_the_same_seed_damages_the_same(fuzz, tmp_path):
    (tmp_path / "walk.gltf").write_text(json.dumps({"asset": {"version": "2.0"}, "nodes": [{"name": "a"}] * 9}))
    (tmp_path / "walk.bin").write_bytes(b"")
    made = set()
    for number in (1, 1, 2, 3):
        path = fuzz["runner"].make_case("gltf", [str(tmp_path / "walk.gltf")], 5, number, str(tmp_path / "case"))
        made.add(Path(path).read_bytes())
    assert len(made) == 3


def test_every_mutation_gives_another_file(fuzz, tmp_path):
    stream = tmp_path / "a.npz"
    np.savez(stream, meta=np.array('{"kind": "x", "names": ["a", "b"]}'), pos=np.zeros((4, 3)))
    whole = {"mutate_text": b"ROOT Hips\n{\nOFFSET 1 2 3\n}\n" * 5, "mutate_archive": stream.read_bytes()}
    whole |= {"mutate_json": b'{"a": [1, 2, {"b": "c"}], "d": 3}', "mutate_bytes": bytes(range(200))}
    for name, data in whole.items():
        mutate = getattr(fuzz["mutations"], name)
        assert len({mutate(data, np.random.default_rng(seed)) for seed in range(40)} - {data}) > 20, name


@pytest.mark.parametrize("text", ["a\x1b[2J", "\u202e", "\x07", "Traceback (most recent call last):\n", "\udce9"])
def test_what_must_not_reach_a_terminal_is_told(fuzz, text):
    assert fuzz["child"].flaw_of_output(text)
    assert not fuzz["child"].flaw_of_output("sinew: 'Zoë 歩く' is gone\n")


def test_messages_of_several_lines_are_told(fuzz):
    for text in ("one\ntwo", "Location: x.py", "x" * 5000):
        assert fuzz["child"].flaw_of_message(text)
    assert not fuzz["child"].flaw_of_message("'walk.bvh', line 3: it ends. Export it again")


def test_memory_is_counted_and_causes_are_kept_once(fuzz, tmp_path):
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "walk.bvh").write_text("x")
    found = fuzz["findings"].Findings(["bvh"], 0, str(tmp_path / "out"))
    for number in (1, 2):
        answer = {"outcome": "refused", "grown_mb": 1500.0, "seconds": 1.0}
        found.add("bvh", number, answer, str(tmp_path / "case"))
    found.add("bvh", 3, {"outcome": "refused", "grown_mb": 10.0, "seconds": 1.0}, str(tmp_path / "case"))
    assert found.causes == {("bvh", "memory: more than 1024 MB"): [2, 1]}
    assert (tmp_path / "out" / "bvh-0-1" / "walk.bvh").is_file()
    assert "--seed 0 --only bvh --case 1" in found.summary(0.1)


def test_some_cases_of_every_format_pass(tmp_path):
    command = [sys.executable, str(ROOT / "tools" / "fuzz" / "__main__.py"), "--cases", "65", "--seed", "11"]
    done = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "65 cases of seed 11" in done.stdout
