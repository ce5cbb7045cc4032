# SPDX-License-Identifier: GPL-3.0-or-later
"""A trained policy as it is kept, and as it acts: N characters on streams, one control step after the other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...body import BodyModel
from ...errors import BadFile
from ...geometry.quaternions import Array
from ...learn.policy import Policy
from .environment import find_acting, limit_offsets
from .observations import TrackingState

_PREFIX = "policy_"
_HINT = "Train it again"


@dataclass(frozen=True, eq=False)
class TrackingController:
    """What keeps a body on a stream. smoothing, all_joints: as in ``TrackingConfig``. about: how it was trained."""

    policy: Policy
    smoothing: float
    all_joints: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)

    def first_offsets(self, body: BodyModel, count: int) -> Array:
        """(count, A) offsets of characters that begin."""
        return np.zeros((count, len(find_acting(body, self.all_joints))))

    def act(self, state: TrackingState, offsets: Array) -> Array:
        """(N, A) radians that servo targets are off by in the next control step, from those before."""
        actions = self.policy(state.observations(offsets))
        wished = limit_offsets(state.features.turn_actions(actions, state.frame))
        found: Array = offsets + self.smoothing * (wished - offsets)
        return found

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) that go into a library's file."""
        arrays, about = self.policy.to_arrays()
        meta = {"policy": about, "smoothing": self.smoothing, "all_joints": self.all_joints, "about": dict(self.about)}
        return {f"{_PREFIX}{name}": array for name, array in arrays.items()}, meta


def tracking_controller_from_arrays(
    arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str
) -> TrackingController:
    """What ``to_arrays`` gave; anything else is a ``BadFile``, for it may come from anywhere."""
    own = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
    try:
        policy, smoothing = Policy.from_arrays(own, meta["policy"]), float(meta["smoothing"])
        about = meta["about"]
        if not 0.0 < smoothing <= 1.0 or not isinstance(about, Mapping):
            raise ValueError("its smoothing is no share")
        return TrackingController(policy, smoothing, bool(meta["all_joints"]), about)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The policy in {label} is not whole: {error}", _HINT) from error


def require_fitting(controller: TrackingController, body: BodyModel, observation_size: int, label: str) -> None:
    """Refuse a policy that was trained for another body."""
    acting = len(find_acting(body, controller.all_joints))
    policy = controller.policy
    if policy.action_size != acting or policy.observation_size != observation_size:
        raise BadFile(
            f"The policy in {label} is for another body: it moves {policy.action_size} joint axes, not {acting}",
            "Train it for this body",
        )
