# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers as files that cannot run code: safetensors with their description as JSON in the header.

The format is a length, a JSON header, and numbers. It is read and written here with NumPy alone, because Blender's own
Python, which attaches controllers to jobs, has no library for it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile
from ...files import write_whole
from .controller import Controller, controller_from_arrays, controller_to_arrays

ENDING = ".safetensors"
_DESCRIPTION = "sinew"
_TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BOOL": "|b1"}
_NAMES = {np.dtype(own): name for name, own in _TYPES.items()}
_LONGEST_HEADER = 100_000_000  # the format's own limit
_AGAIN = "Train it again, or take a copy of the file that is whole"

Content = tuple[dict[str, NDArray[Any]], dict[str, Any]]


def save_controller(path: Path, controller: Controller) -> None:
    """Write the controller whole."""
    write_content(path, *controller_to_arrays(controller))


def load_controller(path: Path) -> Controller:
    """Read a controller; anything else is a ``BadFile`` that says what is wrong."""
    return controller_from_arrays(*read_content(path), label=f"'{path}'")


def write_content(path: Path, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
    """Write arrays and their description, as a job attaches them and hands them over."""
    header: dict[str, Any] = {"__metadata__": {_DESCRIPTION: json.dumps(dict(meta), allow_nan=False)}}
    parts, at = [], 0
    for name, array in arrays.items():
        kind = _NAMES.get(array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype)
        if kind is None:
            raise TypeError(f"array '{name}' holds {array.dtype}, which no controller has")
        data = np.ascontiguousarray(array, dtype=_TYPES[kind]).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers are aligned
    write_whole(path, b"".join([len(text).to_bytes(8, "little"), text, *parts]))


def read_content(path: Path) -> Content:
    """(arrays, description) of what ``write_content`` wrote; torn and foreign files are a ``BadFile``."""
    try:
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        if len(data) < 8 or length > min(len(data) - 8, _LONGEST_HEADER):
            raise ValueError("it is too short")
        header = json.loads(data[8 : 8 + length])
        meta = json.loads(header.pop("__metadata__")[_DESCRIPTION])
        arrays = {str(name): _array(about, memoryview(data)[8 + length :]) for name, about in header.items()}
    except FileNotFoundError as error:
        raise BadFile(f"'{path}' does not exist", "Choose another file, or train it again") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise BadFile(f"'{path}' is not a whole controller: {error}", _AGAIN) from error
    if not isinstance(meta, dict):
        raise BadFile(f"'{path}' has no readable description inside", _AGAIN)
    return arrays, meta


def _array(about: Mapping[str, Any], data: memoryview) -> NDArray[Any]:
    first, last = (int(place) for place in about["data_offsets"])
    shape = tuple(int(size) for size in about["shape"])
    kind = np.dtype(_TYPES[about["dtype"]])
    if not 0 <= first <= last <= len(data) or min(shape, default=0) < 0:
        raise ValueError("a part of it is missing")
    if last - first != kind.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError("an array is not as long as its shape says")
    return np.frombuffer(data[first:last], dtype=kind).reshape(shape).copy()
