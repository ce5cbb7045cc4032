# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage on its way to another process: plain arrays and JSON, no pickles."""

import io
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ....body import BodyModel, Joint, Link, Shape
from ....motion import Skeleton
from ...stage import Character, Obstacle, Prop, Push, Stage, Terrain

_KINDS = {
    kind.__name__: kind
    for kind in (BodyModel, Character, Joint, Link, Obstacle, Prop, Push, Shape, Skeleton, Stage, Terrain)
}


def pack(stage: Stage) -> bytes:
    """The stage as an ``.npz``: every array by number, and a tree of JSON that says where each belongs."""
    arrays: dict[str, np.ndarray] = {}
    tree = _pack(stage, arrays)
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, tree=np.array(json.dumps(tree)), **arrays)
    return stream.getvalue()


def unpack(data: bytes) -> Stage:
    """The inverse of ``pack``."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        stage = _unpack(json.loads(str(archive["tree"])), archive)
    assert isinstance(stage, Stage)
    return stage


def _pack(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if is_dataclass(value):
        parts = {field.name: _pack(getattr(value, field.name), arrays) for field in fields(value)}
        return {"kind": type(value).__name__, "parts": parts}
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, tuple | list):
        return [_pack(part, arrays) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _unpack(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(value, list):
        return tuple(_unpack(part, arrays) for part in value)
    if isinstance(value, dict):
        if "array" in value:
            return arrays[value["array"]]
        return _KINDS[value["kind"]](**{name: _unpack(part, arrays) for name, part in value["parts"].items()})
    return value
