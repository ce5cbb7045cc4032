# SPDX-License-Identifier: GPL-3.0-or-later
"""A Ray cluster on this computer in a process of its own, which does what it is told a line at a time.

Whatever becomes of who started it, the cluster goes with it: it ends when its standard input does.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.child_python import start_python

_CLUSTER = """
import json, os, sys
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
from ray.cluster_utils import Cluster

SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
# A node that is gone is seen so after a second, not after ten. What is done there is as urgent as what is done here.
QUICK = {"health_check_initial_delay_ms": 500, "health_check_period_ms": 300, "health_check_timeout_ms": 1000,
         "health_check_failure_threshold": 3, "worker_niceness": 0}
ALONE = {"num_cpus": 0, "no_monitor": True, "include_log_monitor": False}
cluster = Cluster(initialize_head=True, head_node_args={"_system_config": QUICK, **ALONE, **SMALL})
nodes = {}

def add(name, cores, variables):
    os.environ.update(variables)
    nodes[name] = cluster.add_node(wait=False, num_cpus=cores, **SMALL)
    for variable in variables:
        del os.environ[variable]

def kill(name):
    node = cluster.head_node if name == "head" else nodes[name]
    for kind in ("gcs_server", "raylet"):
        for info in node.all_processes.get(kind, ()):
            info.process.kill()
    cluster.worker_nodes.discard(node)

def wait():
    cluster.wait_for_nodes()

print(json.dumps(cluster.address), flush=True)
try:
    for line in sys.stdin:
        name, *words = json.loads(line)
        globals()[name](*words)
        print("null", flush=True)
finally:
    cluster.shutdown()
"""


class LocalCluster:
    """A head without cores at ``address``, and the nodes that are added to it."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.address = json.loads(self._read())

    @property
    def where(self) -> str:
        """What ``--where`` takes."""
        return f"ray:{self.address}"

    def _read(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the cluster ended")
        return line

    def tell(self, *words: Any) -> None:
        """Let the process do something, and wait for it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words).encode() + b"\n")
        self._process.stdin.flush()
        self._read()

    def add(self, *names: str, cores: int = 1, **variables: str) -> None:
        """Add nodes whose processes have these variables, and wait for them."""
        for name in names:
            self.tell("add", name, cores, variables)
        self.tell("wait")

    def kill(self, name: str) -> None:
        """SIGKILL a node, or 'head'."""
        self.tell("kill", name)


@contextmanager
def local_cluster(*names: str, cores: int = 1) -> Iterator[LocalCluster]:
    """A cluster with these nodes."""
    pipe = subprocess.PIPE
    process = start_python(sys.executable, ["-c", _CLUSTER], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
    assert process.stdin is not None and process.stdout is not None
    try:
        cluster = LocalCluster(process)
        cluster.add(*names, cores=cores)
        yield cluster
    finally:
        process.stdin.close()
        try:
            process.wait(30.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
