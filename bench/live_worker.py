# SPDX-License-Identifier: GPL-3.0-or-later
"""A live worker alone: how many frames a second it gives, and what a frame takes of a processor."""

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..core import jobs
from ..core.control.cast import CastMember, make_member_attachments
from ..core.control.live.method import LiveSettings
from ..core.control.registry import get_family, live_names
from ..core.errors import SinewError
from ..core.jobs.live.link import LiveLink
from ..core.motion import Clip
from ..core.motion.io.stock import load_stock

_PATIENCE_S, _STEERED_EVERY_S = 300.0, 3.0
_APART_M, _STANDS_S = 3.0, 1.0
_TICKS = 100.0
"""Of the kernel's clock in a second."""


def measure_worker(clip_name: str, learned: Path | None, characters: int, seconds: float) -> dict[str, Any]:
    """A row: so many characters live by what was learned, or by a clip, steered now and then where they can be."""
    attached: dict[str, Any] = {}
    if learned is None:
        plays, clip = live_names()[0], load_stock(clip_name)
    else:
        plays = next(name for name in live_names()[1:] if learned.name.endswith(get_family(name).learned.ending))
        kind = get_family(plays).learned
        content = kind.read_content(learned)
        clip = _standing(kind.skeleton_of(kind.from_content(content, str(learned))))
        attached[kind.attachment] = content
    for number in range(1, characters):
        member = CastMember(f"Other {number}", _moved(clip, _APART_M * number), number)
        attached |= make_member_attachments(member, {})
    folder = Path(tempfile.mkdtemp(prefix="sinew-bench-live-"))
    try:
        settings = LiveSettings(plays=plays, quality="draft").to_mapping()
        job = jobs.create(
            clip, method="live", settings=settings, engine="mujoco", attachments=attached, folder=folder / "job"
        )
        return {"what": f"{characters} by {plays}, frames a second", **_run(LiveLink(job), characters, seconds)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(link: LiveLink, characters: int, seconds: float) -> dict[str, Any]:
    """Figures of a worker that is ended afterwards."""
    try:
        told = _wait(link)
        steered = [one["steered"] for one in told["characters"]]
        assert link.newest is not None
        begun_s, first, spent_s = time.perf_counter(), link.newest.frame, _processor_s(link.process.pid)
        steered_s, way, times = begun_s, 0, []
        seen = first
        while time.perf_counter() - begun_s < seconds and not link.ended:
            link.read()
            if link.newest.frame != seen:
                seen = link.newest.frame
                times.append(time.perf_counter())
            if any(steered) and time.perf_counter() - steered_s > _STEERED_EVERY_S:
                steered_s, way = time.perf_counter(), way + 1
                velocity = [1.3 * np.cos(way), 1.3 * np.sin(way)]
                for number in range(characters):
                    link.send({"do": "steer", "character": number, "velocity": velocity})
            time.sleep(0.002)
        if link.ended:
            raise SinewError(f"The worker ended: {link.ended}", "Look at what was said before")
        lasted_s, frames = time.perf_counter() - begun_s, link.newest.frame - first
        return {
            "characters": characters,
            "seconds": lasted_s,
            "frames_a_second": frames / lasted_s,
            "step_ms": 1000.0 * (_processor_s(link.process.pid) - spent_s) / max(frames, 1),
            "longest_gap_ms": 1000.0 * float(np.max(np.diff(times), initial=0.0)),
        }
    finally:
        link.close()


def _wait(link: LiveLink) -> dict[str, Any]:
    """What the worker says of who is there, once they are."""
    ready, until_s = None, time.perf_counter() + _PATIENCE_S
    while ready is None or link.newest is None:
        for message in link.read():
            if message["kind"] == "failed":
                raise SinewError(str(message["message"]), str(message["hint"]))
            ready = message if message["kind"] == "ready" else ready
        if link.ended or time.perf_counter() > until_s:
            raise SinewError(f"The session did not begin: {link.ended}", "Look at what was said before")
        time.sleep(0.005)
    return ready


def _standing(skeleton: Any) -> Clip:
    """The bones at rest, for a moment."""
    count = round(_STANDS_S * 60.0) + 1
    pos, quat = (np.repeat(array[None], count, axis=0) for array in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    return Clip(skeleton, 60.0, pos, quat, "standing")


def _moved(clip: Clip, aside_m: float) -> Clip:
    pos = np.array(clip.local_pos)
    pos[:, clip.skeleton.parents < 0, 1] += aside_m
    return Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz, clip.name)


def _processor_s(pid: int) -> float:
    """What a process has used of processors, on Linux; NaN elsewhere."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(words[11]) + int(words[12])) / _TICKS
