# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection to a Ray cluster: made, watched, and asked for objects on its nodes.

All that Ray raises becomes a ``ClusterError`` with a fix here, or a ``NodeLost``, after which work is done again.
"""

import contextlib
import io
import os
import socket
import sys
import threading
import time
import zipfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import ClusterError
from ..where import Where
from . import node

RAY = "ray==2.60.0"
ROOMS = ("core", "presets")
_ROOT = Path(__file__).resolve().parents[3]
_ANSWERS_S, _GONE_S, _LOOK_S = 5.0, 8.0, 1.0
_WAIT_S = 0.2
_PIECE, _MOST_PIECES = 80_000, 64  # bytes: Ray takes up to 100 kB, and 10 MB in all, as little
# What decides how a take comes out, as far as this Python has it.
_SAME = ("ray", "numpy", "scipy", "mujoco-core", "pybullet", "cma", "coacd")
_SAME_TO_LEARN = ("torch", "safetensors")


class NodeLost(Exception):
    """An object is gone with its node or its process; what it was asked for is to be asked of another one."""


class Cluster:
    """A connection to a cluster. Use it in a ``with``; ``check`` often. rooms: folders of Sinew's that nodes need."""

    def __init__(self, where: Where, rooms: Sequence[str] = ROOMS) -> None:
        self.where = where
        self._ray = import_ray()
        self._gone_since: float | None = None
        self._closed = threading.Event()
        if where.address:
            require_answer(where.address)
        self._connect()
        self.address = str(self._ray.get_runtime_context().gcs_address)
        self._code = self._ray.put(pack_code(rooms))
        self._actor = self._ray.remote(max_restarts=0, max_task_retries=0)(node.NodeActor)
        threading.Thread(target=self._watch, daemon=True).start()

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        if not self.is_gone:  # or this would wait for it
            with contextlib.suppress(Exception):
                self._ray.shutdown()

    def _connect(self) -> None:
        ray = self._ray
        ray.cloudpickle.register_pickle_by_value(node)
        if self.where.address:
            use_token_if_asked(self.where.address)
        try:
            # A cluster that is started here, for this job alone, needs no web page.
            ray.init(
                address=self.where.address or None, log_to_driver=False, logging_level="ERROR", include_dashboard=False
            )
        except Exception as error:
            raise explain_refusal(error, self.where) from error

    @property
    def is_gone(self) -> bool:
        """Whether its head has not answered for some seconds."""
        return self._gone_since is not None and time.monotonic() - self._gone_since > _GONE_S

    def check(self) -> None:
        """Raise a ``ClusterError`` if the cluster is gone. Ray itself would wait for a minute, and end this process."""
        if self.is_gone:
            raise ClusterError(
                f"The cluster at {self.address} does not answer any more",
                "Resume the job here, or there once the cluster is back: what is done is kept",
            )

    def _require_head(self) -> None:
        """Return once the head answers; a ``ClusterError`` if it does not for long. Ray's own calls would hang."""
        while not answers(self.address):
            self.check()
            time.sleep(_WAIT_S)

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK_S):
            if answers(self.address):
                self._gone_since = None
            elif self._gone_since is None:
                self._gone_since = time.monotonic()

    def count_cores(self) -> list[int]:
        """Cores of each node that has any, the largest number first."""
        self._require_head()
        alive = (one for one in self._ray.nodes() if one["Alive"])
        return sorted(
            (int(one["Resources"].get("CPU", 0)) for one in alive if one["Resources"].get("CPU")), reverse=True
        )

    def put(self, value: Any) -> Any:
        """Hand something to the object store, from where nodes get it as it is needed."""
        return self._ray.put(value)

    def make(self, module: str, name: str, *words: Any, cores: float = 1, learns: bool = False) -> "NodeObject":
        """Begin to make an object of Sinew's on some node that has so many cores free."""
        self._require_head()
        actor = self._actor.options(num_cpus=cores, scheduling_strategy="SPREAD").remote()
        same = (*_SAME, *_SAME_TO_LEARN) if learns else _SAME
        wanted = {name: version for name in ("python", *same) if (version := node.version_of(name))}
        actor.set_up.remote(self._code, wanted)
        ready = actor.make.remote(f"sinew.core.jobs.cluster.{module}", name, *words)
        return NodeObject(self, actor, ready)

    def wait(self, ref: Any, until_s: float) -> Any:
        """The value of an answer, or of one in pieces; None if it is not there by that ``time.monotonic()``."""
        self.check()
        ray, exceptions = self._ray, self._ray.exceptions
        try:
            found = ray.get(ref, timeout=max(0.0, min(until_s - time.monotonic(), _WAIT_S)))
            kind, value, hint = ray.cloudpickle.loads(b"".join(found)) if isinstance(found, list) else found
        except (exceptions.GetTimeoutError, exceptions.ActorUnavailableError):
            return None
        except exceptions.RayTaskError:
            raise  # a bug of ours
        except (exceptions.RayError, OSError) as error:
            self._require_head()  # where that is gone, more than a node is
            raise NodeLost(" ".join(str(error).split())[:200]) from error
        if kind == "problem":
            raise ClusterError(value, hint)
        return (value,)

    def wait_for_any(self, refs: Sequence[Any], seconds: float) -> None:
        """Return as soon as one of these answers is there, or after so many seconds."""
        if refs and not self._gone_since:
            # Here, not on its node alone: to ask again and again for what is on its way keeps the cluster busy.
            self._ray.wait(list(refs), num_returns=1, timeout=seconds, fetch_local=True)
        else:
            time.sleep(seconds)

    def let_go(self, actor: Any) -> None:
        """End an object and its process."""
        if not self.is_gone:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)


class NodeObject:
    """An object on a node. node: the name of its computer, '' as long as it waits for a free core.

    place: the node's id.
    """

    def __init__(self, cluster: Cluster, actor: Any, ready: Any) -> None:
        self._cluster, self._actor, self._ready = cluster, actor, ready
        self.node = self.place = ""

    def is_ready(self) -> bool:
        """Whether it is there; ``NodeLost`` if it is gone again."""
        if not self.node and (found := self._cluster.wait(self._ready, 0.0)) is not None:
            self.node, self.place = found[0]
        return bool(self.node)

    def ask(self, name: str, *words: Any, size: int = 0) -> Any:
        """Call a method, without waiting: what ``Cluster.wait`` waits for.

        size: bytes that it will return, about, where that is known. Ray's way of some hundred kilobytes from node to
        node takes longer than they do themselves; in pieces that are small enough they come with its answer.
        """
        pieces = -(-size // _PIECE)
        if not 1 < pieces <= _MOST_PIECES:
            return self._actor.call.remote(name, *words)
        return self._actor.call_in_pieces.options(num_returns=pieces).remote(pieces, name, *words)

    def call(self, name: str, *words: Any) -> Any:
        """Call a method and wait for what it returns."""
        return self.result(self.ask(name, *words))

    def result(self, ref: Any) -> Any:
        """What was asked for; ``NodeLost`` if the node is lost before."""
        while (found := self._cluster.wait(ref, time.monotonic() + _WAIT_S)) is None:
            pass
        return found[0]

    def close(self) -> None:
        """End it."""
        self._cluster.let_go(self._actor)


def import_ray() -> Any:
    """Ray itself; a ``ClusterError`` says how to get it. It is told not to send anything home."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray = import_module("ray")
    except (ImportError, OSError) as error:
        raise missing_ray_error(sys.executable, str(error)) from error
    # Where Ray lies beside this Python rather than in it, the processes that it starts would not find it themselves.
    if folder := folder_beside_python():
        known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join([folder, *(one for one in known if one not in ("", folder))])
    return ray


def use_token_if_asked(address: str) -> None:
    """Let Ray use the user's token where a cluster wants one, as its own program does; its module would not."""
    with contextlib.suppress(ImportError, AttributeError):  # no part of what Ray promises to keep
        client, wrong = import_module("ray._raylet").GcsClient, import_module("ray.exceptions").AuthenticationError
        authentication = import_module("ray._private.authentication.authentication_token_setup")
        try:
            client(address=address)
        except wrong:
            authentication.maybe_enable_token_auth_if_token_available(False)
        except Exception:  # noqa: BLE001 - what else is wrong, connecting will tell
            return


def folder_beside_python() -> str:
    """The folder of ``SINEW_PACKAGES`` that this Python has Ray from; '' where it has it itself."""
    found = find_spec("ray")
    folder = os.path.dirname(os.path.dirname(found.origin)) if found is not None and found.origin else ""
    return folder if folder in os.environ.get("SINEW_PACKAGES", "").split(os.pathsep) else ""


def missing_ray_error(python: str, why: str = "") -> ClusterError:
    """The error for a Python that cannot import Ray; why: its own message."""
    return ClusterError(
        f"Working on a cluster needs ray, which the worker's Python ({python}) cannot import{why and f': {why}'}",
        f"Run: {python} -m pip install {RAY}; or set Where to ray in Blender and press Install Ray in Sinew's tab; "
        "or work here",
    )


def require_answer(address: str) -> None:
    """Refuse an address where nothing listens: Ray would try for a long time."""
    if not answers(address, _ANSWERS_S):
        raise ClusterError(
            f"No cluster answers at {address}",
            "See whether its head runs (ray start --head) and whether a firewall is in the way, or choose to work here",
        )


def answers(address: str, timeout_s: float = 2.0) -> bool:
    """Whether something listens there."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=timeout_s):
            return True
    except OSError:
        return False


def explain_refusal(error: Exception, where: Where) -> ClusterError:
    """Why Ray did not connect, and what to do about it."""
    text = " ".join(str(error).split())
    whole = " ".join(map(str, _causes(error)))
    if "Version mismatch" in text:
        about = text.partition("Version mismatch:")[2].strip()
        return ClusterError(
            f"The cluster has another version of Ray or Python than this computer: {about}",
            f"Install the same on both, such as {RAY}, or choose another worker's Python in Sinew's preferences",
        )
    if "uthenticat" in whole or "AuthToken" in whole:
        return ClusterError(
            f"The cluster does not let this computer in: {text[:300]}",
            "Put the cluster's token into ~/.ray/auth_token on this computer, or name its file in RAY_AUTH_TOKEN_PATH",
        )
    joins = f"Run: {ray_program()} stop, and try again"
    if where.address:
        joins = (
            f"If this computer is no part of it yet, run: {ray_program()} start --address={where.address} --num-cpus=0."
            " If it has a token, put that into ~/.ray/auth_token here, as its nodes have it"
        )
    return ClusterError(f"Ray could not connect: {text[:300]}", joins)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came of."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def ray_program() -> str:
    """What to type for Ray's own program: one that Sinew installed is on no path."""
    folder = folder_beside_python()
    return f"PYTHONPATH='{folder}' '{sys.executable}' -m ray.scripts.scripts" if folder else "ray"


def pack_code(rooms: Sequence[str] = ROOMS) -> bytes:
    """This Sinew's core and presets as an archive, or other folders of it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.write(_ROOT / "__init__.py", "__init__.py")
        for folder in rooms:
            for path in sorted((_ROOT / folder).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    archive.write(path, str(path.relative_to(_ROOT)))
    return buffer.getvalue()
