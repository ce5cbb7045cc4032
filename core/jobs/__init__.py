# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: folders that a worker process works through while Blender goes on, and that outlive both.

job = create(clip, method="passthrough", settings={})
process = launch(job)
status = wait(job, process)
take = job.result().take
"""

from .cleaning import clean_jobs
from .creation import all_jobs, create, jobs_root
from .job import Job, JobStatus, Result, open_job
from .launching import find_worker_python, launch, wait
from .report import unfinished_report
from .spec import SCHEMA, JobSpec
from .target import CastTarget, Target

__all__ = [
    "SCHEMA",
    "CastTarget",
    "Job",
    "JobSpec",
    "JobStatus",
    "Result",
    "Target",
    "all_jobs",
    "clean_jobs",
    "create",
    "find_worker_python",
    "jobs_root",
    "launch",
    "open_job",
    "unfinished_report",
    "wait",
]
