# SPDX-License-Identifier: GPL-3.0-or-later
"""What was learned, as it is kept: the policy, the course that feeds it forward, the bounds, and the body it is for."""

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
from ...motion.skeleton import freeze_array
from .bounds import bound_names
from .course import FILM_STEPS, Course
from .observations import observation_size

KIND = "sinew bounds controller"
VERSION = 1
"""Newest format. Also goes up when policies see something else."""

_AGAIN = "Train it again, or take a copy of the file that is whole"
_COURSE = ("qpos", "rates", "targets", "film", "times_s", "shift")


@dataclass(frozen=True, eq=False)
class Controller:
    """A policy with everything that it needs to be played. widths: (T + 1, R) the bounds on the course.

    about: how it was learned, in plain values.
    """

    course: Course
    widths: Array
    policy: Policy
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> BodyModel:
        """Whose it is."""
        return self.course.body


def body_fingerprint(body: BodyModel) -> str:
    """A hash of a body's numbers and words."""
    arrays, meta = body_to_arrays(body)
    found = hashlib.sha256(repr(sorted(to_jsonable(meta).items(), key=lambda item: item[0])).encode())
    for name in sorted(arrays):
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def controller_to_arrays(controller: Controller) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """(arrays, meta) of a controller."""
    course = controller.course
    body_arrays, body_meta = body_to_arrays(course.body)
    policy_arrays, policy_about = controller.policy.to_arrays()
    arrays: dict[str, NDArray[Any]] = {f"body.{name}": array for name, array in body_arrays.items()}
    arrays |= {f"course.{name}": np.asarray(getattr(course, name), dtype=float) for name in _COURSE}
    arrays |= {f"policy.{name}": array for name, array in policy_arrays.items()}
    arrays["widths"] = np.asarray(controller.widths, dtype=float)
    meta = {
        "kind": KIND,
        "version": VERSION,
        "sinew": __version__,
        "body": body_meta,
        "body_sha256": body_fingerprint(course.body),
        "clip_sha256": course.fingerprint(),
        "cyclic": course.cyclic,
        "turn": course.turn,
        "even": course.even,
        "bounds": list(bound_names(course.body)),
        "policy": policy_about,
        "about": dict(controller.about),
    }
    return arrays, to_jsonable(meta)


def controller_from_arrays(
    arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], label: str = "The controller"
) -> Controller:
    """The inverse; what is no controller is a ``BadFile`` that says what is wrong, for it may come from anywhere."""
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
        ("clip_sha256", controller.course.fingerprint()),
    ):
        if meta.get(what) != found:
            raise BadFile(
                f"{label} was changed: its {what.partition('_')[0]} is not the one it was learned for", _AGAIN
            )
    return controller


def _read(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Controller:
    body = body_from_arrays(_within(arrays, "body."), meta["body"])
    parts = {name: _numbers(arrays[f"course.{name}"]) for name in _COURSE}
    course = Course(body, bool(meta["cyclic"]), turn=float(meta["turn"]), even=bool(meta["even"]), **parts)
    steps, names = course.steps, bound_names(body)
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
    widths = np.asarray(arrays["widths"], dtype=float)
    if list(meta["bounds"]) != list(names) or widths.shape != (steps + 1, len(names)) or not (widths > 0.0).all():
        raise BoundsError("its bounds are not those of its body")
    policy = Policy.from_arrays(_within(arrays, "policy."), meta["policy"])
    if (policy.observation_size, policy.action_size) != (observation_size(course), body.nu):
        raise BoundsError("its policy sees or moves something else than this Sinew lets it", "Train it again")
    return Controller(course, freeze_array(widths), policy, dict(meta["about"]))


def _numbers(array: NDArray[Any]) -> Array:
    found = np.array(array, dtype=float)
    if not np.isfinite(found).all():
        raise ValueError("its course is not all numbers")
    return freeze_array(found)


def _within(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
