# SPDX-License-Identifier: GPL-3.0-or-later
"""Which .blend a job belongs to, so that no result is ever baked into a wrong one.

A job belongs to the file that it was started from, until that is saved under another name. Both must say so: the job
in its folder (``core/jobs/home.py``), and the .blend, which lists it with a digest of its spec. Of a Blender that was
killed before it could save there is no list; then the note in the job's folder must be this user's own. Files from
before digests list names alone; then the note, or every file that decides what the job is, must be.
"""

import os
import shutil
from collections.abc import Callable
from functools import partial

import bpy

from ...core.files import cannot_write
from ...core.jobs import Job
from ...core.jobs.home import is_proved, is_users_own, read_home, write_home


def is_here(job: Job) -> bool:
    """Whether the job says that it belongs to the open file; a file that was never saved counts as one."""
    blend = read_home(job).get("blend", job.spec.target.blend)
    return blend is not None and _same(blend, bpy.data.filepath)


def is_ours(job: Job, listed: str | None) -> bool:
    """Whether the open file says so too, so that its result comes home by itself.

    listed: the digest that the file has of it, '' in files from before, None where the file does not list it. A file
    from before knows its jobs by name alone, and anybody can give a job that name: then it must be this user's.
    """
    if not is_here(job):
        return False
    if listed:
        return is_same(job, listed)
    return is_proved(job) or (listed is not None and is_users_own(job))


def is_same(job: Job, listed: str) -> bool:
    """Whether it may be the job that the file lists, as far as that knows: not another one that took its name."""
    return not listed or listed == job.digest


def is_settled(job: Job) -> bool:
    """Whether its file needs it no more: it was baked and saved, or the user has put it away."""
    return bool(read_home(job).get("settled"))


def move_here(job: Job, *, settled: bool) -> None:
    """Let the job belong to the open file."""
    plan_move_here(settled=settled)(job)


def plan_move_here(*, settled: bool) -> Callable[[Job], None]:
    """What lets a job belong to the file that is open now, on any thread."""
    return partial(write_home, blend=bpy.data.filepath, settled=settled)


def delete(job: Job) -> None:
    """Delete the job's folder. Without its spec it is no job, so what cannot be deleted is never read as one."""
    try:
        (job.folder / "spec.json").unlink()
    except OSError as error:
        raise cannot_write(job.folder, error) from error
    shutil.rmtree(job.folder, ignore_errors=True)


def is_open_file(path: str) -> bool:
    """Whether ``path`` is the open file."""
    return _same(path, bpy.data.filepath)


def _same(a: str, b: str) -> bool:
    if not (a and b):
        return a == b
    try:
        if os.path.exists(a) and os.path.exists(b):  # one file, however its name is spelt (macOS, Windows)
            return os.path.samefile(a, b)
        return os.path.normcase(os.path.realpath(a)) == os.path.normcase(os.path.realpath(b))
    except (OSError, ValueError):  # no path at all
        return False
