# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers as files that cannot run code: safetensors with their description as JSON in the header.

The format is a length, a JSON header, and numbers. It is read and written here with NumPy alone, because Blender's own
Python, which attaches controllers to jobs, has no library for it.
"""

import json
import math
from collections.abc import Mapping
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import limits
from ...errors import BadFile
from ...files import CHECKSUM, checksum_of, parse_json, read_bytes, write_whole
from ...npz_checks import require_wide_numbers
from ...paths import is_there
from .controller import Controller, controller_from_arrays, controller_to_arrays

ENDING = ".safetensors"
_DESCRIPTION = "sinew"
_TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BOOL": "|b1"}
_NAMES = {np.dtype(own): name for name, own in _TYPES.items()}
_AGAIN = "Train it again, or take a copy of the file that is whole"

Content = tuple[dict[str, NDArray[Any]], dict[str, Any]]


def save_controller(path: Path, controller: Controller) -> None:
    """Write the controller whole."""
    write_controller_content(path, *controller_to_arrays(controller))


def load_controller(path: Path) -> Controller:
    """Read a controller; anything else is a ``BadFile`` that says what is wrong."""
    return controller_from_arrays(*read_controller_content(path), label=f"'{path}'")


def write_controller_content(path: Path, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
    """Write arrays and their description, as a job attaches them and hands them over, with a checksum of both."""
    about = {_DESCRIPTION: json.dumps(dict(meta), allow_nan=False), CHECKSUM: checksum_of(arrays, meta)}
    header: dict[str, Any] = {"__metadata__": about}
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


def read_controller_content(path: Path) -> Content:
    """(arrays, description) of a controller file; one that is torn, foreign or boundless is a ``BadFile``."""
    if not is_there(path):
        raise BadFile(f"'{path}' does not exist", "Choose another file, or train it again")
    data = read_bytes(path, limits.LEARNED_BYTES)
    try:
        length = int.from_bytes(data[:8], "little")
        if len(data) < 8 or length > len(data) - 8:
            raise ValueError("it is too short")
        if length > limits.TENSOR_HEADER_BYTES:
            raise ValueError(f"its header has {length} bytes, and at most {limits.TENSOR_HEADER_BYTES} are read")
        header = parse_json(data[8 : 8 + length].decode("utf-8"))
        about = header.pop("__metadata__")
        meta = parse_json(about[_DESCRIPTION])
        numbers = memoryview(data)[8 + length :]
        _require_side_by_side(header, len(numbers))
        arrays = {str(name): _array(its, numbers) for name, its in header.items()}
        require_wide_numbers(8 * sum(array.size for array in arrays.values()), len(data))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise BadFile(f"'{path}' is not a whole controller: {error}", _AGAIN) from error
    if not isinstance(meta, dict):
        raise BadFile(f"'{path}' has no readable description inside", _AGAIN)
    noted = about.get(CHECKSUM)  # files from before have none
    if noted is not None and noted != checksum_of(arrays, meta):
        raise BadFile(f"'{path}' is damaged: it is not what was written", _AGAIN)
    return arrays, meta


def _require_side_by_side(header: Mapping[str, Any], size: int) -> None:
    """As the format wants it, every byte is part of one array and no other: what overlaps would be there many times."""
    if len(header) > limits.TENSORS:
        raise ValueError(f"it has {len(header)} arrays, and at most {limits.TENSORS} are read")
    at = 0
    for first, last in sorted(
        (index(its["data_offsets"][0]), index(its["data_offsets"][1])) for its in header.values()
    ):
        if first != at or last < first:
            raise ValueError("its arrays overlap, or have gaps between them")
        at = last
    if at != size:
        raise ValueError("a part of it is missing, or too much")


def _array(about: Mapping[str, Any], data: memoryview) -> NDArray[Any]:
    first, last = (index(place) for place in about["data_offsets"])
    shape = tuple(index(size) for size in about["shape"])
    kind = np.dtype(_TYPES[about["dtype"]])
    if min(shape, default=0) < 0:
        raise ValueError("an array has less than nothing in it")
    if last - first != kind.itemsize * math.prod(shape):
        raise ValueError("an array is not as long as its shape says")
    return np.frombuffer(data[first:last], dtype=kind).reshape(shape).copy()
