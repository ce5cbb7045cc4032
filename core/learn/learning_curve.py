# SPDX-License-Identifier: GPL-3.0-or-later
"""The learning curve: one record of statistics for each update."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from ..errors import BadFile
from .episode_statistics import EpisodeStatistics


@dataclasses.dataclass(frozen=True)
class UpdateRecord:
    """One update. Numbers that are not known, such as the length of episodes where none ended, are NaN.

    update: which one, from 1. samples: control steps of all worlds since the beginning, this update's included.
    episodes: how many ended. length: their mean, in control steps. earned: their mean undiscounted return.
    terms: mean of each reward term by name, for each control step. endings: how many episodes ended why.
    policy_loss, value_loss: means over the update. explained: explained variance of the returns, 1 at best.
        kl: divergence from the policy before it, in nats. clipped: fraction of samples whose ratio was clipped.
        rate: the policy's learning rate after it. noise: mean standard deviation of the actions.
    """

    update: int
    samples: int
    episodes: int
    length: float
    earned: float
    terms: Mapping[str, float]
    endings: Mapping[str, int]
    policy_loss: float
    value_loss: float
    explained: float
    kl: float
    clipped: float
    rate: float
    noise: float

    def to_mapping(self) -> dict[str, Any]:
        """Plain values for JSON, with None for NaN."""
        values = dataclasses.asdict(self)
        return {name: None if _is_nan(value) else value for name, value in values.items()}

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "UpdateRecord":
        """What ``to_mapping`` gave."""
        try:
            plain: dict[str, Any] = {field.name: values[field.name] for field in dataclasses.fields(cls)}
        except (KeyError, TypeError) as error:
            raise BadFile(f"A record of learning is not whole: {error}", "Begin the training anew") from error
        known: dict[str, Any] = {name: math.nan if value is None else value for name, value in plain.items()}
        return cls(**known)


def episode_fields(statistics: EpisodeStatistics) -> dict[str, Any]:
    """The fields of a record that come from episode statistics."""
    episodes = len(statistics.lengths)
    return {
        "episodes": episodes,
        "length": float(statistics.lengths.mean()) if episodes else math.nan,
        "earned": float(statistics.returns.mean()) if episodes else math.nan,
        "terms": {name: total / statistics.samples for name, total in statistics.reward_terms.items()},
        "endings": dict(statistics.endings),
    }


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
