# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator would name of the manner of a gait: head pitch, trunk bend, arm swing, step height, cadence."""

from dataclasses import dataclass, fields

import numpy as np

from ..geometry.angles import arctan2_exact
from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate
from ..motion import Clip
from .model import BodyModel
from .poses import link_transforms, pose_of_clip
from .sagittal_plane import find_sagittal_plane

_UP: Array = np.array([0.0, 0.0, 1.0])
_OUTER = (5.0, 95.0)  # per cent between which a swing is measured
_CADENCE_HZ = (0.4, 2.5)  # strides a second that anybody does


@dataclass(frozen=True)
class MannerFigures:
    """Means over a motion, NaN for what the body has no parts for.

    head_pitch_deg: how far the head looks down, trunk_bend_deg: how far the trunk leans forward, both from rest.
    arm_swing_deg: how far upper arms go to and fro. step_height_m: how high feet are lifted. cadence_per_min: steps.
    """

    head_pitch_deg: float
    trunk_bend_deg: float
    arm_swing_deg: float
    step_height_m: float
    cadence_per_min: float

    def to_mapping(self) -> dict[str, float | None]:
        """Plain values; None for what could not be measured."""
        values = {field.name: float(getattr(self, field.name)) for field in fields(self)}
        return {name: value if np.isfinite(value) else None for name, value in values.items()}


def measure_manner(body: BodyModel, link_pos: Array, link_quat_wxyz: Array, fps: float) -> MannerFigures:
    """The figures of links at (T, L, 3) and turned as (T, L, 4) in the world."""
    return _Gait(body, link_pos, link_quat_wxyz, fps).figures()


def measure_clip_manner(body: BodyModel, clip: Clip) -> MannerFigures:
    """The figures of a clip of the body's skeleton."""
    return measure_manner(body, *link_transforms(body, pose_of_clip(body, clip)[0]), clip.fps)


def way_to_manner(source: MannerFigures, styled: MannerFigures, wanted: MannerFigures) -> dict[str, float | None]:
    """By figure how much of the way from the source to the wanted manner was gone: 0 none of it, 1 all of it.

    None where the two hardly differ, or where one of them could not be measured.
    """
    least = MannerFigures(3.0, 3.0, 5.0, 0.02, 4.0)  # differences that one sees
    found: dict[str, float | None] = {}
    for field in fields(MannerFigures):
        begin, now, goal, seen = (float(getattr(one, field.name)) for one in (source, styled, wanted, least))
        differs = np.isfinite([begin, now, goal]).all() and abs(goal - begin) >= seen
        found[field.name] = (now - begin) / (goal - begin) if differs else None
    return found


class _Gait:
    """A motion seen from a body that faces along X with its left along Y."""

    def __init__(self, body: BodyModel, pos: Array, quat: Array, fps: float) -> None:
        self.body, self.fps = body, fps
        rest = body.skeleton.rest_world()[1]
        self.rest = np.array([rest[body.skeleton.index(link.bone)] for link in body.links])
        plane = find_sagittal_plane(body)
        left = np.array([0.0, 1.0, 0.0]) if plane is None else plane.normal
        root = multiply(quat[:, 0], conjugate(self.rest[0]))
        yaw = 2.0 * arctan2_exact(root[:, 3], root[:, 0]) + np.arctan2(left[1], left[0]) - 0.5 * np.pi
        ahead = from_rotation_vector(-yaw[:, None] * _UP)
        self.pos = rotate(ahead[:, None], pos - pos[:, :1] * np.array([1.0, 1.0, 0.0]))
        self.faces = float(np.arctan2(left[1], left[0]) - 0.5 * np.pi)
        self.quat = quat

    def figures(self) -> MannerFigures:
        """All of them."""
        return MannerFigures(
            self._pitch(), self._bend(), self._swing(), self._lift(), 60.0 * 2.0 * self._strides_per_s()
        )

    def _links(self, *roles: str) -> list[int]:
        return [index for index, link in enumerate(self.body.links) if link.role in roles]

    def _pitch(self) -> float:
        heads = self._links("head") or self._links("neck")
        if not heads:
            return float("nan")
        looks = np.array([np.cos(self.faces), np.sin(self.faces), 0.0])
        head = heads[-1]
        turn = multiply(self.quat[:, head], conjugate(self.rest[head]))
        turned = rotate(turn, np.broadcast_to(looks, (len(turn), 3)))
        return float(-np.degrees(np.arcsin(np.clip(turned[:, 2], -1.0, 1.0))).mean())

    def _bend(self) -> float:
        hips, shoulders = self._links("thigh"), self._links("upper_arm")
        if not hips or not shoulders:
            return float("nan")
        way = self.pos[:, shoulders].mean(axis=1) - self.pos[:, hips].mean(axis=1)
        heads = self.body.skeleton.rest_world()[0]
        bones = [self.body.skeleton.index(link.bone) for link in self.body.links]
        rest = heads[[bones[i] for i in shoulders]].mean(axis=0) - heads[[bones[i] for i in hips]].mean(axis=0)
        along = float(rest @ [np.cos(self.faces), np.sin(self.faces), 0.0])
        return float(np.degrees(np.arctan2(way[:, 0], way[:, 2])).mean() - np.degrees(np.arctan2(along, rest[2])))

    def _swing(self) -> float:
        swings = []
        for upper in self._links("upper_arm"):
            below = next((i for i, link in enumerate(self.body.links) if link.parent == upper), None)
            if below is None:
                continue
            way = self.pos[:, below] - self.pos[:, upper]
            angle = np.degrees(np.unwrap(np.arctan2(way[:, 0], -way[:, 2])))
            swings.append(float(np.ptp(np.percentile(angle, _OUTER))))
        return float(np.mean(swings)) if swings else float("nan")

    def _lift(self) -> float:
        feet = self._links("foot") or self._links("shin")
        if not feet:
            return float("nan")
        return float(np.mean([np.ptp(np.percentile(self.pos[:, foot, 2], _OUTER)) for foot in feet]))

    def _strides_per_s(self) -> float:
        """How often a foot comes forward, by where the way between the two is most alike to itself a while later."""
        feet = self._links("foot") or self._links("shin")
        if len(feet) < 2:
            return float("nan")
        apart = self.pos[:, feet[0], 0] - self.pos[:, feet[1], 0]
        apart = apart - apart.mean()
        low, high = (round(self.fps / rate) for rate in reversed(_CADENCE_HZ))
        lags = np.arange(max(low, 1), min(high, len(apart) - 3) + 1)
        if not len(lags) or float(np.ptp(apart)) < 1e-3:
            return float("nan")
        alike = np.array([np.corrcoef(apart[lag:], apart[:-lag])[0, 1] for lag in lags])
        # The first lag that is about as good as the best: twice a stride is as alike as one.
        best = lags[np.flatnonzero(alike >= alike.max() - 0.05)[0]]
        near = lags[(lags >= best) & (lags <= 1.15 * best)]
        chosen = near[int(np.argmax(alike[near - lags[0]]))]
        return float(self.fps / chosen)
