# SPDX-License-Identifier: GPL-3.0-or-later
"""Which term of the tracking cost was lost when: the take's fragments, term by term and second by second."""

from collections.abc import Sequence

import numpy as np

from ...sim.engine import SensorRows, character_offsets
from ..tracking.recording import Recording
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from ..tracking.tracking_cost import CostTerms, CostWeights
from .cost import compute_cost
from .search import shift_anchors
from .stage_rollout import StageRollout

_PER_SECOND = CONTROL_FPS // FRAGMENT_STEPS
_DIGITS = 4


def compute_take_cost(rollout: StageRollout, recording: Recording, index: int) -> list[CostTerms]:
    """Terms of (1,) at the end of every fragment of a character, as its recorded motion has them."""
    character, where = rollout.characters[index], character_offsets(rollout.stage)
    own = {name: slice(values[index], values[index + 1]) for name, values in where.items()}
    reference, tracking_error, anchor = character.reference, character.tracking_error, np.zeros((1, 2))
    found = []
    for fragment, offsets in enumerate(rollout.offsets):
        frame = int(reference.frames_of(fragment)[-1])
        qpos, qvel = recording.qpos[frame, own["nq"]][None], recording.qvel[frame, own["nv"]][None]
        rows = _rows_of(recording.rows, frame, own["links"], index)
        found.append(compute_cost(reference, frame, qpos, rows, offsets[own["nu"]][None], anchor, CostWeights()))
        anchor = shift_anchors(anchor, tracking_error.state_error(qpos, qvel, frame, anchor))
    return found


def sum_cost_by_second(terms: Sequence[CostTerms]) -> dict[str, list[float]]:
    """Fragments' terms of (1,) summed over each second, by name, and their total; those that blew up count nothing."""
    values = np.array([[float(term[0]) for term in one] for one in terms])
    values[~np.isfinite(values).all(axis=1)] = 0.0
    seconds = np.add.reduceat(values, np.arange(0, len(values), _PER_SECOND), axis=0)
    by_name = dict(zip(CostTerms._fields, seconds.T, strict=True)) | {"total": seconds.sum(axis=1)}
    return {name: [round(float(value), _DIGITS) for value in row] for name, row in by_name.items()}


def _rows_of(rows: SensorRows, frame: int, links: slice, index: int) -> SensorRows:
    """What the sensors saw of one character in one frame, as (1, 1, ...) arrays."""
    found = {name: values[:, frame : frame + 1] for name, values in vars(rows).items()}
    for name in ("link_pos", "link_quat_wxyz", "contact_force"):
        found[name] = found[name][:, :, links]
    for name in ("com", "com_velocity", "angular_momentum"):
        found[name] = found[name][:, :, index : index + 1]
    return SensorRows(**found)
