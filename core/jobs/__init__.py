# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: folders that a worker process works through while Blender goes on, and that outlive both.

job = create(clip, method="passthrough", settings={})
process = launch(job)
status = wait(job, process)
take = job.result().take
"""

from .cleaning import clean_jobs, remove_job
from .creation import UnreadableJob, all_jobs, create, find_jobs
from .folders import jobs_root, user_data_folder
from .job import Job, JobStatus, Result, open_job
from .launching import find_worker_python, launch, launch_together, wait
from .report import unfinished_report
from .spec import SCHEMA, JobSpec
from .target import CastTarget, Target
from .where import HERE, Where, parse_where

__all__ = [
    "HERE",
    "SCHEMA",
    "CastTarget",
    "Job",
    "JobSpec",
    "JobStatus",
    "Result",
    "Target",
    "UnreadableJob",
    "Where",
    "all_jobs",
    "clean_jobs",
    "create",
    "find_jobs",
    "find_worker_python",
    "jobs_root",
    "launch",
    "launch_together",
    "open_job",
    "parse_where",
    "remove_job",
    "unfinished_report",
    "user_data_folder",
    "wait",
]
