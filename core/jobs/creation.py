# SPDX-License-Identifier: GPL-3.0-or-later
"""Making a job's folder, and finding the folders there are."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..control import registry
from ..errors import JobError, OtherJob, SinewError
from ..files import (
    PRIVATE,
    Attachment,
    cannot_write,
    make_folder,
    remove_file,
    sha256_of,
    write_arrays,
)
from ..interrupts import finish_first
from ..limits import LARGEST_SEED
from ..motion import Clip
from ..motion.io.npz import save_clip
from ..paths import find_in_folder, is_folder, is_link, is_there
from .engine_choice import check_engine_name
from .folders import jobs_root
from .home import write_home
from .job import Job, open_job
from .spec import JobSpec, new_id, now_text
from .target import Target

_PART = re.compile(r"\..*\.[0-9a-f]{12}\.part")  # as ``write_whole`` calls them

Attachments = Mapping[str, Attachment | Callable[[], Attachment]]


@dataclass(frozen=True)
class UnreadableJob:
    """A folder among the jobs that cannot be read as one, and why."""

    folder: Path
    problem: SinewError


def all_jobs(root: Path | None = None) -> list[Job]:
    """Every readable job in the folder (``jobs_root()``), the oldest first."""
    return [job for job in find_jobs(root) if isinstance(job, Job)]


def find_jobs(root: Path | None = None) -> list[Job | UnreadableJob]:
    """The same with those that cannot be read, each in its place; a folder that is no job at all is left out."""
    found: list[Job | UnreadableJob] = []
    for folder in subfolders(root or jobs_root()):
        if folder.name.startswith("."):
            continue  # on its way out, see ``clean``
        try:
            found.append(_open_among(folder))
        except SinewError as error:
            if not _is_no_job(folder):
                found.append(UnreadableJob(folder, error))
    return found


def _open_among(folder: Path) -> Job:
    """The job in a folder of many, which has to be called like it: or two could claim to be the same."""
    job = open_job(folder)
    if job.spec.id != folder.name:
        raise JobError(
            f"The folder '{folder}' has the job '{job.spec.id}'", f"Call it '{job.spec.id}' again, or delete it"
        )
    return job


def _is_no_job(folder: Path) -> bool:
    """Whether it is known to have no spec; of a folder that may not be looked into nobody knows."""
    try:
        os.lstat(folder / "spec.json")
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def subfolders(root: Path) -> list[Path]:
    """The folders in ``root`` by name; none if it cannot be read. A link is none: it may lead anywhere."""
    try:
        with os.scandir(root) as entries:
            found = [entry for entry in entries if not is_link(Path(entry.path))]
    except OSError:
        return []
    return sorted(Path(entry.path) for entry in found if _is_folder(entry))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


@finish_first()
def create(
    clip: Clip,
    *,
    method: str,
    settings: Mapping[str, Any],
    engine: str = "auto",
    seed: int = 0,
    title: str = "",
    target: Target | None = None,
    attachments: Attachments | None = None,
    folder: Path | str | None = None,
) -> Job:
    """Make a job, ready to launch. Wrong choices are refused before anything is written.

    attachments: name -> (arrays, description), kept in ``inputs/`` beside the clip for who collects the result; or
        what gives that when it is called.
    folder: None for a new one in ``jobs_root()``. In a folder that holds the same job already, that job is
        given back, so that the same command resumes it.
    """
    known = registry.get_method(method)
    checked = known.settings_type.from_mapping(settings)
    check_engine_name(engine)
    attachments = attachments or {}
    _check_choices(seed, attachments)
    title = title or clip.name or known.label
    aim = target or Target()
    job_id = new_id(title)
    home = Job(Path(folder) if folder is not None else jobs_root() / job_id)

    def spec(inputs: dict[str, str]) -> JobSpec:
        values = checked.to_mapping()
        return JobSpec(job_id, title, method, engine, values, seed, aim, inputs, now_text(), __version__)

    if is_there(home.folder / "spec.json"):
        with tempfile.TemporaryDirectory(prefix="sinew-") as temporary:
            return _same(open_job(home.folder), spec(_write_inputs(Path(temporary), clip, attachments)))
    _check_empty(home)
    new = not is_there(home.folder)
    try:
        if new:
            make_folder(home.folder, _folder_mode())
        home.require_own_folders()
        _remove_parts(home)
        inputs = _write_inputs(home.inputs, clip, attachments)
        _close_to_others(home)
        # The spec comes last: without it the folder is not a job.
        home.write_note("spec.json", spec(inputs).to_mapping())
    except BaseException:
        shutil.rmtree(home.folder if new else home.inputs, ignore_errors=True)
        raise
    if aim.blend is not None:
        write_home(home, aim.blend)
    return home


def _remove_parts(home: Job) -> None:
    """Remove what a creation that was killed left half written; without a spec, nobody else is at the folder."""
    for folder in (home.folder, home.inputs):
        for part in find_in_folder(folder, ".part"):
            if _PART.fullmatch(part.name):
                remove_file(part)


def _folder_mode() -> int:
    """A job is its user's own, unless ``SINEW_SHARE_JOBS`` is set: then others may read it as they may any new file."""
    return 0o777 if os.environ.get("SINEW_SHARE_JOBS", "").strip() not in ("", "0") else 0o700


def _close_to_others(home: Job) -> None:
    """Let files be as private as the job's folder, also where that is opened later."""
    if home.mode != PRIVATE or sys.platform == "win32":
        return
    try:
        home.inputs.chmod(0o700)
        for path in find_in_folder(home.inputs):
            path.chmod(PRIVATE)
    except OSError as error:
        raise cannot_write(home.inputs, error) from error


def _check_choices(seed: int, attachments: Attachments) -> None:
    if not isinstance(seed, int) or seed < 0:
        raise JobError(f"The seed is {seed!r}", "Give a whole number of at least 0")
    if seed > LARGEST_SEED:  # the job's own spec would be refused for its digits
        raise JobError(f"The seed has {seed.bit_length()} bits", f"Give a whole number of at most {LARGEST_SEED}")
    for name in attachments:
        if name == "clip" or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise JobError(f"An attachment cannot be called '{name}'", "Use small letters, and not 'clip'")


def _check_empty(home: Job) -> None:
    """Refuse to mix a job with other files; ``inputs`` and parts may be left of a creation that was interrupted."""
    if not is_folder(home.folder):
        return
    try:
        others = {name for name in os.listdir(home.folder) if not _PART.fullmatch(name)} - {home.inputs.name}
    except OSError as error:
        raise cannot_write(home.folder, error) from error
    if others:
        raise JobError(f"The folder '{home.folder}' holds other files", "Choose an empty or new folder for the job")


def _same(there: Job, wanted: JobSpec) -> Job:
    if there.spec.content != wanted.content:
        raise OtherJob(
            f"The folder '{there.folder}' holds another job ('{there.spec.title}')",
            "Choose another folder, or delete that one",
        )
    return there


def _write_inputs(folder: Path, clip: Clip, attachments: Attachments) -> dict[str, str]:
    """Write clip and attachments; gives file name -> sha256."""
    make_folder(folder)
    save_clip(folder / "clip.npz", clip)
    for name, given in attachments.items():
        arrays, meta = given() if callable(given) else given
        write_arrays(folder / f"{name}.npz", arrays, meta)
    return {name: sha256_of(folder / name) for name in ("clip.npz", *(f"{name}.npz" for name in attachments))}
