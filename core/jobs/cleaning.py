# SPDX-License-Identifier: GPL-3.0-or-later
"""Old jobs go. A living one never does."""

import os
import shutil
import time
from pathlib import Path

from ..errors import BadSettings, JobError, SinewError
from ..paths import is_there, list_folder
from .creation import subfolders
from .folders import jobs_root
from .job import open_job
from .spec import ID_PATTERN

_TRASH = ".trash-"
_OLDEST_DAYS = 1e5


def clean_jobs(root: Path | None = None, *, older_than_days: float, keep_uncollected: bool = True) -> list[str]:
    """Remove jobs on which nothing has happened for so long; gives their folders' names.

    keep_uncollected: leave done jobs whose result was never baked.
    """
    if not 0.0 <= older_than_days <= _OLDEST_DAYS:  # with what is no number, every job would be old
        raise BadSettings(f"Jobs older than {older_than_days} days are asked for", "Give days, such as 30")
    root = root or jobs_root()
    before = time.time() - older_than_days * 86400.0
    removed = []
    for folder in subfolders(root):
        if folder.name.startswith(_TRASH):
            shutil.rmtree(folder, ignore_errors=True)  # left by a removal that was interrupted
        elif _is_garbage(folder, before, keep_uncollected) and _remove(folder):
            removed.append(folder.name)
    return removed


def remove_job(folder: Path) -> None:
    """Remove the job in a folder, whatever became of it, unless it is at work."""
    if open_job(folder).status().alive:
        raise JobError(f"The job in '{folder}' is still at work", "Wait for it or cancel it, and try again")
    if not _remove(folder):
        raise JobError(f"The job in '{folder}' cannot be removed", "See what you may do there, or delete it yourself")


def _is_garbage(folder: Path, before: float, keep_uncollected: bool) -> bool:
    try:
        if max(path.lstat().st_mtime for path in (folder, *list_folder(folder))) >= before:
            return False
        if not is_there(folder / "spec.json"):
            # A creation that was interrupted; any other folder is not ours to touch.
            return ID_PATTERN.fullmatch(folder.name) is not None
        job = open_job(folder)
        status = job.status()
    except (OSError, SinewError):
        return False  # of a newer Sinew, perhaps: not ours to judge
    wanted = keep_uncollected and status.state == "done" and job.collected() is None
    return not (status.alive or wanted)


def _remove(folder: Path) -> bool:
    """Rename, then delete: a half-removed job is never read as one."""
    trash = folder.with_name(f"{_TRASH}{folder.name}")
    try:
        os.rename(folder, trash)
    except OSError:
        return False  # someone has a file of it open (Windows), or may not change the folder
    shutil.rmtree(trash, ignore_errors=True)
    return True
