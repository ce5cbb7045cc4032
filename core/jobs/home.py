# SPDX-License-Identifier: GPL-3.0-or-later
"""Which .blend a job belongs to, noted in its ``home.json`` with a proof that this user's Sinew noted it.

A spec says from which .blend a job was started, and never changes; where it belongs does, when that is saved under
another name. In a folder that others write to, anybody can plant a job that names somebody's .blend. So the note is
signed with a key that only its user has: a result comes home by itself only where the .blend knows the job, or where
the note is ours. Without a key nothing is lost: the user is asked.
"""

import hashlib
import hmac
import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from ..errors import SinewError
from ..files import PRIVATE, read_bytes, write_new
from ..paths import real_path
from .folders import user_data_folder
from .job import Job

_NAME = "home.json"
_KEY_BYTES = 32
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def read_home(job: Job) -> dict[str, Any]:
    """The note; what it says is believed no more than the spec, unless ``is_proved``."""
    home = job.read_note(_NAME) or {}
    return {name: value for name, value in home.items() if isinstance(value, _KINDS.get(name, str))}


_KINDS = {"settled": bool}


def write_home(job: Job, blend: str, *, settled: bool = False) -> None:
    """Note to which .blend the job belongs, and whether that needs it no more."""
    home: dict[str, Any] = {"blend": blend, "settled": settled}
    if proof := _sign(job, blend):
        home["proof"] = proof
    if job.read_note(_NAME) != home:
        job.write_note(_NAME, home)


def is_proved(job: Job) -> bool:
    """Whether this user's own Sinew noted that this very job belongs to the .blend that its note names."""
    home = read_home(job)
    expected = _sign(job, home.get("blend", ""))
    return bool(expected) and hmac.compare_digest(expected.encode(), home.get("proof", "").encode())


def is_users_own(job: Job) -> bool:
    """Whether nobody else can have written it: its folder, its spec and its events are this user's own.

    For jobs from before there were proofs. Nobody can give a file to another user; but where others may write to it,
    its owner says nothing. Windows tells owners otherwise, so that there it has to lie among the user's own data.
    """
    if not hasattr(os, "geteuid"):
        return job.folder.is_relative_to(real_path(user_data_folder()))
    try:
        found = [os.lstat(path) for path in (job.folder, job.folder / "spec.json", job.events)]
    except OSError:
        return False
    return all(about.st_uid == os.geteuid() and not about.st_mode & _OTHERS_WRITE for about in found)


def _sign(job: Job, blend: str) -> str:
    """'' where there is no key."""
    key = _read_key()
    words = json.dumps([job.spec.id, job.digest, blend])
    return hmac.new(key, words.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest() if key else ""


def _key_file() -> Path:
    """``SINEW_KEY``, else in this user's folder; never among the jobs, which others may read."""
    return Path(os.environ.get("SINEW_KEY") or user_data_folder() / "key")


def _read_key() -> bytes:
    """The user's key, made when it is first needed; empty where there can be none."""
    path = _key_file()
    try:
        write_new(path, secrets.token_bytes(_KEY_BYTES), PRIVATE)
        key = read_bytes(path, _KEY_BYTES)
    except SinewError:
        return b""
    return key if len(key) == _KEY_BYTES else b""
