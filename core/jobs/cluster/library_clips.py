# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of a library, prepared on the nodes of a cluster: the same bits as here, a core each, as many as there are.

Blender reads the files; Ray is with the worker's Python, so a process of its own takes the clips to the cluster. What
goes to it and comes back lies in a temporary folder.
"""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...body import BodyModel
from ...body.io import body_from_arrays, body_to_arrays
from ...child_python import call_arguments, run_python
from ...control.tracking.library_building import PreparedClip, prepare_new_clip
from ...control.tracking.library_files import LIBRARY_FILE, StoredLibrary, store_library, stored_library_from_content
from ...errors import ClusterError, SinewError
from ...files import read_arrays, read_json, write_arrays, write_json
from ...motion import Clip
from ...motion.io.npz import clip_from_arrays, clip_to_arrays
from ...paths import is_plain_file
from ..where import Where, parse_where
from .calls import spread_calls
from .connection import Cluster

_BODY, _ASKED, _PREPARED, _SAID = "body.npz", "asked.json", f"prepared{LIBRARY_FILE.ending}", "said.json"
_HOURS = 24.0


@dataclass(frozen=True, eq=False)
class NewClip:
    """A clip that a library does not know yet: as it was read, where it is from, and by what digest it is known."""

    clip: Clip
    source: str
    digest: str


def prepare_on_cluster(
    body: BodyModel, clips: Sequence[NewClip], where: Where, python: str
) -> Mapping[str, PreparedClip | SinewError]:
    """By digest each clip as it was prepared, or why it could not be. python: the worker's, which has Ray."""
    if not clips:
        return {}
    with tempfile.TemporaryDirectory(prefix="sinew-library-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        write_arrays(folder / _BODY, *body_to_arrays(body))
        for number, one in enumerate(clips):
            write_arrays(folder / f"{number}.npz", *clip_to_arrays(one.clip))
        write_json(folder / _ASKED, [[one.source, one.digest] for one in clips])
        words = call_arguments("core.jobs.cluster.library_clips", "prepare_in", os.path.abspath(name), str(where))
        try:
            done = run_python(python, words, timeout_s=3600.0 * _HOURS)
        except subprocess.TimeoutExpired as error:
            raise ClusterError(f"Nothing came back within {_HOURS:g} hours", "Look into Ray's logs") from error
        if not is_plain_file(folder / _SAID):
            last = (done.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a word"])[-1]
            raise ClusterError(f"The clips could not be prepared there: {last}", "Leave out --where to do it here")
        said = read_json(folder / _SAID)
        if "message" in said:
            raise ClusterError(said["message"], said["hint"])
        found: dict[str, PreparedClip | SinewError] = {
            digest: SinewError(message, hint) for digest, message, hint in said["problems"]
        }
        if is_plain_file(folder / _PREPARED):
            stored = stored_library_from_content(*LIBRARY_FILE.read_content(folder / _PREPARED), "What came back")
            found |= {one.origin.digest: one for one in stored.clips}
        return found


def prepare_in(name: str, where: str) -> None:
    """In a process of its own: have the folder's clips prepared, and leave them there, or what was wrong."""
    folder = Path(name)
    try:
        write_json(folder / _SAID, {"problems": _prepare_all(folder, parse_where(where))})
    except SinewError as error:
        write_json(folder / _SAID, {"message": error.message, "hint": error.hint})


def _prepare_all(folder: Path, where: Where) -> list[tuple[str, str, str]]:
    """The (digest, message, hint) of each clip that cannot be prepared; the others are in the folder then."""
    asked = read_json(folder / _ASKED)
    body = body_from_arrays(*read_arrays(folder / _BODY))
    calls = [
        (body, clip_from_arrays(*read_arrays(folder / f"{number}.npz")), source, digest)
        for number, (source, digest) in enumerate(asked)
    ]
    made: dict[int, PreparedClip] = {}
    problems = []
    with Cluster(where) as cluster:
        for number, (clip, message, hint) in spread_calls(cluster, prepare_or_explain, calls):
            if clip is None:
                problems.append((asked[number][1], message, hint))
            else:
                made[number] = replace(clip, name=str(number))  # any two may have the same name
    if made:
        clips = tuple(made[number] for number in sorted(made))
        LIBRARY_FILE.write_content(folder / _PREPARED, *store_library(StoredLibrary(body, clips, False, 1.0)))
    return problems


def prepare_or_explain(body: BodyModel, clip: Clip, source: str, digest: str) -> tuple[PreparedClip | None, str, str]:
    """On a node: the clip as it was prepared, or why not and what to do."""
    try:
        return prepare_new_clip(body, clip, source, digest), "", ""
    except SinewError as error:
        return None, error.message, error.hint
