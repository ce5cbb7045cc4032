# SPDX-License-Identifier: GPL-3.0-or-later
"""The fuzzer: the same seed damages the same, what must not happen is told, and a few cases of every format pass."""

import io
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
        from tools.fuzz import appetites, child, findings, mutations, runner
    finally:
        sys.path.remove(str(ROOT))
    return {
        "appetites": appetites,
        "child": child,
        "findings": findings,
        "mutations": mutations,
        "runner": runner,
    }


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


GLTF = {
    "asset": {"version": "2.0"},
    "scenes": [{"nodes": [0]}],
    "nodes": [{}],
    "accessors": [{"bufferView": 0, "count": 2, "componentType": 5126, "type": "SCALAR"}] * 2,
    "animations": [{"samplers": [{"input": 0, "output": 1}], "channels": []}],
}


def fattened(fuzz, name, data, seeds=40):
    return [getattr(fuzz["appetites"], f"fatten_{name}")(data, np.random.default_rng(seed)) for seed in range(seeds)]


def test_archives_are_fattened_in_their_numbers_and_their_description(fuzz, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz["appetites"], "_MOST_BYTES", 1 << 20)
    monkeypatch.setattr(fuzz["appetites"], "many", lambda rng, least, most: int(rng.integers(least, 5 * least)))
    path = tmp_path / "a.npz"
    meta = {"kind": "x", "clips": [{}, {}], "checksum": "0"}
    np.savez(path, meta=np.array(json.dumps(meta)), pos=np.zeros((4, 3)), times=np.zeros(4), starts=np.array([0, 2, 4]))
    kinds, descriptions = set(), []
    for data in fattened(fuzz, "archive", path.read_bytes()):
        with np.load(io.BytesIO(data)) as archive:
            about = json.loads(str(archive["meta"]))
            assert "checksum" not in about, "which would be all that is found"
            descriptions.append(len(json.dumps(about)))
            if len(archive["pos"]) > 4:
                assert archive["starts"].tolist() == [0, len(archive["pos"])] and len(about["clips"]) == 1
                kinds.add(archive["pos"].dtype.name)
    assert {"int8", "bool", "float16"} <= kinds and max(descriptions) > 2000


def test_a_gltf_is_fattened_in_what_it_means(fuzz, monkeypatch):
    monkeypatch.setattr(fuzz["appetites"], "many", lambda rng, least, most: 50)
    trees = [json.loads(data) for data in fattened(fuzz, "gltf", json.dumps(GLTF).encode(), 80)]
    meshes = [tree["meshes"][0]["primitives"] for tree in trees if "meshes" in tree]
    for wanted in (
        any("bufferView" not in row and row["count"] == 50 for tree in trees for row in tree["accessors"]),
        any(len(tree["animations"]) == 50 for tree in trees),
        any(len(tree["animations"][0]["channels"]) > 100 for tree in trees),
        any(len(rows) == 50 for rows in meshes),
        any(len(rows[0].get("targets", ())) == 50 for rows in meshes),
        any(len(tree.get("materials", ())) == 50 for tree in trees),
        any("extensions" in node for tree in trees for node in tree["nodes"]),
        any("fat" in json.dumps(tree) for tree in trees),
    ):
        assert wanted


def test_texts_and_nodes_are_fattened(fuzz, monkeypatch):
    monkeypatch.setattr(fuzz["appetites"], "many", lambda rng, least, most: 5000)
    texts = fattened(fuzz, "bvh", b"HIERARCHY\nROOT Hips\n{\nJOINT A\n{\n}\n}\nMOTION\n0 0 0")
    assert any(len(line) > 10_000 for text in texts for line in text.split(b"\n"))
    assert any(text.count(b"\n\n") > 1000 for text in texts)
    assert any(text.count(b"End Site") == 5000 for text in texts)
    assert any(text.count(b"JOINT still") == 5000 for text in texts)
    head = b"Kaydara FBX Binary  \x00\x1a\x00" + (7400).to_bytes(4, "little")
    trees = fattened(fuzz, "fbx", head + bytes(13), 20)
    assert any(b"Zeros" in tree for tree in trees) and any(tree.count(b"Model") == 5000 for tree in trees)
    frames = json.dumps({"Frames": [[0.03, 1.0]] * 4}).encode()
    durations = [[row[0] for row in json.loads(data)["Frames"]] for data in fattened(fuzz, "stock", frames)]
    assert max(max(one) / min(one) for one in durations) > 1e6


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
    (tmp_path / "case" / "walk.bvh").write_bytes(bytes(4 << 20))  # of what is large, Blender takes more
    found.add("bvh", 4, {"outcome": "taken", "grown_mb": 1500.0, "seconds": 1.0}, str(tmp_path / "case"))
    assert found.causes == {("bvh", "memory: more than 1024 MB"): [2, 1]}
    assert "--seed 0 --only bvh --case 1" in found.summary(0.1)


def test_some_cases_of_every_format_pass(tmp_path):
    command = [sys.executable, str(ROOT / "tools" / "fuzz" / "__main__.py"), "--cases", "69", "--seed", "11"]
    done = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "69 cases of seed 11" in done.stdout
