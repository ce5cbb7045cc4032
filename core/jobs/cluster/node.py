# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node is given to begin with: it unpacks this very Sinew, and calls one object of it.

Ray carries this module to nodes as it stands, so it knows nothing but the standard library. So no node can have another
Sinew than the one that asks.
"""

import atexit
import importlib
import importlib.metadata
import io
import os
import platform
import runpy
import shutil
import sys
import tempfile
import zipfile
from typing import Any

SCRATCH = "SINEW_SCRATCH"
"""The environment variable of a node that says where it keeps jobs while it works at them."""

Answer = tuple[str, Any, str]
"""('value', what was returned, '') or ('problem', message, hint)."""


class NodeActor:
    """An object of Sinew's on a node, of which methods are called by name."""

    def __init__(self) -> None:
        self._it: Any = None
        self._problem: Answer | None = None

    def set_up(self, code: bytes, wanted: dict[str, str]) -> None:
        """Unpack Sinew, and see that the node has what is wanted (package -> version)."""
        try:
            check_node(wanted)
            load_code(code)
        except Exception as error:  # noqa: BLE001 - told at home, or raised again
            self._problem = describe_problem(error)

    def make(self, module: str, name: str, *words: Any) -> Answer:
        """Make the object, whose words may be things of Sinew's by now; gives the node's name and Ray's id of it."""
        try:
            self._it = self._it or (None if self._problem else getattr(importlib.import_module(module), name)(*words))
        except Exception as error:  # noqa: BLE001 - told at home, or raised again
            self._problem = describe_problem(error)
        place = importlib.import_module("ray").get_runtime_context().get_node_id()
        return self._problem or ("value", (platform.node(), place), "")

    def call(self, name: str, *words: Any) -> Answer:
        """Call a method of the object."""
        try:
            return "value", getattr(self._it, name)(*words), ""
        except Exception as error:  # noqa: BLE001 - told at home, or raised again
            return describe_problem(error)

    def call_in_pieces(self, count: int, name: str, *words: Any) -> tuple[bytes, ...]:
        """The same in so many pieces: small ones travel with Ray's answer and not by its object stores."""
        data: bytes = importlib.import_module("ray").cloudpickle.dumps(self.call(name, *words))
        size = -(-len(data) // count)
        return tuple(data[size * piece : size * (piece + 1)] for piece in range(count))


class NodeProblem(Exception):
    """What is wrong with a node, and what to do about it."""


def describe_problem(error: Exception) -> Answer:
    """An error for people as what it says and its hint; any other one is a bug and goes on its way."""
    node = platform.node()
    if isinstance(error, NodeProblem):
        return "problem", *error.args
    if isinstance(error, OSError) and error.errno is not None:
        where = error.filename or scratch_folder()
        return (
            "problem",
            f"Node '{node}' cannot write to '{where}': {error.strerror}",
            (f"Free space there, or let {SCRATCH} on that node name a folder with room, and resume"),
        )
    if hasattr(error, "message") and hasattr(error, "hint"):
        return "problem", f"On node '{node}': {error.message}", str(error.hint)
    raise error


def check_node(wanted: dict[str, str]) -> None:
    """Refuse a node that has other versions than those wanted: its results would be others."""
    for name, version in wanted.items():
        there = version_of(name)
        if there == version:
            continue
        label = "Python" if name == "python" else name
        has = f"has {label} {there}" if there else f"has no {label}"
        fix = f"python -m pip install {name}=={version}" if name != "python" else f"use Python {version} for its Ray"
        raise NodeProblem(
            f"Node '{platform.node()}' {has}, and this computer has {version}",
            f"On that node: {fix}, then start its Ray again, and resume",
        )


def version_of(name: str) -> str:
    """The version of Python, or of a package; '' for one that is not there."""
    if name == "python":
        return "{}.{}".format(*sys.version_info[:2])
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def scratch_folder() -> str:
    """Where this node keeps what it works at; a ``NodeProblem`` where that is not there."""
    folder = os.environ.get(SCRATCH) or tempfile.gettempdir()
    if not os.path.isdir(folder):
        raise NodeProblem(
            f"Node '{platform.node()}' has no folder '{folder}', which its {SCRATCH} names",
            "Mount the share there, or name another folder, then start its Ray again, and resume",
        )
    return folder


def make_scratch() -> str:
    """A new folder that nobody else may look into, gone when this process ends; those of killed ones go now."""
    home = scratch_folder()
    try:
        names = os.listdir(home)
    except OSError:  # others may not list it, and have a folder of their own in it all the same
        names = []
    for name in names:
        parts = name.split("-")
        if name.startswith("sinew-node-") and parts[2].isdecimal() and not _lives(int(parts[2])):
            shutil.rmtree(os.path.join(home, name), ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=f"sinew-node-{os.getpid()}-", dir=home)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def load_code(code: bytes) -> None:
    """Load the package ``sinew`` from an archive, once in a process."""
    if "sinew" in sys.modules:
        return
    home = os.path.join(make_scratch(), "sinew")
    with zipfile.ZipFile(io.BytesIO(code)) as archive:
        archive.extractall(home)
    runpy.run_path(os.path.join(home, "core", "entry.py"))["load_package"]()
