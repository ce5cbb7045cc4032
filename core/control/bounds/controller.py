# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned controller: the policy, its reference trajectory, bounds and body; to arrays and back."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...body import BodyModel
from ...body.io import body_from_arrays, body_to_arrays
from ...errors import BadFile, BoundsError, SinewError
from ...files import to_jsonable
from ...geometry.quaternions import Array
from ...learn.policy import Policy
from ...learn.rollout import arrays_under
from ...motion.skeleton import freeze_array
from .bounds import bound_names
from .observations import observation_size
from .reference_trajectory import FILM_STEPS, ReferenceTrajectory

KIND = "sinew bounds controller"
VERSION = 1
"""Newest format. Also goes up when observations change."""

_AGAIN = "Train it again, or take a copy of the file that is whole"
_FIELDS = {
    "qpos": "qpos",
    "rates": "qvel",
    "targets": "targets",
    "film": "film_qpos",
    "times_s": "times_s",
    "shift": "cycle_shift",
}
"""The reference trajectory's fields by the names that they have in a file, where it is called 'course'."""


@dataclass(frozen=True, eq=False)
class Controller:
    """A policy with everything that it needs to be played. widths: (T + 1, R) of the bounds on the reference.

    about: how it was learned, in plain values.
    """

    reference: ReferenceTrajectory
    widths: Array
    policy: Policy
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> BodyModel:
        """The body that it is for."""
        return self.reference.body


def body_fingerprint(body: BodyModel) -> str:
    """A hash of a body's numbers and words."""
    arrays, meta = body_to_arrays(body)
    found = hashlib.sha256(repr(sorted(to_jsonable(meta).items(), key=lambda item: item[0])).encode())
    for name in sorted(arrays):
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def controller_to_arrays(controller: Controller) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """(arrays, meta) of a controller."""
    reference = controller.reference
    body_arrays, body_meta = body_to_arrays(reference.body)
    policy_arrays, policy_about = controller.policy.to_arrays()
    arrays: dict[str, NDArray[Any]] = {f"body.{name}": array for name, array in body_arrays.items()}
    arrays |= {f"course.{name}": np.asarray(getattr(reference, field), dtype=float) for name, field in _FIELDS.items()}
    arrays |= {f"policy.{name}": array for name, array in policy_arrays.items()}
    arrays["widths"] = np.asarray(controller.widths, dtype=float)
    meta = {
        "kind": KIND,
        "version": VERSION,
        "sinew": __version__,
        "body": body_meta,
        "body_sha256": body_fingerprint(reference.body),
        "clip_sha256": reference.fingerprint(),
        "cyclic": reference.cyclic,
        "turn": reference.cycle_turn,
        "even": reference.symmetric,
        "bounds": list(bound_names(reference.body)),
        "policy": policy_about,
        "about": dict(controller.about),
    }
    return arrays, to_jsonable(meta)


def controller_from_arrays(
    arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], label: str = "The controller"
) -> Controller:
    """The inverse; anything else is a ``BadFile`` that says what is wrong, for it may come from anywhere."""
    if meta.get("kind") != KIND:
        raise BadFile(f"{label} is no controller", "Choose one that Sinew learned within bounds")
    version = meta.get("version")
    if not isinstance(version, int) or version < 1:
        raise BadFile(f"{label} has no format version inside", _AGAIN)
    if version > VERSION:
        raise BadFile(f"{label} is of a newer Sinew (format {version}, this one knows {VERSION})", "Update Sinew")
    try:
        controller = _read(arrays, meta)
    except KeyError as error:
        raise BadFile(f"{label} lacks {error}", _AGAIN) from error
    except SinewError as error:
        raise BadFile(f"{label} is not whole: {error.message}", error.hint or _AGAIN) from error
    except (AttributeError, TypeError, ValueError) as error:
        raise BadFile(f"{label} is not whole: {error}", _AGAIN) from error
    for what, found in (
        ("body_sha256", body_fingerprint(controller.body)),
        ("clip_sha256", controller.reference.fingerprint()),
    ):
        if meta.get(what) != found:
            raise BadFile(
                f"{label} was changed: its {what.partition('_')[0]} is not the one it was learned for", _AGAIN
            )
    return controller


def _read(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Controller:
    body = body_from_arrays(arrays_under("body.", arrays), meta["body"])
    parts = {name: _numbers(arrays[f"course.{name}"]) for name in _FIELDS}
    fields: dict[str, Any] = {field: parts[name] for name, field in _FIELDS.items()}
    fields |= {"cycle_turn": float(meta["turn"]), "symmetric": bool(meta["even"])}
    reference = ReferenceTrajectory(body, bool(meta["cyclic"]), **fields)
    steps, names = reference.steps, bound_names(body)
    shapes = {
        "qpos": (steps + 1, body.nq),
        "rates": (steps + 1, body.nv),
        "targets": (steps, FILM_STEPS, body.nu),
        "film": (steps * FILM_STEPS + 1, body.nq),
        "times_s": (steps + 1,),
        "shift": (2,),
    }
    for name, shape in shapes.items():
        if parts[name].shape != shape:
            raise BoundsError(f"its course has {name} of shape {parts[name].shape}, not {shape}")
    widths = _doubles(arrays["widths"])  # which are infinite where nothing is bound
    if list(meta["bounds"]) != list(names) or widths.shape != (steps + 1, len(names)) or not (widths > 0.0).all():
        raise BoundsError("its bounds are not those of its body")
    policy = Policy.from_arrays(arrays_under("policy.", arrays), meta["policy"])
    if (policy.observation_size, policy.action_size) != (observation_size(reference), body.nu):
        raise BoundsError("its policy sees or moves something else than this Sinew lets it", "Train it again")
    return Controller(reference, widths, policy, dict(meta["about"]))


def _numbers(array: NDArray[Any]) -> Array:
    found = _doubles(array)
    if not np.isfinite(found).all():
        raise ValueError("its course is not all numbers")
    return found


def _doubles(array: NDArray[Any]) -> Array:
    if array.dtype != np.float64:  # as it was written: what is narrower would become wider
        raise ValueError(f"its course or its bounds hold {array.dtype}, not numbers of double precision")
    return freeze_array(np.array(array))
