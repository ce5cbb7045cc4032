# SPDX-License-Identifier: GPL-3.0-or-later
"""A few of the kills of ``./sinew kills``, and that it would tell what they break."""

import importlib.util
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from sinew.core import jobs
from sinew.core.errors import JobError
from sinew.core.files import read_arrays, write_arrays
from sinew.core.jobs import checkpoints
from sinew.core.motion.plain_walk import plain_walk

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")


@pytest.fixture(scope="module")
def kills():
    """``tools.kills.killing`` and ``tools.kills.targets``."""
    sys.path.insert(0, str(ROOT))
    try:
        from tools.kills import killing, targets
    finally:
        sys.path.remove(str(ROOT))
    return killing, targets


@pytest.mark.parametrize(("name", "count"), [("worker", 3)])
def test_killed_by_seed_it_comes_to_the_same_end(kills, name, count, tmp_path):
    killing, targets = kills
    toll = killing.kill_target(targets.TARGETS[name](), count, 4, tmp_path)
    assert toll.broken == "" and toll.kills == count and toll.runs >= 1


def test_what_a_kill_breaks_is_told(kills, tmp_path):
    killing, targets = kills

    class Doubled(targets.WorkerTarget):
        def outcome(self):
            if self.folder.name != "peace":
                with self.job.events.open("a") as stream:
                    stream.write(self.job.events.read_text().splitlines()[-1] + "\n")
            return super().outcome()

    toll = killing.kill_target(Doubled(), 1, 4, tmp_path)
    assert "the job ended ['done', 'done']" in toll.broken


def test_a_creation_that_was_killed_leaves_nothing_behind(tmp_path):
    folder = tmp_path / "job"
    (folder / "inputs").mkdir(parents=True)
    for name in (".spec.json.0123456789ab.part", "inputs/.rig.npz.50aa045e606a.part"):
        (folder / name).write_bytes(b"half")
    jobs.create(plain_walk().frames(0, 4), method="passthrough", settings={}, folder=folder)
    assert not [path.name for path in folder.rglob("*.part")]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".mine.part").write_bytes(b"somebody's")
    with pytest.raises(JobError, match="holds other files"):
        jobs.create(plain_walk().frames(0, 4), method="passthrough", settings={}, folder=tmp_path / "other")
    assert (tmp_path / "other" / ".mine.part").read_bytes() == b"somebody's"


def test_an_installation_killed_between_two_renames_is_put_back(tmp_path):
    source = ROOT / "bridge" / "setup" / "installing" / "run.py"
    spec = importlib.util.spec_from_file_location("sinew_installer", source)
    run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run)
    old = tmp_path / ".python3.11.old"
    old.mkdir()
    (old / "scipy.py").write_text("")
    (tmp_path / ".python3.11.part").mkdir()
    run.restore(tmp_path)
    assert (tmp_path / "python3.11" / "scipy.py").is_file() and not old.exists()
    old.mkdir()
    run.restore(tmp_path)
    assert old.exists() and (tmp_path / "python3.11" / "scipy.py").is_file(), "what is in place stays in place"


def test_a_checkpoint_that_is_not_what_was_written_is_skipped(tmp_path):
    rng = np.random.default_rng(1)
    for step in (1, 2):
        checkpoints.write_checkpoint(tmp_path, step, {"pos": np.arange(4.0)}, rng)
    arrays, meta = read_arrays(tmp_path / "00000002.npz")
    with np.load(tmp_path / "00000002.npz") as archive:
        noted = json.loads(str(archive["meta"]))["checksum"]
    write_arrays(tmp_path / "00000002.npz", {"elsewhere": arrays["pos"]}, {**meta, "checksum": noted})
    (tmp_path / "²³.npz").write_bytes(b"")
    assert checkpoints.read_newest_checkpoint(tmp_path, rng)[0] == 1
    # One from before has no checksum.
    write_arrays(tmp_path / "00000003.npz", arrays, {key: meta[key] for key in ("kind", "rng")} | {"step": 3})
    assert checkpoints.read_newest_checkpoint(tmp_path, rng)[0] == 3
