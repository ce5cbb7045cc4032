# SPDX-License-Identifier: GPL-3.0-or-later
"""Case after case in a child process that may die of any of them; whatever is found is kept, once for each cause."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import zlib
from typing import Any, Callable

import numpy as np

from . import appetites, mutations

LONGEST_S = 40.0
CASES_A_CHILD = 250

# How a format's files are damaged; folders, properties and arguments have ways of their own.
_ARCHIVE = appetites.or_fattened(mutations.mutate_archive, appetites.fatten_archive)
_JSON = appetites.or_fattened(mutations.mutate_json, appetites.fatten_json, 0.05)
MUTATIONS: dict[str, Callable[[bytes, np.random.Generator], bytes]] = {
    "bvh": appetites.or_fattened(mutations.mutate_text, appetites.fatten_bvh, 0.1),
    "fbx": appetites.or_fattened(mutations.mutate_fbx, appetites.fatten_fbx),
    "glb": appetites.or_fattened(mutations.mutate_glb, appetites.fatten_glb, 0.3),
    "gltf": appetites.or_fattened(mutations.mutate_json, appetites.fatten_gltf, 0.3),
    "clip": _ARCHIVE,
    "take": _ARCHIVE,
    "graph": _ARCHIVE,
    "controller": appetites.or_fattened(mutations.mutate_safetensors, appetites.fatten_safetensors),
    "medley": _ARCHIVE,
    "library": _ARCHIVE,
    "direct": _ARCHIVE,
    "stock": appetites.or_fattened(mutations.mutate_json, appetites.fatten_stock, 0.3),
    "settings": mutations.mutate_json,
    "recording": mutations.mutate_text,
    "messages": mutations.mutate_text,
}


class Child:
    """A process that opens files (``child.py``)."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.process: subprocess.Popen | None = None
        self.seeds: dict[str, list[str]] = {}
        self.asked = 0

    def start(self) -> None:
        """Start it, and wait until it has the whole files."""
        script = os.path.join(os.path.dirname(os.path.realpath(__file__)), "child.py")
        command = [sys.executable, script, self.folder]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self.asked = 0
        line = self._line(300.0)
        if line is None:
            raise RuntimeError("the fuzzer's child did not start: run %s" % " ".join(command))
        self.seeds = json.loads(line)

    def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to a case; one that hung or died says so, and the next case gets a new process."""
        if self.process is None or self.asked >= CASES_A_CHILD:
            self.stop()
            self.start()
        assert self.process is not None
        assert self.process.stdin is not None
        self.asked += 1
        begun = time.monotonic()
        self.process.stdin.write((json.dumps(asked) + "\n").encode())
        self.process.stdin.flush()
        longest_s = asked.get("patience", 1) * LONGEST_S
        line = self._line(longest_s)
        if line:
            return json.loads(line)
        died = self.process.poll()
        self.stop()
        seconds = time.monotonic() - begun
        if line is None:
            return {"outcome": "failed", "what": "hang: longer than %g s" % longest_s, "seconds": seconds}
        return {"outcome": "failed", "what": "crash: %s" % _ending(died), "seconds": seconds}

    def _line(self, seconds: float) -> bytes | None:
        """The next line of it; None if there is none in that time, b'' if it is gone."""
        assert self.process is not None and self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if ready else None

    def stop(self) -> None:
        """End it and what it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


def _ending(code: int | None) -> str:
    if code is None:
        return "it closed its output"
    return signal.Signals(-code).name if code < 0 else "exit code %d" % code


def make_case(kind: str, seeds: list[str], seed: int, number: int, folder: str) -> str:
    """Damage a whole file of this format; gives the path of the case, alone in its folder."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), number])
    source = str(mutations.pick(seeds, rng))
    if os.path.exists(folder):
        shutil.rmtree(folder)
    os.makedirs(folder)
    target = os.path.join(folder, os.path.basename(source))
    if os.path.isdir(source):
        if kind == "job":  # among others, which must not suffer
            for whole in [one for one in seeds if one != source][:2]:
                shutil.copytree(whole, os.path.join(folder, os.path.basename(whole)))
        shutil.copytree(source, target)
        damage_folder(target, rng)
    elif kind == "blend":
        shutil.copy(source, target)
        shutil.copytree(os.path.join(os.path.dirname(source), "sinew"), os.path.join(folder, "sinew"))
    elif kind == "arguments":
        with open(source, encoding="utf-8") as stream:
            words = mutations.pick(json.load(stream), rng)
        at = int(rng.integers(1, len(words)))
        words[at] = str(
            mutations.pick((*mutations.NAMES, *mutations.WORDS, *mutations.NUMBERS, "1:1e9", "9" * 400), rng)
        )
        with open(target, "w", encoding="utf-8") as stream:
            json.dump(words, stream)
    else:
        with open(source, "rb") as stream:
            data = stream.read()
        with open(target, "wb") as stream:
            stream.write(MUTATIONS[kind](data, rng))
        for beside in (source[: -len(".gltf")] + ".bin",) if kind == "gltf" else ():
            shutil.copy(beside, folder)
    return target


def damage_folder(folder: str, rng: np.random.Generator) -> None:
    """Damage one file of a job's folder, or put something else in its place."""
    files = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    path = str(mutations.pick(sorted(files), rng))
    kind = rng.random()
    if kind < 0.06:
        os.remove(path)
        mutations.pick((os.mkdir, os.mkfifo, _loop, _sparse, _zero), rng)(path)
        return
    with open(path, "rb") as stream:
        data = stream.read()
    mutate = mutations.mutate_bytes
    for ending, own in (
        (".json", _JSON),
        (".jsonl", mutations.mutate_json_lines),
        (".npz", _ARCHIVE),
    ):
        if path.endswith(ending) and data:
            mutate = own
    with open(path, "wb") as stream:
        stream.write(mutate(data, rng))


def _loop(path: str) -> None:
    os.symlink(path, path)


def _zero(path: str) -> None:
    os.symlink("/dev/zero", path)


def _sparse(path: str) -> None:
    with open(path, "wb") as stream:
        stream.truncate(200 << 30)
