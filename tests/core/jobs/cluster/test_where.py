# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a job may be done, and what is said where that cannot be; without any cluster."""

import io
import platform
import subprocess
import sys
import zipfile

import pytest

from ray_cluster import needs_ray
from sinew.core import jobs
from sinew.core.child_python import child_environment
from sinew.core.errors import BadSettings
from sinew.core.jobs.cluster import node
from sinew.core.jobs.cluster.connection import explain_refusal, pack_code
from sinew.core.jobs.where import HERE, Where, parse_where

_WITHOUT_RAY = """
import runpy, sys
runpy.run_path({entry!r})["load_package"]()
sys.modules["ray"] = None
from sinew.core.jobs import worker
sys.exit(worker.main(["--where=ray", {folder!r}]))
"""


@pytest.mark.parametrize("text", ["here", "ray", "ray:10.0.0.5:6379", "ray:head.farm.local:1", "ray:[fe80::1]:6379"])
def test_a_place_is_written_as_it_is_read(text):
    assert str(parse_where(text)) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("there", "There is no 'there' to work at"),
        ("", "There is no '' to work at"),
        ("here:1", "There is no 'here:1'"),
        ("ray:", "'' is no address of a cluster"),
        ("ray:head", "'head' is no address"),
        ("ray:head:0", "'head:0' is no address"),
        ("ray:head:65536", "is no address"),
        ("ray:a b:6379", "is no address"),
        ("ray:-x:6379", "is no address"),
        ("ray:ray://x:1", "is no address"),
    ],
)
def test_what_is_no_place_is_refused(text, said):
    with pytest.raises(BadSettings) as caught:
        parse_where(text)
    assert said in caught.value.message and caught.value.hint


def test_without_ray_it_is_said_how_to_get_it_and_here_all_is_as_ever(make, same, root):
    there, here = make(), make()
    script = _WITHOUT_RAY.format(entry=str(root / "core" / "entry.py"), folder=str(there.folder))
    ended = subprocess.run([sys.executable, "-c", script], env=child_environment(), check=False, timeout=60)
    assert ended.returncode == 1 and there.status().state == "failed"
    assert "Working on a cluster needs ray" in there.status().message
    assert "-m pip install ray==2.60.0" in there.status().hint
    assert jobs.wait(here, jobs.launch(here, where=HERE)).state == "done"
    assert jobs.wait(there, jobs.launch(there)).state == "done"
    same(there.result().take.motion, here.result().take.motion)


@needs_ray
def test_an_address_where_nothing_listens(make):
    job = make()
    assert jobs.wait(job, jobs.launch(job, where=Where("ray", "127.0.0.1:9"))).state == "failed"
    assert job.status().message == "No cluster answers at 127.0.0.1:9"
    assert "ray start --head" in job.status().hint and not job.take_file.exists()


def test_a_cluster_of_another_version_or_with_a_token_is_explained():
    about = "Version mismatch: The cluster was started with:\n    Ray: 2.59.0\n    Python: 3.12.1\nThis process ..."
    found = explain_refusal(RuntimeError(about), Where("ray", "head:6379"))
    assert "another version of Ray or Python" in found.message and "Ray: 2.59.0 Python: 3.12.1" in found.message
    assert "pip install" not in found.message and "ray==2.60.0" in found.hint
    locked = ConnectionError("Failed to connect to Ray cluster at head:6379")
    locked.__context__ = RuntimeError("RPC error: InvalidAuthToken: ...")
    found = explain_refusal(locked, Where("ray", "head:6379"))
    assert "does not let this computer in" in found.message and "~/.ray/auth_token" in found.hint
    assert "ray start --address=head:6379" in explain_refusal(RuntimeError("no node"), Where("ray", "head:6379")).hint


def test_a_node_with_another_python_or_package_is_refused_by_name():
    node.check_node({"python": "{}.{}".format(*sys.version_info[:2]), "numpy": node.version_of("numpy")})
    for wanted, said in (
        ({"python": "3.8"}, "and this computer has 3.8"),
        ({"no-such-package": "1"}, "has no no-such-"),
    ):
        with pytest.raises(node.NodeProblem) as caught:
            node.check_node(wanted)
        assert platform.node() in caught.value.args[0] and said in caught.value.args[0]
        assert "then start its Ray again" in caught.value.args[1]


def test_a_node_clears_up_after_one_that_was_killed(tmp_path, monkeypatch):
    monkeypatch.setenv(node.SCRATCH, str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, strange = tmp_path / f"sinew-node-{ended.pid}-x", tmp_path / "sinew-other"
    left.mkdir(), strange.mkdir()
    made = node.make_scratch()
    assert not left.exists() and strange.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["sinew-other", made.rpartition("/")[2]])


def test_what_nodes_are_given_is_this_very_sinew(root):
    with zipfile.ZipFile(io.BytesIO(pack_code())) as archive:
        names = set(archive.namelist())
        assert {"__init__.py", "core/entry.py", "core/jobs/worker.py"} <= names
        assert any(name.startswith("presets/") for name in names) and not any("bridge" in name for name in names)
        assert archive.read("core/jobs/worker.py") == (root / "core" / "jobs" / "worker.py").read_bytes()
