# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew fuzz --minutes N``: damaged files of every format, opened as Sinew opens them.

Fails on a traceback, a crash, a hang, more than 1 GB of memory, a message of several lines, or a control character on a
terminal. The same seed damages the same files in the same way; what is found lies in out/fuzz, once for each cause.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from typing import Any, Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

# How many times as long as usual a case may take, and a second time where it seemed to hang.
PATIENCE = (1, 8)
# Formats, and how many cases of each there are for one of the slowest.
FORMATS = {
    "bvh": 6,
    "fbx": 4,
    "glb": 3,
    "gltf": 3,
    "clip": 4,
    "take": 6,
    "graph": 6,
    "controller": 6,
    "medley": 4,
    "library": 3,
    "direct": 3,
    "stock": 4,
    "settings": 4,
    "recording": 4,
    "messages": 4,
    "job": 6,
    "resumed": 1,
    "blend": 3,
    "arguments": 3,
}


def main(argv: list[str]) -> int:
    """Try cases until the time is over; 1 if any of them was not taken or refused as it should be."""
    from tools.fuzz.findings import Findings
    from tools.fuzz.runner import Child, make_case

    given = parse(argv)
    formats = given.only or list(FORMATS)
    findings = Findings(formats, given.seed, given.out)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sinew-fuzz-") as folder:
        child, case = Child(folder), os.path.join(folder, "case")
        try:
            child.start()
            for kind, number in numbered(formats, given.case):
                if time.monotonic() - begun > 60.0 * given.minutes or findings.total >= given.cases:
                    break
                for patience in PATIENCE:
                    path = make_case(kind, child.seeds[kind], given.seed, number, case)
                    answer = child.ask({"format": kind, "path": path, "seed": number, "patience": patience})
                    if not is_late(answer):
                        break
                findings.add(kind, number, answer, case)
                if given.case is not None:
                    print(json.dumps(answer, indent=2))
        finally:
            child.stop()
    print(findings.summary((time.monotonic() - begun) / 60.0))
    return 1 if findings.causes else 0


def is_late(answer: dict[str, Any]) -> bool:
    """Whether a case may hang: it is tried once more, because a machine that is busy elsewhere is slow as well."""
    return bool(answer.get("what", "").startswith("hang"))


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="./sinew fuzz", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--minutes", type=float, default=2.0, metavar="N", help="how long (default 2)")
    parser.add_argument("--cases", type=int, default=10**9, metavar="N", help="how many at most")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which files (default 0)")
    parser.add_argument("--only", action="append", choices=sorted(FORMATS), help="only this format; may be repeated")
    parser.add_argument("--case", type=int, metavar="N", help="this case alone, with --only")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "fuzz"), metavar="DIR", help="where findings go")
    given = parser.parse_args(argv)
    if given.case is not None and len(given.only or ()) != 1:
        parser.error("--case wants one --only")
    return given


def numbered(formats: list[str], case: Any) -> Iterator[tuple[str, int]]:
    """(format, number) of one case after the other, those that are quick more often."""
    if case is not None:
        yield formats[0], case
        return
    done = dict.fromkeys(formats, 0)
    while True:
        for kind in formats:
            for _ in range(FORMATS[kind]):
                yield kind, done[kind]
                done[kind] += 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
