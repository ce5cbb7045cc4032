# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies as plain arrays and JSON: numbers in arrays, words in meta, exact to the last bit."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, BadMotion
from ..motion import Skeleton
from ..motion.io.npz import skeleton_from_arrays, skeleton_to_arrays
from .model import BodyModel, Joint, Link, Shape

VERSION = 1

_AGAIN = "Make the file again that it is in"
_JOINT_KINDS = ("free", "ball", "hinge")
_SHAPE_KINDS = ("sphere", "capsule", "box")
# By the name of a field the shape of one value; arrays hold a row for each link, or for each shape of all links.
_LINK: dict[str, tuple[int, ...]] = {"mass": (), "com": (3,), "inertia": (3, 3)}
_JOINT: dict[str, tuple[int, ...]] = {"pos": (3,), "zero_quat_wxyz": (4,), "axis": (3,)}
_JOINT |= dict.fromkeys(("lower", "upper", "max_angle", "kp", "kd", "torque_limit"), ())
_SHAPE: dict[str, tuple[int, ...]] = {"size": (3,), "pos": (3,), "quat_wxyz": (4,)}


def body_to_arrays(body: BodyModel) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """(arrays, meta) of a body and its skeleton, for ``core.files.write_arrays``."""
    links, shapes = body.links, [shape for link in body.links for shape in link.shapes]
    arrays = skeleton_to_arrays(body.skeleton)
    arrays["link_parents"] = np.array([link.parent for link in links], dtype=np.int64)
    arrays |= _columns("link", _LINK, links)
    arrays |= _columns("joint", _JOINT, [link.joint for link in links])
    arrays |= _columns("shape", _SHAPE, shapes)
    words = [
        {
            "bone": link.bone,
            "role": link.role,
            "side": link.side,
            "joint": link.joint.kind,
            "shapes": [shape.kind for shape in link.shapes],
            "merged": list(link.merged),
        }
        for link in links
    ]
    return arrays, {"version": VERSION, "names": list(body.skeleton.names), "links": words}


def body_from_arrays(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> BodyModel:
    """The inverse of ``body_to_arrays``; what is not a body is a ``BadFile`` that names what is wrong."""
    version = meta.get("version")
    if not isinstance(version, int) or version < 1:
        raise BadFile("The body has no format version inside", _AGAIN)
    if version > VERSION:
        raise BadFile(
            f"The body was written by a newer Sinew (format {version}, this one knows {VERSION})", "Update Sinew"
        )
    try:
        return _body(arrays, meta)
    except KeyError as error:
        raise BadFile(f"The body lacks {error}", _AGAIN) from error
    except BadMotion as error:
        raise BadFile(f"The body does not fit together: {error.message}", _AGAIN) from error
    except (AttributeError, TypeError, ValueError) as error:
        raise BadFile(f"The body cannot be read: {error}", _AGAIN) from error


def _columns(prefix: str, fields: Mapping[str, tuple[int, ...]], things: Sequence[Any]) -> dict[str, NDArray[Any]]:
    return {
        f"{prefix}_{name}": np.array([getattr(thing, name) for thing in things], dtype=float).reshape(-1, *shape)
        for name, shape in fields.items()
    }


def _body(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> BodyModel:
    skeleton, words = skeleton_from_arrays(meta["names"], arrays), meta["links"]
    _require_bones(skeleton, words)
    bones = [one["bone"] for one in words]
    parents = np.asarray(arrays["link_parents"])
    if parents.shape != (len(bones),) or parents.dtype.kind not in "iu":
        raise BadMotion(f"link_parents are not {len(bones)} whole numbers")
    links, joints = _rows(arrays, "link", _LINK, bones), _rows(arrays, "joint", _JOINT, bones)
    shapes = iter(_rows(arrays, "shape", _SHAPE, [one["bone"] for one in words for _ in one["shapes"]]))
    return BodyModel(
        skeleton,
        tuple(
            Link(
                bone=one["bone"],
                role=str(one["role"]),
                side=str(one["side"]),
                parent=int(parent),
                joint=Joint(_kind(one["joint"], _JOINT_KINDS, f"joint of '{one['bone']}'"), **joint),
                shapes=tuple(
                    Shape(_kind(kind, _SHAPE_KINDS, f"shape of '{one['bone']}'"), **next(shapes))
                    for kind in one["shapes"]
                ),
                merged=tuple(one["merged"]),
                **link,
            )
            for one, parent, link, joint in zip(words, parents, links, joints, strict=True)
        ),
    )


def _require_bones(skeleton: Skeleton, words: Sequence[Mapping[str, Any]]) -> None:
    """Refuse links of bones that are not there, and bones of two links."""
    taken: set[str] = set()
    for one in words:
        for bone in (one["bone"], *one["merged"]):
            if bone not in skeleton.names:
                raise BadMotion(f"the skeleton has no bone '{bone}'")
            if bone in taken:
                raise BadMotion(f"bone '{bone}' belongs to two links")
            taken.add(bone)


def _rows(
    arrays: Mapping[str, NDArray[Any]], prefix: str, fields: Mapping[str, tuple[int, ...]], owners: Sequence[str]
) -> list[dict[str, Any]]:
    """For each owner its values by field; owners: the bones that messages name."""
    rows: list[dict[str, Any]] = [{} for _ in owners]
    for field, shape in fields.items():
        name = f"{prefix}_{field}"
        array = np.asarray(arrays[name])
        if array.shape != (len(owners), *shape):
            raise BadMotion(f"{name} has shape {array.shape}, not {(len(owners), *shape)}")
        if not np.can_cast(array.dtype, np.float64):
            raise BadMotion(f"{name} holds {array.dtype}, not numbers")
        for row, owner, value in zip(rows, owners, array, strict=True):
            if not np.all(np.isfinite(value)):
                raise BadMotion(f"{name} of '{owner}' is not a number")
            row[field] = value if shape else float(value)
    return rows


def _kind(value: Any, known: Sequence[str], what: str) -> Any:
    if value not in known:
        raise BadMotion(f"the {what} is of the kind '{value}', not one of {', '.join(known)}")
    return value
