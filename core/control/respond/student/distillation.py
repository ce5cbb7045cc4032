# SPDX-License-Identifier: GPL-3.0-or-later
"""From episodes to a student: what ``core/learn`` learns from, and a training that a job can stop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....body import BodyModel
from ....body.foot_contacts import legs_by_foot
from ....learn.learning_curve import UpdateRecord
from ....learn.recurrent_data import MotionColumns, RecurrentSettings, ShownMotion
from ..responding import Responding
from .controls import heading_column, place_column
from .episodes import EpisodeMaker, Episodes
from .key_choice import KeyChoice
from .state_layout import StudentLayout, fit_scale
from .student import Student

if TYPE_CHECKING:
    from ....learn.recurrent_training import RecurrentTraining

_STEP_WEIGHT, _FLAG_WEIGHT = 2.0, 0.3


def find_examples(choice: KeyChoice, layout: StudentLayout, episodes: Sequence[Episodes]) -> KeyChoice:
    """The choice of key poses, with what episodes came to of what was asked for."""
    asks = [(one, ask) for one in episodes for ask in one.asked if ask.key >= 0]
    if not asks:
        return choice
    places = np.stack([one.states[ask.at, layout.places] for one, ask in asks])
    numbers = np.array([(ask.left_s, ask.word, ask.key) for _, ask in asks])
    return choice.add_examples(places, numbers[:, 0], numbers[:, 1].astype(int), numbers[:, 2].astype(int))


def show_episodes(
    layout: StudentLayout, choice: KeyChoice, episodes: Sequence[Episodes]
) -> tuple[ShownMotion, StudentLayout]:
    """Episodes one after the other, normalised, and the layout that normalises so."""
    raw = np.concatenate([one.states for one in episodes])
    mean, scale = fit_scale(layout, raw)
    fitted = StudentLayout(**{**vars(layout), "mean": mean, "scale": scale})
    weights = np.ones(layout.size, dtype=np.float32)
    weights[:3] = _STEP_WEIGHT
    weights[layout.contacts] = weights[layout.active] = _FLAG_WEIGHT
    controls = np.concatenate([one.controls for one in episodes]).astype(np.float32)
    starts = np.cumsum([0, *(len(one.states) for one in episodes)])
    begins = [first + ask.at for first, one in zip(starts[:-1].tolist(), episodes, strict=True) for ask in one.asked]
    pose = slice(fitted.places.start, fitted.turns.stop)
    targets = ((choice.targets - fitted.mean[pose]) / fitted.scale[pose]).astype(np.float32)
    due, target_of = (np.concatenate([getattr(one, name) for one in episodes]) for name in ("due", "keys"))
    shown = ShownMotion(
        fitted.normalise(raw), controls, starts, weights, np.array(begins, dtype=np.int64), due, targets, target_of
    )
    return shown, fitted


def find_columns(body: BodyModel, layout: StudentLayout, feet: Sequence[int], words: int) -> MotionColumns:
    """What numbers of a state and of controls are. feet: bones, in the order of the flags of contact."""
    joints, parents = layout.joints.tolist(), body.skeleton.parents
    pairs = [(joints.index(int(parents[bone])), at) for at, bone in enumerate(joints) if int(parents[bone]) in joints]
    rest = body.skeleton.rest_world()[0]
    lengths = [float(np.linalg.norm(rest[joints[one]] - rest[joints[other]])) for one, other in pairs]
    return MotionColumns(
        layout.mean,
        layout.scale,
        0,
        layout.places.start,
        len(joints),
        layout.contacts.start,
        tuple(joints.index(foot) for foot in feet),
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        np.array(lengths, dtype=np.float32),
        (layout.places.start, layout.turns.stop),
        heading_column(words),
        place_column(words),
    )


def find_contact_bones(responding: Responding) -> tuple[int, ...]:
    """The foot bones, in the order of contacts."""
    return tuple(leg.foot for leg in list(legs_by_foot(responding.body).values()))[: responding.contacts.shape[1]]


class Distillation:
    """A student's training, as ``practise`` takes one."""

    def __init__(
        self, words: tuple[str, ...], layout: StudentLayout, keys: KeyChoice, training: RecurrentTraining
    ) -> None:
        self.words, self.layout, self.keys, self.training = words, layout, keys, training
        self.losses: list[dict[str, float]] = []

    @property
    def samples(self) -> int:
        """Frames that were gone through."""
        return self.training.samples

    def advance(self) -> UpdateRecord:
        """One window of all streams."""
        losses = self.training.advance()
        self.losses.append(losses)
        return UpdateRecord(
            update=self.training.updates,
            samples=self.samples,
            episodes=0,
            length=math.nan,
            earned=math.nan,
            terms=losses,
            endings={},
            policy_loss=sum(losses.values()),
            value_loss=math.nan,
            explained=math.nan,
            kl=math.nan,
            clipped=math.nan,
            rate=math.nan,
            noise=math.nan,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how it goes on."""
        return self.training.state()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave."""
        self.training.restore(arrays)

    def student(self, about: Mapping[str, Any]) -> Student:
        """What was learned so far."""
        return Student(self.words, self.layout, self.keys, self.training.network(), about)


def begin_distillation(
    maker: EpisodeMaker,
    episodes: Sequence[Episodes],
    settings: RecurrentSettings,
    seed: int,
) -> Distillation:
    """A training that is about to begin."""
    from ....learn.recurrent_training import RecurrentTraining

    responding = maker.responding
    shown, fitted = show_episodes(maker.layout, maker.choice, episodes)
    columns = find_columns(responding.body, fitted, find_contact_bones(responding), len(maker.words))
    keys = find_examples(maker.choice, maker.layout, episodes)
    return Distillation(maker.words, fitted, keys, RecurrentTraining(shown, columns, settings, seed))
