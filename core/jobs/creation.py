# SPDX-License-Identifier: GPL-3.0-or-later
"""Making a job's folder, and finding the folders there are."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import __version__
from ..control import registry
from ..errors import JobError, SinewError
from ..files import Attachment, cannot_write, make_folder, sha256_of, write_arrays, write_json
from ..motion import Clip
from ..motion.io.npz import save_clip
from .engine_choice import check_engine_name
from .job import Job, open_job
from .spec import JobSpec, new_id, now_text
from .target import Target

Attachments = Mapping[str, Attachment | Callable[[], Attachment]]


def jobs_root() -> Path:
    """Where jobs go: ``SINEW_JOBS``, else this user's data folder on this system."""
    if chosen := os.environ.get("SINEW_JOBS"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Sinew" / "jobs"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Sinew" / "jobs"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "sinew" / "jobs"


def all_jobs(root: Path | None = None) -> list[Job]:
    """Every readable job in the folder (``jobs_root()``), the oldest first."""
    jobs = []
    for folder in subfolders(root or jobs_root()):
        if folder.name.startswith("."):
            continue  # on its way out, see ``clean``
        try:
            jobs.append(open_job(folder))
        except SinewError:
            continue  # not a job, or of a newer Sinew
    return jobs


def subfolders(root: Path) -> list[Path]:
    """The folders in ``root`` by name; none if it cannot be read."""
    try:
        return sorted(path for path in root.iterdir() if path.is_dir())
    except OSError:
        return []


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

    if (home.folder / "spec.json").exists():
        with tempfile.TemporaryDirectory(prefix="sinew-") as temporary:
            return _same(open_job(home.folder), spec(_write_inputs(Path(temporary), clip, attachments)))
    _check_empty(home)
    new = not home.folder.exists()
    try:
        inputs = _write_inputs(home.inputs, clip, attachments)
        # The spec comes last: without it the folder is not a job.
        write_json(home.folder / "spec.json", spec(inputs).to_mapping())
    except BaseException:
        shutil.rmtree(home.folder if new else home.inputs, ignore_errors=True)
        raise
    return home


def _check_choices(seed: int, attachments: Attachments) -> None:
    if not isinstance(seed, int) or seed < 0:
        raise JobError(f"The seed is {seed!r}", "Give a whole number of at least 0")
    for name in attachments:
        if name == "clip" or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise JobError(f"An attachment cannot be called '{name}'", "Use small letters, and not 'clip'")


def _check_empty(home: Job) -> None:
    """Refuse to mix a job with other files; ``inputs`` may be left of a creation that was interrupted."""
    if not home.folder.is_dir():
        return
    try:
        others = set(os.listdir(home.folder)) - {home.inputs.name}
    except OSError as error:
        raise cannot_write(home.folder, error) from error
    if others:
        raise JobError(f"The folder '{home.folder}' holds other files", "Choose an empty or new folder for the job")


def _same(there: Job, wanted: JobSpec) -> Job:
    if there.spec.content != wanted.content:
        raise JobError(
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
