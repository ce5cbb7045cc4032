# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings and policies as files: safetensors, which hold arrays and a description in JSON, and can't run code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile
from ..files import write_whole
from .policy import Policy
from .requirement import need_safetensors

_ABOUT = "sinew"
_FORMAT = 1
_LARGEST = 1 << 31
"""Bytes. What Sinew writes is a hundredth of it; a file of another kind must not fill the memory."""


def write_policy(path: Path, policy: Policy, about: Mapping[str, Any]) -> None:
    """Write a policy with what it is for, such as its body and clip."""
    arrays, own = policy.to_arrays()
    write_tensors(path, "policy", arrays, {"policy": own, "about": dict(about)})


def read_policy(path: Path) -> tuple[Policy, dict[str, Any]]:
    """A policy and what it is for; anything but a whole one is a ``BadFile`` that names the file."""
    arrays, described = read_tensors(path, "policy")
    own, about = described.get("policy"), described.get("about")
    if not isinstance(own, dict) or not isinstance(about, dict):
        raise BadFile(f"'{path}' does not say what its policy is like", "Train it again, or choose another file")
    try:
        return Policy.from_arrays(arrays, own), about
    except BadFile as error:
        raise BadFile(f"'{path}' cannot be used: {error.message}", error.hint) from error


def write_tensors(path: Path, kind: str, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write arrays of numbers and a description, whole or not at all."""
    need_safetensors()
    from safetensors.numpy import save

    text = json.dumps({"kind": kind, "format": _FORMAT, **about}, ensure_ascii=False, allow_nan=False)
    write_whole(path, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, {_ABOUT: text}))


def read_tensors(path: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """What ``write_tensors`` wrote: (arrays, description). Torn, newer and foreign files are a ``BadFile``."""
    need_safetensors()
    from safetensors import SafetensorError
    from safetensors.numpy import load

    hint = f"Choose a {kind} that Sinew has written"
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("it is far too large")
        data = path.read_bytes()
        arrays: dict[str, NDArray[Any]] = load(data)
        # Only after the library has found the file whole: its header is JSON, as long as its first eight bytes say.
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        about = json.loads(header["__metadata__"][_ABOUT])
        found, number = about["kind"], about["format"]
    except FileNotFoundError as error:
        raise BadFile(f"'{path}' does not exist") from error
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise BadFile(f"'{path}' is not a whole {kind} of Sinew: {error}", hint) from error
    if found != kind:
        raise BadFile(f"'{path}' is a {found}, not a {kind}", hint)
    if number != _FORMAT:
        raise BadFile(
            f"'{path}' is of format {number}, and this Sinew reads {_FORMAT}", "Update Sinew, or write it again"
        )
    return arrays, about
