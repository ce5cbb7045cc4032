# SPDX-License-Identifier: GPL-3.0-or-later
"""Press Ctrl-C at many moments of a command, and look at what is left.

    python tools/interrupting.py --tries 50 --seconds 3 -- ./sinew simulate walk --set quality=draft --preview x.png

Each try starts the command anew, with temporary files and jobs in folders of its own, and sends SIGINT after a seeded
delay of up to --seconds, to the process alone or to its group as a terminal does. What must be: no traceback, no crash,
exit code 130 (or 0, where it was done first), no process, temporary file or half job left. Linux. Standard library.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# How long a command may take to end, and its worker to hear that nobody wants it.
PATIENCE_S = 60.0


def interrupt(command: list[str], delay_s: float, group: bool, variables: dict[str, str] | None = None) -> str:
    """How one try ended: 'clean', 'done', or what was wrong."""
    with tempfile.TemporaryDirectory(prefix="interrupting-") as name:
        folder = Path(name)
        for part in ("tmp", "jobs"):
            (folder / part).mkdir()
        mark = {"INTERRUPTING": name}
        own = {
            **os.environ,
            **(variables or {}),
            "TMPDIR": str(folder / "tmp"),
            "SINEW_JOBS": str(folder / "jobs"),
            **mark,
        }
        with open(folder / "said", "wb") as said:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=own, start_new_session=True
            )
            time.sleep(delay_s)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT) if group else process.send_signal(signal.SIGINT)
            try:
                code = process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                end_all(name)
                return "it did not end"
        return judge(folder, code, name)


def judge(folder: Path, code: int, mark: str) -> str:
    """What was left of it."""
    said = (folder / "said").read_text("utf-8", "replace")
    for word in ("Traceback", "Segmentation", "Fatal Python", "Exception ignored", "KeyboardInterrupt"):
        if word in said:
            return "it said: %s" % said[-600:]
    if code == -signal.SIGINT and not said:
        return "clean"  # it was ended before there was a Python to hear of it
    if code not in (0, 130):
        return "exit code %d: %s" % (code, said[-300:])
    stop = time.monotonic() + 10.0
    while marked(mark) and time.monotonic() < stop:
        time.sleep(0.05)
    if left := marked(mark):
        end_all(mark)
        return "processes were left: %s" % left
    if files := sorted(path.name for path in (folder / "tmp").iterdir()):
        return "temporary files were left: %s" % files
    halves = [job.name for job in (folder / "jobs").iterdir() if not (job / "spec.json").exists()]
    return "half a job was left: %s" % halves if halves else "clean" if code else "done"


def marked(mark: str) -> list[tuple[int, str]]:
    """The processes that have our mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            own = entry.name.isdigit() and (entry / "environ").read_bytes().split(b"\0")
            if own and ("INTERRUPTING=" + mark).encode() in own:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")[:80]
                found += [(int(entry.name), words.decode("utf-8", "replace"))]
        except OSError:  # it has gone, or is a zombie
            continue
    return found


def end_all(mark: str) -> None:
    """Kill what has our mark."""
    for pid, _ in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def main(argv: list[str]) -> int:
    """Try, and say how often it ended how."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--after", type=float, default=0.0, help="the shortest delay in seconds")
    parser.add_argument("--seconds", type=float, default=2.0, help="the longest delay")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args(argv)
    chance, ends = random.Random(given.seed), Counter[str]()
    command = [shutil.which(given.command[0]) or given.command[0], *given.command[1:]]
    for number in range(given.tries):
        delay, group = chance.uniform(given.after, given.seconds), chance.random() < 0.5
        end = interrupt(command, delay, group)
        ends[end if end in ("clean", "done") else "wrong"] += 1
        if end not in ("clean", "done"):
            print("try %d, after %.3f s%s: %s" % (number, delay, ", the group" if group else "", end), flush=True)
    print(dict(ends))
    return 1 if ends["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
