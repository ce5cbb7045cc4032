# SPDX-License-Identifier: GPL-3.0-or-later
"""Spacetime bounds (section 3.2): how far a body may be from its reference, over time, before an episode terminates.

A bound has a name: 'com x', 'com y', 'com z' (metres), 'root' (radians), 'joint thigh.L' (radians in the joint's own
frame), 'effector foot.L' (metres, relative to the root in a frame with the body's heading).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.poses import link_transforms, pose_of_clip
from ...errors import BadFile, BoundsError
from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.skeleton import freeze_array
from ..method import Run
from .observations import RelativeKinematics
from .presets import BoundsPreset, bounds_preset
from .reference_trajectory import EndEffectors, ReferenceTrajectory, pose_centre_of_mass

BOUNDS, BOUNDS_KEYS = "bounds", "bounds_keys"
"""Names of the job's attachments: (F, R) widths at the clip's frames with the bounds' names; and keys for some bounds,
and bounds that are off, on top of those or of a preset's."""

AXES = ("com x", "com y", "com z")
_ROOT, _JOINT, _EFFECTOR = "root", "joint ", "effector "


def bound_names(body: BodyModel) -> tuple[str, ...]:
    """Every bound that a body can have, in the order of their columns."""
    joints = (f"{_JOINT}{link.bone}" for link in body.links[1:])
    return (*AXES, _ROOT, *joints, *(f"{_EFFECTOR}{name}" for name in EndEffectors(body).names))


@dataclass(frozen=True, eq=False)
class Bounds:
    """Widths to both sides of the reference, for R bounds of one body.

    names: (R,) as ``bound_names`` has them. widths: (F, R) metres and radians in F frames; infinite where a bound is
    off. A single row is the same for all time.
    """

    names: tuple[str, ...]
    widths: Array

    def __post_init__(self) -> None:
        widths = np.array(self.widths, dtype=float)
        if widths.ndim != 2 or not len(widths) or widths.shape[1] != len(self.names):
            raise BoundsError(f"Widths of shape {widths.shape} are not frames of {len(self.names)} bounds")
        narrow = ~(widths > 0.0)
        if narrow.any():
            frame, bound = (int(index) for index in np.argwhere(narrow)[0])
            where = f" at frame {frame}" if len(widths) > 1 else ""
            raise BoundsError(
                f"The bound '{self.names[bound]}' is {widths[frame, bound]:g} wide{where}: nothing is within it",
                "Make it wider than zero, or switch it off",
            )
        object.__setattr__(self, "widths", freeze_array(widths))

    def with_keys(self, name: str, keys: Mapping[int, float], frames: int) -> "Bounds":
        """The bounds of a clip of so many frames with one keyed: straight lines between keys (frame -> width)."""
        self._require_known(name)
        outside = [frame for frame in keys if not 0 <= frame < frames]
        if outside or not keys:
            what = f"has a key at frame {outside[0]}" if outside else "has no keys"
            raise BoundsError(
                f"The bound '{name}' {what}, and the clip the frames 0 to {frames - 1}",
                "Put its keys within the clip, or learn a longer range of the Action",
            )
        widths = np.array(np.broadcast_to(self._all(frames), (frames, len(self.names))))
        at = np.array(sorted(keys), dtype=float)
        widths[:, self.names.index(name)] = np.interp(np.arange(frames), at, [keys[int(frame)] for frame in at])
        return Bounds(self.names, widths)

    def without(self, *names: str) -> "Bounds":
        """The bounds with some switched off."""
        widths = np.array(self.widths)
        for name in names:
            self._require_known(name)
            widths[:, self.names.index(name)] = np.inf
        return Bounds(self.names, widths)

    def at(self, times_s: Array, clip: Clip) -> Array:
        """(K, R) widths at seconds (K,) of a clip whose frames they are of; off where the frame before or after is."""
        if len(self.widths) == 1:
            return np.repeat(self.widths, len(times_s), axis=0)
        if len(self.widths) != len(clip):
            raise BoundsError(
                f"The bounds have {len(self.widths)} frames, and the clip '{clip.name}' {len(clip)}",
                "Give one width, or one for every frame of the clip",
            )
        place = np.clip(times_s * clip.fps, 0.0, len(clip) - 1.0)
        low = np.minimum(place.astype(int), len(clip) - 2)
        part = (place - low)[:, None]
        with np.errstate(invalid="ignore"):
            found = self.widths[low] * (1.0 - part) + self.widths[low + 1] * part
        return np.where(np.isfinite(found), found, np.inf)

    def _all(self, frames: int) -> Array:
        if len(self.widths) not in (1, frames):
            raise BoundsError(f"The bounds have {len(self.widths)} frames already, not {frames}")
        return self.widths

    def _require_known(self, name: str) -> None:
        if name not in self.names:
            raise BoundsError(f"There is no bound '{name}'", f"The body's bounds are: {', '.join(self.names)}")


def bounds_of_preset(body: BodyModel, preset: BoundsPreset | str) -> Bounds:
    """A preset's bounds for a body, the same for all time."""
    chosen = bounds_preset(preset) if isinstance(preset, str) else preset
    joints = [_of_role(chosen.joints, role) for role in body.joint_roles[1:]]
    effectors = [_of_role(chosen.effectors, body.links[index].role) for index in EndEffectors(body).links]
    widths = [*chosen.com, chosen.root, *joints, *effectors]
    return Bounds(bound_names(body), np.array([[np.inf if width is None else width for width in widths]]))


def _of_role(widths: float | Mapping[str, float] | None, role: str) -> float | None:
    return widths.get(role) if isinstance(widths, Mapping) else widths


def attach_bounds(bounds: Bounds) -> dict[str, tuple[dict[str, NDArray[Any]], dict[str, Any]]]:
    """The job's attachment for bounds, by its name."""
    return {BOUNDS: ({"widths": np.array(bounds.widths)}, {"names": list(bounds.names)})}


def attach_keys(
    keys: Mapping[str, Mapping[int, float]], off: Sequence[str] = ()
) -> dict[str, tuple[dict[str, NDArray[Any]], dict[str, Any]]]:
    """The job's attachment for keys (frame of the clip -> width) by bound and for bounds that are off, by its name."""
    rows = {name: [[int(frame), float(width)] for frame, width in own.items()] for name, own in keys.items()}
    return {BOUNDS_KEYS: ({}, {"keys": rows, "off": list(off)})} if keys or off else {}


def read_job_bounds(run: Run, body: BodyModel, preset: str, clip: Clip) -> Bounds:
    """The bounds that the job was made with, or the preset's, with what is keyed and switched off on top of them."""
    found = _given(run, body, preset)
    attached = run.attachment(BOUNDS_KEYS)
    if attached is None:
        return found
    for name, rows in attached[1].get("keys", {}).items():
        found = found.with_keys(name, {int(frame): float(width) for frame, width in rows}, len(clip))
    return found.without(*attached[1].get("off", ()))


def _given(run: Run, body: BodyModel, preset: str) -> Bounds:
    """Attached widths or the preset's. Those of bones that the body has no link for are off."""
    attached = run.attachment(BOUNDS)
    if attached is None:
        return bounds_of_preset(body, preset)
    arrays, meta = attached
    try:
        given = Bounds(tuple(map(str, meta["names"])), np.asarray(arrays["widths"], dtype=float))
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The job's bounds are incomplete: {error!r}", "Start the job again") from error
    names = bound_names(body)
    if not set(names) & set(given.names):
        raise BoundsError("None of the job's bounds is of this body", f"The body's bounds are: {', '.join(names)}")
    columns = [given.names.index(name) if name in given.names else None for name in names]
    open_end = np.full(len(given.widths), np.inf)
    return Bounds(names, np.stack([open_end if at is None else given.widths[:, at] for at in columns], axis=1))


def sample_widths(bounds: Bounds, reference: ReferenceTrajectory, clip: Clip) -> Array:
    """(T + 1, R) widths in the frames of a reference that was made of the clip."""
    return bounds.at(reference.times_s, clip)


def require_start_within(widths: Array, reference: ReferenceTrajectory, clip: Clip) -> None:
    """Refuse widths (T + 1, R) that exclude the first frame of the clip, around which the animator sees them.

    The reference is the clip put on the floor, with planted feet.
    """
    source = pose_of_clip(reference.body, clip.frames(0, 1))[0]
    pos, quat = link_transforms(reference.body, source)
    effectors = reference.end_effectors.positions(pos, quat) - pos[:, :1]
    still = np.zeros((1, reference.body.nv))
    com = pose_centre_of_mass(reference.body, source)
    kinematics = RelativeKinematics(
        reference, np.zeros(1, dtype=np.int64), source, still, com, np.zeros_like(com), effectors, None
    )
    over = kinematics.deviations[0] / widths[0]
    worst = int(np.argmax(over))
    if over[worst] > 1.0:
        raise BoundsError(
            f"The bounds exclude the start pose: '{bound_names(reference.body)[worst]}' allows {widths[0, worst]:.3g},"
            f" and what stands on the floor begins {kinematics.deviations[0, worst]:.3g} from the clip",
            "Widen that bound where the clip begins, or put the clip on the floor",
        )
