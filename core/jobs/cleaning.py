# SPDX-License-Identifier: GPL-3.0-or-later
"""Old jobs go. A living one never does."""

import os
import shutil
import time
from pathlib import Path

from ..errors import SinewError
from .creation import jobs_root, subfolders
from .job import Job, open_job
from .spec import ID_PATTERN

_TRASH = ".trash-"


def clean(root: Path | None = None, *, older_than_days: float, keep_uncollected: bool = True) -> list[str]:
    """Remove jobs on which nothing has happened for so long; gives their folders' names.

    keep_uncollected: leave done jobs whose result was never baked.
    """
    root = root or jobs_root()
    before = time.time() - older_than_days * 86400.0
    removed = []
    for folder in subfolders(root):
        if folder.name.startswith(_TRASH):
            shutil.rmtree(folder, ignore_errors=True)  # left by a removal that was interrupted
        elif _is_garbage(folder, before, keep_uncollected) and _remove(folder):
            removed.append(folder.name)
    return removed


def _is_garbage(folder: Path, before: float, keep_uncollected: bool) -> bool:
    if not (folder / "spec.json").exists():
        # A creation that was interrupted; any other folder is not ours to touch.
        return bool(ID_PATTERN.fullmatch(folder.name)) and _last_touched(folder) < before
    try:
        job = open_job(folder)
        status = job.status()
    except SinewError:
        return False  # of a newer Sinew, perhaps: not ours to judge
    if status.alive or _last_touched(folder) >= before:
        return False
    return not (keep_uncollected and status.state == "done" and _uncollected(job))


def _uncollected(job: Job) -> bool:
    return job.collected() is None


def _last_touched(folder: Path) -> float:
    """When the folder or a file right in it was changed last."""
    times = [folder.stat().st_mtime]
    for path in folder.iterdir():
        times.append(path.stat().st_mtime)
    return max(times)


def _remove(folder: Path) -> bool:
    """Rename, then delete: a half-removed job is never read as one."""
    trash = folder.with_name(f"{_TRASH}{folder.name}")
    try:
        os.rename(folder, trash)
    except OSError:
        return False  # someone has a file of it open (Windows), or may not change the folder
    shutil.rmtree(trash, ignore_errors=True)
    return True
