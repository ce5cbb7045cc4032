# SPDX-License-Identifier: GPL-3.0-or-later
"""The process in which damaged files are opened: Blender as a module, one case after the other.

    python child.py FOLDER SEED     makes the whole files in FOLDER, then answers one line of JSON with another

A case that hangs, dies or eats memory takes this process with it, not the one that counts (``runner.py``).
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import runpy
import sys
import time
import traceback
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST_MESSAGE = 2010  # a message and a hint, each as long as they may be
_ROOM = 3 << 30  # of address space beyond what Blender itself has: the net below the limit that is measured


def main(folder: str) -> int:
    """Answer until there is nothing more to be asked."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    spoken = os.path.join(folder, "spoken-%d.txt" % os.getpid())
    handle = os.open(spoken, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    os.environ.update(SINEW_JOBS=os.path.join(folder, "jobs"), SINEW_CACHE="")
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    sys.path.insert(0, str(ROOT))
    seeds, cases = (importlib.import_module("tools.fuzz.%s" % name) for name in ("seeds", "cases"))
    made = seeds.make_seeds(Path(folder) / "seeds")
    _limit()
    print(json.dumps(made), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        answer = answer_case(cases, asked)
        ctypes.CDLL(None).fflush(None)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        said = os.pread(handle, 1 << 20, 0).decode("utf-8", "surrogateescape")
        if answer["outcome"] != "failed" and (flaw := flaw_of_output(said)):
            answer = {
                "outcome": "failed",
                "what": "output: %s" % flaw,
                "told": said[max(said.find("Traceback") - 200, 0) :][:4000],
            }
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)


def _limit() -> None:
    with open("/proc/self/statm", encoding="ascii") as stream:
        own = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (own + _ROOM, own + _ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answer_case(cases, asked: dict) -> dict:
    """Open a damaged file as Sinew would; what came of it, and what it took."""
    from sinew.core.errors import SinewError

    begun, before = time.monotonic(), _start_of_memory()
    answer = {"outcome": "taken"}
    cases.longest_run_s = asked.get("patience", 1) * cases.LONGEST_RUN_S
    try:
        cases.CASES[asked["format"]](Path(asked["path"]), asked["seed"])
    except SinewError as error:
        flaw = flaw_of_message(str(error))
        answer = {"outcome": "failed", "what": "message: %s" % flaw} if flaw else {"outcome": "refused"}
        answer["told"] = str(error)[:2000]
    except cases.Misbehaviour as error:
        answer = {"outcome": "failed", "what": str(error)[:300], "told": str(error)[:4000]}
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        answer = {"outcome": "failed", "what": "traceback: %s" % where(error), "told": traceback.format_exc()[-4000:]}
    answer["seconds"] = time.monotonic() - begun
    answer["grown_mb"] = round((_peak_of_memory() - before) / 1024.0, 1)
    return answer


def where(error: BaseException) -> str:
    """Kind and place of an error, by which it is known again."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "fuzz" not in frame.filename]
    own = [frame for frame in frames if frame.filename.startswith(str(ROOT)) and ".venv" not in frame.filename]
    last = (own or frames or [None])[-1]
    at = "%s:%s" % (os.path.relpath(last.filename, ROOT), last.name) if last else "?"
    return "%s in %s" % (type(error).__name__, at)


def flaw_of_message(text: str) -> str:
    """What is wrong with a message for people; '' if nothing is."""
    if "\n" in text or "\r" in text:
        return "it has several lines"
    if "Traceback" in text or "Location:" in text:
        return "it shows a traceback"
    if len(text) > LONGEST_MESSAGE:
        return "it has %d characters" % len(text)
    return flaw_of_output(text)


def flaw_of_output(text: str) -> str:
    """What must not reach a terminal: control characters, other directions of writing, a traceback."""
    if "Traceback (most recent call last)" in text:
        return "a traceback"
    # What Blender itself logs of an enumeration that has no such value is not Sinew's to say.
    for character in "\n".join(line for line in text.split("\n") if not line.startswith("WARN (bpy.")):
        kind = unicodedata.category(character)
        if (
            kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\n\t\u200c\u200d"
        ) or "\udc80" <= character <= "\udcff":
            return "the character U+%04X" % ord(character)
    return ""


def _start_of_memory() -> int:
    """Forget the highest use so far; kilobytes in use now."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")
    return _status("VmRSS")


def _peak_of_memory() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    with open("/proc/self/status", encoding="ascii") as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith(name + ":"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
