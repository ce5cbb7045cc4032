# SPDX-License-Identifier: GPL-3.0-or-later
"""Which .blend a job belongs to, so that no result is ever baked into a wrong one.

A job belongs to the file that it was started from, until that is saved under another name. A spec never
changes, so what changes stands in ``home.json`` beside it.
"""

import os
import shutil
from typing import Any

import bpy

from ...core.errors import BadFile
from ...core.files import cannot_write, read_json, write_json
from ...core.jobs import Job


def is_here(job: Job) -> bool:
    """Whether the job belongs to the open file; a file that was never saved counts as one."""
    blend = _home(job).get("blend", job.spec.target.blend)
    return blend is not None and _same(blend, bpy.data.filepath)


def is_settled(job: Job) -> bool:
    """Whether its file needs it no more: it was baked and saved, or the user has put it away."""
    return bool(_home(job).get("settled"))


def move_here(job: Job, *, settled: bool) -> None:
    """Let the job belong to the open file."""
    home = {"blend": bpy.data.filepath, "settled": settled}
    if _home(job) != home:
        write_json(job.folder / "home.json", home)


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


def _home(job: Job) -> dict[str, Any]:
    try:
        home = read_json(job.folder / "home.json")
    except BadFile:
        return {}
    return home if isinstance(home, dict) else {}


def _same(a: str, b: str) -> bool:
    if not (a and b):
        return a == b
    return os.path.normcase(os.path.realpath(a)) == os.path.normcase(os.path.realpath(b))
