# SPDX-License-Identifier: GPL-3.0-or-later
"""Everybody else on the stage: the other characters of a job, as a method gets them from its run.

The main character is number 0; its clip, body and mesh are the job's own. The others follow from 1 on, in the order
of ``StageParts.characters``, which is the order of bodies for ``build_job_stage``, of ``Stage.characters`` and of
``Take.others``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import JobError
from ..files import Attachment
from ..geometry.quaternions import Array
from ..motion import Clip, PropMotion
from ..motion.io.npz import clip_from_arrays, clip_to_arrays
from ..sim.stage import Stage
from .method import Run


@dataclass(frozen=True, eq=False)
class CastMember:
    """Another character of the job.

    name: as the stage knows it. clip: its motion, as long as the main character's and at the same rate.
    number: which of the stage's characters it is, from 1 on.
    """

    name: str
    clip: Clip
    number: int

    def attachment(self, kind: str) -> str:
        """What its own attachment of a kind ('body', 'mesh', 'rig') is called in the job."""
        return attachment_name(kind, self.number)


def attachment_name(kind: str, number: int) -> str:
    """What a character's attachment is called in the job: the main one's by its kind alone."""
    return f"cast{number}_{kind}" if number else kind


def make_member_attachments(member: CastMember, others: Mapping[str, Attachment]) -> dict[str, Attachment]:
    """What to give to ``jobs.create`` for a member; others: what else it has, by kind ('body', 'mesh', 'rig')."""
    arrays, meta = clip_to_arrays(member.clip)
    found: dict[str, Attachment] = {member.attachment("clip"): (arrays, {**meta, "character": member.name})}
    return found | {member.attachment(kind): attachment for kind, attachment in others.items()}


def load_cast(run: Run) -> tuple[CastMember, ...]:
    """The job's other characters in the cast's order; none where there is only the main one."""
    members: list[CastMember] = []
    while attached := run.attachment(attachment_name("clip", len(members) + 1)):
        arrays, meta = attached
        if not isinstance(name := meta.get("character"), str):
            raise JobError(f"Character {len(members) + 1} of the job has no name", "Start the job again")
        members.append(CastMember(name, clip_from_arrays(arrays, meta), len(members) + 1))
    return tuple(members)


def resample_prop_motions(
    stage: Stage, pos: Array, quat_wxyz: Array, fps: float, motion: Clip
) -> tuple[PropMotion, ...]:
    """The props' motions for the take of ``motion``, on its clock.

    pos: (K, P, 3) metres, quat_wxyz: (K, P, 4): the played path's ``Rows.prop_pos`` and ``prop_quat_wxyz`` at ``fps``,
    the first at 0 s.
    """
    times_s = np.arange(len(motion)) / motion.fps
    return tuple(
        PropMotion(prop.name, pos[:, index], quat_wxyz[:, index]).sample(times_s * fps)
        for index, prop in enumerate(stage.props)
    )
