# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew kills --count 200``: everything that Sinew runs, killed at random moments and gone on with.

Workers, simulation, variations, skills, bounds, a library and its training, Blender and the installer get SIGKILL at
moments that the seed decides.
Then each is started again until it ends by itself: nothing is lost, nothing is there twice, and every bit of the result
is that of a run that nobody killed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import runpy
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of a hundred kills, how many each gets.
SHARES = {
    "worker": 24,
    "simulate": 18,
    "variations": 10,
    "skills": 8,
    "bounds": 8,
    "direct": 8,
    "library": 4,
    "blender": 10,
    "installer": 10,
}


def main(argv: list[str]) -> int:
    """Kill, and say what came of it; 1 if anything was lost, doubled or changed."""
    given = parse(argv)
    os.environ["SINEW_CACHE"] = ""
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    sys.path.insert(0, str(ROOT))
    killing, targets = (importlib.import_module(f"tools.kills.{name}") for name in ("killing", "targets"))
    names = given.only or list(SHARES)
    whole, failed, begun = sum(SHARES[name] for name in names), 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sinew-kills-") as name:
        os.environ["SINEW_JOBS"] = str(Path(name) / "jobs")
        for target in names:
            count = max(1, round(given.count * SHARES[target] / whole))
            toll = killing.kill_target(targets.TARGETS[target](), count, given.seed, Path(name) / target)
            failed += bool(toll.broken)
            print(
                "%-11s %4d kills %4d runs  %s" % (target, toll.kills, toll.runs, toll.broken or "same bits"), flush=True
            )
    print("%.1f minutes, seed %d" % ((time.monotonic() - begun) / 60.0, given.seed))
    return 1 if failed else 0


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="./sinew kills", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--count", type=int, default=200, metavar="N", help="how many kills in all (default 200)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which moments (default 0)")
    parser.add_argument("--only", action="append", choices=sorted(SHARES), help="only this; may be repeated")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
