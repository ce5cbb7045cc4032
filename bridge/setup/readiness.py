# SPDX-License-Identifier: GPL-3.0-or-later
"""What this machine is ready for: asked of the worker's Python in a process of its own, and remembered for the panel.

Nothing here waits. ``check_readiness`` starts a process that answers, ``poll_readiness`` reads the answer on a timer,
and ``current_readiness`` is what there is to draw.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import bpy

from ...core.child_python import find_program, start_python
from ...core.errors import LearningMissing
from ...core.files import parse_json
from ...core.learn.requirement import missing_package_error
from ..mannequin import example_walker
from ..scene.viewport import redraw_areas
from . import packages, preferences

PERIOD_S = 0.1
SHOWN_IN = ("VIEW_3D", "PREFERENCES")
"""Types of areas that show what is ready."""
_GIVE_UP_S = 120.0
_ENTRY = Path(__file__).resolve().parents[2] / "core" / "entry.py"

# MuJoCo is really imported, for one that cannot be loaded is none; torch takes seconds and is only looked for.
_QUESTION = """
import importlib.metadata, importlib.util, json, runpy, sys
runpy.run_path(sys.argv[1])["use_packages"]()
answer = {"version": "%d.%d" % sys.version_info[:2]}
for name, package in (("numpy", "numpy"), ("scipy", "scipy"), ("mujoco", "mujoco-core"), ("pybullet", "pybullet"),
                      ("cma", "cma"), ("coacd", "coacd"), ("safetensors", "safetensors"), ("torch", "torch"),
                      ("ray", "ray")):
    try:
        found = importlib.util.find_spec(name) is not None
        if found and name in ("numpy", "mujoco"):
            importlib.import_module(name)
        answer[name] = importlib.metadata.version(package) if found else ""
    except importlib.metadata.PackageNotFoundError:
        answer[name] = "?"
    except Exception as error:
        answer[name] = ""
        answer["problem"] = "%s: %s" % (name, error)
print(json.dumps(answer))
"""


_ASKED_FOR = ("version", "numpy", "scipy", "mujoco", "pybullet", "cma", "coacd", "safetensors", "torch")


@dataclass(frozen=True)
class Readiness:
    """What the worker's Python said of itself.

    python: its path. version: such as ``3.11``, '' where it did not answer.
    engine: such as ``MuJoCo 4.0.1``, '' for none. learner: such as ``PyTorch 2.13.0``, '' for none.
    missing: packages to install, by the name they are imported by; empty where everything is ready.
    problem: why it did not answer, or why something that is there does not work.
    cluster: such as ``Ray 2.60.0``, '' for none, or where jobs are done here.
    """

    python: str
    version: str = ""
    engine: str = ""
    learner: str = ""
    missing: tuple[str, ...] = ()
    problem: str = ""
    cluster: str = ""

    @property
    def simulates(self) -> bool:
        """Whether a motion can be simulated."""
        return bool(self.engine)

    @property
    def learns(self) -> bool:
        """Whether skills can be learned."""
        return bool(self.engine and self.learner)


@dataclass
class _Asking:
    python: str
    process: "subprocess.Popen[bytes]"
    answer: IO[bytes]
    looks: int = 0


_known: list[Readiness] = []  # the last answer
_asking: list[_Asking] = []  # the question that is under way


def current_readiness() -> Readiness | None:
    """The last answer; None before the first."""
    return _known[0] if _known else None


def lacks_learning() -> LearningMissing | None:
    """What the worker's Python lacks to train, and how it gets it; None where nothing is known to be missing.

    Cheap enough for ``draw``. Where nobody has asked yet, the worker itself will tell.
    """
    found = current_readiness()
    if found is None or not found.version or found.learner:
        return None
    return missing_package_error(
        found.python, next((name for name in ("torch", "safetensors") if name in found.missing), "torch")
    )


def require_learning() -> None:
    """Refuse to train with a Python that is known not to be able to."""
    if (problem := lacks_learning()) is not None:
        raise problem


def check_readiness() -> None:
    """Ask the worker's Python, at once and without waiting; an older question is dropped."""
    _drop()
    packages.apply_packages()
    wanted = os.path.expanduser(preferences.preferred_python() or sys.executable)
    python = find_program(wanted)
    if python is None:
        _known[:] = [Readiness(wanted, problem=f"The worker's Python '{wanted}' cannot be run")]
        return
    # A pipe could make us wait for whatever else holds its other end. It is open until the answer was heard.
    answer = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        process = start_python(
            python, ["-c", _QUESTION, str(_ENTRY)], outlives_us=True, stdout=answer, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        answer.close()
        _known[:] = [Readiness(python, problem=f"The worker's Python '{python}' cannot be run: {error.strerror}")]
        return
    _asking[:] = [_Asking(python, process, answer)]
    if not bpy.app.timers.is_registered(poll_readiness):
        bpy.app.timers.register(poll_readiness, first_interval=PERIOD_S, persistent=True)


def poll_readiness() -> float | None:
    """Hear the answer if there is one; seconds until the next look, None for no more."""
    if not _asking:
        return None
    asked = _asking[0]
    asked.looks += 1
    if asked.process.poll() is None and asked.looks * PERIOD_S < _GIVE_UP_S:
        return PERIOD_S
    _asking.clear()
    _known[:] = [_hear(asked)]
    redraw_areas(SHOWN_IN)
    return None


def _hear(asked: _Asking) -> Readiness:
    if asked.process.poll() is None:
        asked.process.kill()
    with asked.answer as stream:
        stream.seek(0)
        output = stream.read().decode("utf-8", "replace").strip()
    try:
        return parse_answer(asked.python, parse_json(output.splitlines()[-1]), preferences.wants_cluster())
    except (ValueError, IndexError):
        return _no_answer(asked.python)


def _no_answer(python: str) -> Readiness:
    return Readiness(python, problem=f"The worker's Python '{python}' does not answer")


def parse_answer(python: str, answer: Any, with_ray: bool = False) -> Readiness:
    """What an answer means: versions by the name that a package is imported by, '' for what is not there.

    Whatever else the program says that was chosen as a Python is no answer. with_ray: whether Ray is needed as well.
    """
    if not isinstance(answer, dict) or not all(isinstance(answer.get(name), str) for name in _ASKED_FOR):
        return _no_answer(python)
    needed = ("numpy", "scipy", "cma", "coacd")
    engine = f"MuJoCo {answer['mujoco']}" if answer["mujoco"] else ""
    if not engine and answer["pybullet"]:
        engine = f"Bullet {answer['pybullet']}"
    lacking = [name for name in needed if not answer[name]] + ([] if engine else ["mujoco"])
    problem = str(answer.get("problem", ""))
    if not answer["numpy"]:
        problem = problem or f"'{python}' has no NumPy: choose another Python, or install it there"
    learning = [name for name in ("safetensors", "torch") if not answer[name]]
    ray = str(answer.get("ray", "")) if with_ray else ""
    clustering = ["ray"] if with_ray and not ray else []
    return Readiness(
        python,
        answer["version"],
        "" if lacking else engine,
        "" if learning else f"PyTorch {answer['torch'].partition('+')[0]}",
        tuple(name for name in lacking + learning + clustering if name != "numpy"),
        problem,
        f"Ray {ray}" if ray else "",
    )


def _drop() -> None:
    while _asking:
        asked = _asking.pop()
        asked.process.kill()
        asked.answer.close()


def _first_check() -> None:
    check_readiness()
    example_walker.prepare_in_background(bpy.context.scene)  # it is what is tried first


def _check_soon() -> None:
    # Persistent: where Blender is started with a file, that is loaded before any timer runs.
    bpy.app.timers.register(_first_check, first_interval=PERIOD_S, persistent=True)


def register() -> None:
    """Tell workers of the packages, and look at what there is as soon as Blender is up and has a window."""
    packages.apply_packages()
    if not bpy.app.background:
        _check_soon()


def unregister() -> None:
    """Stop asking and forget."""
    _drop()
    for timer in (poll_readiness, _first_check):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    _known.clear()
    packages.withdraw_packages()
