# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sinew does with a file of each format; a ``SinewError`` is a refusal, and anything else that is raised a bug."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import bpy

from sinew.bridge import cli
from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import monitor, requests
from sinew.bridge.learned.learned_file import learned_file
from sinew.bridge.library.assembling import is_trained_file, open_library
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core import jobs
from sinew.core.control import registry
from sinew.core.control.live.commands import parse_command, parse_recording, read_recording
from sinew.core.errors import SinewError
from sinew.core.jobs.live.wire import MOST_ASKED_BYTES, MOST_TOLD_BYTES, MessageReader, PoseLayout, PoseMessage
from sinew.core.motion.inspection import inspect_clip
from sinew.core.motion.io import stock
from sinew.core.motion.io.bvh import load_bvh
from sinew.core.motion.io.npz import load_take

from . import blend_properties

ENTRY = Path(__file__).resolve().parents[2] / "core" / "entry.py"
LONGEST_RUN_S = 25.0
longest_run_s = LONGEST_RUN_S  # of this case, which may have been given more patience


class Misbehaviour(Exception):
    """What no exception tells: a row that was forged, a job that ended in a bug."""


def read_motion(path: Path, seed: int) -> None:
    """As ``simulate`` opens and reads it, up to where the job would be made."""
    left = open_input(str(path))
    obj = requests.find_armature()
    inspect_clip(read_rig(obj, scale=left).clip)


def read_take(path: Path, seed: int) -> None:
    """As a finished job's take comes home."""
    load_take(path)


def read_learned(family: str) -> Callable[[Path, int], None]:
    """As a panel shows it and as a job attaches it."""

    def read(path: Path, seed: int) -> None:
        file = learned_file(family)
        "\n".join(file.kind.describe(file.read_file(path).model))

    return read


def read_bvh(path: Path, seed: int) -> None:
    """As ``simulate`` opens it, and as a library does, without Blender."""
    try:
        inspect_clip(load_bvh(path))
    except SinewError as error:
        read_motion_too(path, seed, error)
        return
    read_motion(path, seed)


def read_motion_too(path: Path, seed: int, refused: SinewError) -> None:
    """The other way, whose refusal counts as well; if it takes the file, the first one's does."""
    read_motion(path, seed)
    raise refused


def show_library(path: Path, seed: int) -> None:
    """As ``library show`` does, in words, as JSON and as a picture."""
    for more in ([], ["--json"], ["--picture", str(path.with_name("picture.png"))]):
        if (code := cli.main(["library", "show", str(path), *more])) not in (0, 1):
            raise Misbehaviour("exit code %r" % (code,))
    open_library(path)  # whose refusal counts


def read_director(path: Path, seed: int) -> None:
    """As a panel shows it, as a job that plays it attaches it, and as ``library show`` does."""
    is_trained_file(path)
    try:
        read_learned("direct")(path, seed)
    finally:
        show_library(path, seed)


def read_stock(path: Path, seed: int) -> None:
    """As ``clips`` lists it, and as it is loaded."""
    folder = path.with_name(path.name + "-stock")
    folder.mkdir(exist_ok=True)
    (folder / "humanoid3d_odd.txt").write_bytes(path.read_bytes())
    os.environ["SINEW_STOCK"] = str(folder)
    try:
        stock.stock_info("odd")
        inspect_clip(stock.load_stock("odd"))
    finally:
        del os.environ["SINEW_STOCK"]


def read_settings(path: Path, seed: int) -> None:
    """As a job's spec and as ``--set`` give them."""
    try:
        found: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return  # a spec that is no JSON is a case of 'job'
    refused = None
    for name in registry.all_method_names():
        kind, values = registry.get_method(name).settings_type, found.get(name) if isinstance(found, dict) else found
        texts = [f"{key}={value}" for key, value in values.items()] if isinstance(values, dict) else [str(values)]
        for make, given in ((kind.from_mapping, values), (kind.from_texts, texts)):
            if make == kind.from_mapping and not isinstance(given, dict):
                continue  # refused where the spec is read
            try:
                make(given)
            except SinewError as error:
                refused = error
    if refused is not None:
        raise refused


def read_jobs(path: Path, seed: int) -> None:
    """As the list, the panel and who collects it see it; a job beside it must not suffer."""
    os.environ["SINEW_JOBS"] = str(path.parent)
    others = sum(1 for one in path.parent.iterdir() if one != path)
    found = jobs.all_jobs()
    if len(found) < others:
        raise Misbehaviour("rows: %d jobs are listed, %d are whole" % (len(found), others))
    _expect_rows(found)
    refused = None
    for job in found:
        for look in (_look_at, _bring_home):
            try:
                look(job)
            except SinewError as error:
                refused = error
    _watch(path)
    if refused is not None:
        raise refused


def _expect_rows(found: Any) -> None:
    """The list has a row a job, whatever they are called."""
    handle = 1
    sys.stdout.flush()
    before = os.fstat(handle).st_size
    if cli.main(["jobs", "list"]) != 0:
        raise Misbehaviour("rows: 'jobs list' failed")
    sys.stdout.flush()
    with open("/proc/self/fd/%d" % handle, "rb") as stream:
        stream.seek(before)
        rows = stream.read().decode("utf-8", "replace").rstrip("\n").split("\n")
    if len(rows) > max(len(found), 1) * 2 + 4 and len(rows) > len(found):
        raise Misbehaviour("rows: %d for %d jobs" % (len(rows), len(found)))
    cli.main(["jobs", "list", "--json"])


def _look_at(job: Any) -> None:
    status = job.status()
    "%s %s %s" % (status.message, status.hint, "".join(status.summary))
    cli.main(["jobs", "show", job.spec.id])


def _bring_home(job: Any) -> None:
    job.check_inputs()
    job.clip()
    for name in job.spec.inputs:
        job.attachment(name.removesuffix(".npz"))
    job.collected()
    job.result()


def _watch(path: Path) -> None:
    """The open file's monitor takes a look."""
    bpy.ops.wm.read_homefile(use_empty=True)
    with blend_properties.registered():
        for job in jobs.all_jobs():
            try:
                monitor.watch(job, bpy.context.scene)
            except SinewError:
                continue
        monitor.tick_monitor()
        monitor.watched_jobs()
        blend_properties.draw_panels()
        for job in jobs.all_jobs():
            try:
                monitor.forget(job.spec.id)
            except SinewError:
                continue


def run_resumed(path: Path, seed: int) -> None:
    """A worker goes on with the job; its last word is done or a refusal, never a bug."""
    job = jobs.Job(path)
    process = subprocess.Popen(
        [sys.executable, str(ENTRY), str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=path.parent,
    )
    try:
        process.wait(longest_run_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise Misbehaviour("hang: the worker did not end") from None
    if process.returncode < 0:
        raise Misbehaviour("crash: the worker ended by signal %d" % -process.returncode)
    status = job.status()
    if "met a bug" in status.message:
        raise Misbehaviour("worker: %s" % status.message)
    if status.state == "done":
        job.result()
    elif status.state == "failed":
        raise SinewError(status.message, status.hint)


def run_arguments(path: Path, seed: int) -> None:
    """As a shell gives them; the command ends with a line, whatever they are."""
    words = [str(word) for word in json.loads(path.read_bytes())]
    os.chdir(path.parent)
    os.environ["SINEW_JOBS"] = str(path.parent / "jobs")
    try:
        code = cli.main(words)
    finally:
        os.chdir("/")  # its folder goes with the case
    if code not in (0, 1, 2, 130):
        raise Misbehaviour("exit code %r" % (code,))


def read_recording_of_live(path: Path, seed: int) -> None:
    """As ``live --commands`` reads it."""
    read_recording(path)


def hear_messages(path: Path, seed: int) -> None:
    """As both ends of a live session hear them: torn anywhere, and each looked at as what it may be."""
    data, layout = path.read_bytes(), PoseLayout((3, 2), 1)
    size, refused = 1 + seed % 97, None
    for most in (MOST_ASKED_BYTES, MOST_TOLD_BYTES):
        reader = MessageReader(most)
        try:
            for first in range(0, len(data), size):
                for message in reader.feed(data[first : first + size]):
                    _hear(message, layout)
        except SinewError as error:
            refused = error
    if refused is not None:
        raise refused


def _hear(message: Any, layout: PoseLayout) -> None:
    if isinstance(message, PoseMessage):
        if len(message.numbers) == layout.size:
            layout.split(message.numbers)
    elif isinstance(message.get("text"), str):
        parse_recording(message["text"], "The recording")
    elif "do" in message:
        parse_command({"frame": 0, **message})


CASES: dict[str, Callable[[Path, int], None]] = {
    "bvh": read_bvh,
    "fbx": read_motion,
    "glb": read_motion,
    "gltf": read_motion,
    "clip": read_motion,
    "take": read_take,
    "graph": read_learned("graph"),
    "controller": read_learned("bounds"),
    "medley": read_learned("medley"),
    "library": show_library,
    "direct": read_director,
    "stock": read_stock,
    "settings": read_settings,
    "recording": read_recording_of_live,
    "messages": hear_messages,
    "job": read_jobs,
    "resumed": run_resumed,
    "blend": blend_properties.open_and_draw,
    "arguments": run_arguments,
}
