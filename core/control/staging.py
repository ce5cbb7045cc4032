# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage that a job was asked to simulate on, as a method gets it from its run."""

from collections.abc import Collection

from ..body import BodyModel
from ..sim.assembly import assemble_stage
from ..sim.stage import Stage
from ..sim.stage_io import stage_from_arrays
from ..sim.stage_parts import StageParts
from .method import Run

STAGE = "stage"
"""Name of the job's attachment."""


def build_job_stage(run: Run, *bodies: BodyModel, unless: Collection[str] = ()) -> Stage:
    """The stage with these bodies on it, one for each character of the job; flat ground if the job has none.

    Takes meshes apart, which takes a while, so call it once. What the animator should know goes into the report.
    unless: kinds of findings that are none for a method, such as 'still' where nobody follows an Action.
    """
    attached = run.attachment(STAGE)
    parts = stage_from_arrays(*attached) if attached else StageParts(characters=("",) * len(bodies))
    # Progress is what notices a cancel.
    stage, findings = assemble_stage(parts, bodies, while_waiting=lambda: run.progress(0, 1))
    for finding in findings:
        if finding.kind in unless:
            continue
        run.add_finding(finding.kind, finding.message, finding.hint)
    return stage
