# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether this Python can learn. All else in Sinew works without torch."""

import sys
from importlib import import_module

from ..errors import LearningMissing

_PACKAGES = {"torch": "torch==2.13.0", "safetensors": "safetensors==0.8.0"}
_SMALL_BUILD = "--extra-index-url https://download.pytorch.org/whl/cpu"


def require_torch() -> None:
    """Raise ``LearningMissing`` with what to install if torch or safetensors cannot be imported here."""
    _require("torch", "safetensors")


def missing_package_error(
    python: str, name: str, names: tuple[str, ...] = tuple(_PACKAGES), why: str = ""
) -> LearningMissing:
    """The error for a Python that cannot import ``name``, and how to install all of ``names``; why: its own message."""
    wanted = " ".join(_PACKAGES[one] for one in names)
    # PyPI's own build for Linux brings gigabytes of CUDA along.
    where = f" {_SMALL_BUILD}" if "torch" in names and sys.platform == "linux" else ""
    return LearningMissing(
        f"Training needs {name}, which the worker's Python ({python}) cannot import{why and f': {why}'}",
        f"Run: {python} -m pip install {wanted}{where}, or choose another Python in Sinew's preferences"
        ". Methods that do not train, such as sampling, work without it",
    )


def _require(*names: str) -> None:
    for name in names:
        try:
            import_module(name)
        except (ImportError, OSError) as error:  # OSError: a library of the system that torch links to is missing
            raise missing_package_error(sys.executable, name, names, str(error)) from error
