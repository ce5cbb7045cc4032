# SPDX-License-Identifier: GPL-3.0-or-later
"""A finished rollout of a stage simulated again, all fragments at once, for what lies between their ends."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ...sim.engine import SensorRows
from ..tracking.recording import RecordedCharacter, Recording
from ..tracking.reference import FRAGMENT_STEPS
from .fragment_samples import Indices
from .stage_character import StageCharacter
from .stage_rollout import StageRollout


def record_rollout(rollout: StageRollout) -> Recording:
    """Simulate every fragment again from where it began; the engine does the same again, bit for bit."""
    world, count = rollout.world, rollout.fragments
    begun, offsets = np.array(rollout.start_states), np.array(rollout.offsets)
    before = np.concatenate([np.zeros_like(offsets[:1]), offsets[:-1]])
    first = np.tile(begun[0], (world.copies, 1))
    sensed = world.sense(first)
    states, parts = [begun[:1]], [{name: values[:1, 0] for name, values in vars(sensed).items()}]
    for some in _batches(rollout):
        played, rows = rollout.roll_out_fragments(some, begun[some], before[some], offsets[some])
        states.append(played[: len(some)].reshape(-1, world.state_size))
        moments = len(some) * FRAGMENT_STEPS
        parts.append(
            {name: values[: len(some)].reshape(moments, *values.shape[2:]) for name, values in vars(rows).items()}
        )
    frames = len(rollout.characters[0].reference.states)
    together = {name: np.concatenate([part[name] for part in parts])[None, :frames] for name in parts[0]}
    qpos, qvel = world.pose_of(np.concatenate(states)[:frames])
    asked = rollout.targets(np.arange(count), before, offsets).reshape(count * FRAGMENT_STEPS, -1)
    return Recording(rollout.stage, qpos, qvel, np.concatenate([asked[:1], asked])[:frames], SensorRows(**together))


def _batches(rollout: StageRollout) -> Iterator[Indices]:
    """All fragments in order, as many at once as there are copies.

    Those in which somebody has let go are not mixed with others, so that each batch is as it was when it was played.
    """
    limp = [relaxation for one in rollout.characters for relaxation in one.times_limp]
    edges = {edge for relaxation in limp for edge in (relaxation.first, relaxation.stop) if edge is not None}
    for begin, end in pairwise(sorted({0, *edges, rollout.fragments})):
        for start in range(begin, end, rollout.world.copies):
            yield np.arange(start, min(start + rollout.world.copies, end))


def describe_character(character: StageCharacter) -> RecordedCharacter:
    """A character and its reference."""
    reference, wanted = character.reference, character.wanted.rows
    end = len(reference.states)
    return RecordedCharacter(
        character.body,
        character.source,
        reference.space,
        character.strength_at_frames(),
        wanted.link_pos[0],
        wanted.link_quat_wxyz[0],
        wanted.com[0, :, 0],
        tuple(
            (one.first * FRAGMENT_STEPS, end if one.stop is None else one.stop * FRAGMENT_STEPS)
            for one in character.times_limp
        ),
        tuple(
            (one.first * FRAGMENT_STEPS, get_up.rejoins)
            for one, get_up in zip(character.relaxations, character.get_ups, strict=True)
        ),
    )
