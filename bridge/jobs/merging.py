# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes that were made apart, by other machines perhaps, baked beside each other into the open scene.

A take is its job's folder, not a .blend that it was baked into: baking it anew gives everybody's Actions, props, copies
and rows as if it had been simulated here.
"""

from collections.abc import Sequence
from pathlib import Path

from ...core import jobs
from ...core.control.method import Product
from ...core.errors import BadFile, JobError, SinewError
from ...core.paths import is_folder, is_there, list_folder
from .. import takes
from ..rig.rig_writer import WrittenAction
from . import requests


def find_take_folders(path: Path, count: int | None = None) -> list[Path]:
    """The folders of takes that a path means: a job's, that of a .blend beside it, or those numbered in a folder.

    count: how many are numbered in a folder, all of which must be there.
    """
    if path.suffix.lower() == ".blend" and is_folder(path.with_suffix("")):
        path = path.with_suffix("")
    if is_there(path / "spec.json"):
        return [path]
    if not is_folder(path):
        raise BadFile(f"'{path}' is no take", "Give folders that 'sinew farm take' or 'simulate --job-dir' has made")
    if count is None:
        names = [one.name for one in list_folder(path) if one.name.isdecimal() and is_there(one / "spec.json")]
        if not names:
            raise BadFile(f"'{path}' has no takes in it", "Make them first, with 'sinew farm take'")
        return [path / name for name in sorted(names, key=int)]
    missing = [str(number) for number in range(1, count + 1) if not is_there(path / str(number) / "spec.json")]
    if missing:
        raise BadFile(f"'{path}' lacks take {', '.join(missing[:10])} of {count}", "Run that task again, then merge")
    return [path / str(number) for number in range(1, count + 1)]


def merge_takes(folders: Sequence[Path]) -> list[WrittenAction]:
    """Bake the takes in order, each once. One that is not done or does not fit is an error that names it."""
    found = [_open_done(folder) for folder in folders]
    here, written = takes.baked_jobs(), []
    for job in found:
        if job.spec.id in here:
            continue  # the scene has it already
        try:
            written.append(requests.collect(job))
        except SinewError as error:
            raise type(error)(f"The take in '{job.folder}' does not fit: {error.message}", error.hint) from error
        here[job.spec.id] = written[-1].action.name
    return written


def _open_done(folder: Path) -> jobs.Job:
    job = jobs.open_job(folder)
    if Product.LEARNED_FILE in job.method.makes:
        raise JobError(
            f"The job in '{folder}' has learned a file, and files of others are not merged", "Bake it by itself"
        )
    if not job.has_result():
        raise JobError(f"The take in '{folder}' is not done: it is {job.status().state}", "Run its task again")
    return job
