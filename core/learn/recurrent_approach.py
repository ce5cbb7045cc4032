# SPDX-License-Identifier: GPL-3.0-or-later
"""How a network in training comes to where it is to be in time; ``StudentPlayer`` does the same with NumPy.

In the last frames what is left of the way is made up for, evenly: to the pose, the heading and the place that are
told. So whatever a network puts out is on time, and what it learns is to get there without that. What it is told of
heading and place is seen from where it is itself, which is not where the shown motion is.
"""

import torch

from .networks import Tensor
from .recurrent_data import HOLD, MotionColumns, ShownMotion, approach_weight


class Approach:
    """The same for all streams of a training."""

    def __init__(self, shown: ShownMotion, columns: MotionColumns) -> None:
        self._columns = columns
        self._mean, self._scale = (torch.from_numpy(part[:3].copy()) for part in (columns.mean, columns.scale))
        self._weight = torch.from_numpy(approach_weight(shown.due))
        self._steps = torch.from_numpy(shown.due.clip(0) + 1).float()
        self._after = torch.from_numpy(shown.due < 0)
        self._targets = torch.from_numpy(shown.targets)
        self._target_of = torch.from_numpy(shown.target_of)

    def see_from(self, away: Tensor, control: Tensor) -> Tensor:
        """Controls (B, U) that were told from a shown root, as told from one that is ``away`` (B, 3) from it."""
        columns, found = self._columns, control.clone()
        heading, place = columns.heading, columns.place
        cos, sin = torch.cos(away[:, 2]), torch.sin(away[:, 2])
        c, s = control[:, heading + 1], control[:, heading + 2]
        found[:, heading + 1], found[:, heading + 2] = c * cos + s * sin, s * cos - c * sin
        has = control[:, place]
        x, y = control[:, place + 1] - has * away[:, 0], control[:, place + 2] - has * away[:, 1]
        found[:, place + 1], found[:, place + 2] = x * cos + y * sin, y * cos - x * sin
        return found

    def go(self, now: Tensor, after: Tensor, control: Tensor, frames: Tensor) -> Tensor:
        """States (B, S) that follow on ``now``, where a network says ``after``; frames: (B,) that they lead to."""
        columns, weight, steps = self._columns, self._weight[frames], self._steps[frames]
        heading, place, (first, stop) = columns.heading, columns.place, columns.pose
        raw = after[:, :3] * self._scale + self._mean
        angle = torch.atan2(control[:, heading + 2], control[:, heading + 1])
        turn = raw[:, 2] + control[:, heading] * (
            weight * (angle / steps - raw[:, 2]) + self._after[frames] * HOLD * angle
        )
        there = control[:, place + 1 : place + 3] / steps[:, None]
        way = raw[:, :2] + (control[:, place] * weight)[:, None] * (there - raw[:, :2])
        root = (torch.cat([way, turn[:, None]], dim=1) - self._mean) / self._scale
        pose = after[:, first:stop]
        if len(self._targets):
            chosen = self._target_of[frames]
            pull = torch.where(chosen >= 0, weight / steps, 0.0)[:, None]
            pose = pose + pull * (self._targets[chosen.clamp_min(0)] - now[:, first:stop])
        return torch.cat([root, after[:, 3:first], pose, after[:, stop:]], dim=1)

    def move(self, away: Tensor, state: Tensor, shown: Tensor) -> Tensor:
        """Where a root is, as seen from the shown one, (B, 3), after steps of both."""
        own, other = (part[:, :3] * self._scale + self._mean for part in (state, shown))
        cos, sin = torch.cos(away[:, 2]), torch.sin(away[:, 2])
        x = away[:, 0] + cos * own[:, 0] - sin * own[:, 1] - other[:, 0]
        y = away[:, 1] + sin * own[:, 0] + cos * own[:, 1] - other[:, 1]
        turned = away[:, 2] + own[:, 2] - other[:, 2]
        back_cos, back_sin = torch.cos(other[:, 2]), torch.sin(other[:, 2])
        return torch.stack([x * back_cos + y * back_sin, y * back_cos - x * back_sin, turned], dim=1)
