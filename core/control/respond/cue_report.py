# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of each cue, in a motion with a body or without: when it was done, and how far from its place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...body import BodyModel
from ...geometry.quaternions import Array
from ...motion import Clip
from ..editing.limb_reaching import Limb
from ..matching.features import FPS
from .cues import Cue, CueSheet
from .hitting import measure_miss
from .pose_features import local_joints

_WINDOW_S = 0.5  # around a cue in which it may have been done
_ALIKE_M = 0.002  # poses that differ by no more are equally near; the one nearest to the asked frame counts


def report_cues(
    body: BodyModel,
    sheet: CueSheet,
    keys: Clip,
    limbs: Sequence[Limb | None],
    planned: Clip,
    motion: Clip,
    fell_at_s: float | None = None,
) -> list[dict[str, Any]]:
    """A row for each cue. keys: the key pose of each cue, as the library has it, one a frame.

    limbs: what each hits with. planned: what was to be done, at 60 frames a second; motion: what was, at any rate.

    asked_frame, done_frame: the animator's; done_frame is None for what a fallen character does not do.
    distance_m: from the asked place to the root then, or from the target to what hits it, None where none was asked.
    limb: what that is, '' for the root. pose_error_m: mean distance of joints to those of the key pose.
    """
    at_60 = motion if abs(motion.fps - FPS) < 1e-6 else motion.resample(FPS, end="hold")
    poses, wanted = local_joints(body, at_60), local_joints(body, keys)
    root = at_60.skeleton.index(body.links[0].bone)
    ground, track = at_60.world()[0][:, root, :2], planned.world()[0][:, root, :2]
    rows = []
    for cue, pose, limb in zip(sheet.cues, wanted, limbs, strict=True):
        far = np.linalg.norm(poses - pose, axis=-1).mean(axis=-1)
        missed = measure_miss(at_60, limb, cue.hit) if limb is not None and cue.hit is not None else None
        # What hits is done when it is nearest to its target, whatever the pose.
        done = _find_done(cue, far if missed is None else missed, ground, track)
        fell = fell_at_s is not None and done / FPS >= fell_at_s
        away = None if cue.place is None else float(np.hypot(*(ground[done] - cue.place)))
        if missed is not None:
            away = float(missed[done])
        rows.append(
            {
                "deed": cue.deed,
                "asked_frame": _whole(cue.frame),
                "done_frame": None if fell else sheet.frame_of(done),
                "distance_m": away,
                "limb": "" if limb is None else limb.name,
                "pose_error_m": float(far[done]),
            }
        )
    return rows


def _find_done(cue: Cue, far: Array, ground: Array, track: Array) -> int:
    """The frame within half a second of a cue at which it was done.

    The pose is nearest to the key pose; and where the root of a simulated character should have been counts as well, so
    that of the many like poses of a gait it is the right step.
    """
    reach = int(_WINDOW_S * FPS)
    first, stop = max(cue.at - reach, 0), min(cue.at + reach + 1, len(far))
    if first >= stop:
        return len(far) - 1
    aside = np.linalg.norm(ground[first:stop] - track[min(cue.at, len(track) - 1)], axis=-1)
    score = far[first:stop] + 0.25 * aside
    near = np.flatnonzero(score <= score.min() + _ALIKE_M)
    return first + int(near[np.abs(near + first - cue.at).argmin()])


def _whole(frame: float) -> float | int:
    return int(frame) if float(frame).is_integer() else frame


def summarize_cues(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A sentence for each row."""
    found = []
    for row in rows:
        if row["done_frame"] is None:
            found.append(f"{row['deed']}@{row['asked_frame']}: not done, the character fell")
            continue
        late = row["done_frame"] - row["asked_frame"]
        frames = "1 frame" if abs(late) == 1 else f"{abs(late):g} frames"
        when = "on time" if not late else f"{frames} {'late' if late > 0 else 'early'}"
        where = ""
        if row["distance_m"] is not None:
            far = f"{100 * row['distance_m']:.0f} cm"
            where = f", {row['limb']} {far} from its target" if row["limb"] else f", {far} from its place"
        found.append(f"{row['deed']}@{row['asked_frame']}: {when}{where}")
    return found
