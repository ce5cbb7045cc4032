# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the cases: counted by format, and whatever failed kept once for each cause."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections import Counter
from typing import Any

MOST_MB = 1024.0
# Blender takes some 2 KB for a pose of a bone, which a BVH may have in 6 bytes: files that are large may take more.
MOST_TIMES = 300.0
_LARGEST_KEPT = 50 << 20


class Findings:
    """Counts and causes of one run."""

    def __init__(self, formats: list[str], seed: int, out: str) -> None:
        self.seed, self.out = seed, out
        self.counts: dict[str, Counter] = {kind: Counter() for kind in formats}
        self.longest: dict[str, float] = dict.fromkeys(formats, 0.0)
        self.largest_mb: dict[str, float] = dict.fromkeys(formats, 0.0)
        # (format, what) -> how often, and the number of the first such case.
        self.causes: dict[tuple[str, str], list[int]] = {}

    @property
    def total(self) -> int:
        """How many cases there were."""
        return sum(sum(counts.values()) for counts in self.counts.values())

    def add(self, kind: str, number: int, answer: dict[str, Any], case: str) -> None:
        """Count an answer; the first case of each cause is kept."""
        most_mb = MOST_MB + MOST_TIMES * size_of(case) / 2**20
        if answer["outcome"] != "failed" and answer.get("grown_mb", 0.0) > most_mb:
            answer.update(outcome="failed", what="memory: more than %g MB" % MOST_MB)
        self.counts[kind][answer["outcome"]] += 1
        self.longest[kind] = max(self.longest[kind], answer.get("seconds", 0.0))
        self.largest_mb[kind] = max(self.largest_mb[kind], answer.get("grown_mb", 0.0))
        if answer["outcome"] != "failed":
            return
        cause = kind, answer["what"].encode("ascii", "backslashreplace").decode()
        if cause in self.causes:
            self.causes[cause][0] += 1
            return
        self.causes[cause] = [1, number]
        target = os.path.join(self.out, "%s-%d-%d" % (kind, self.seed, number))
        shutil.rmtree(target, ignore_errors=True)
        keep_case(case, target)
        with open(os.path.join(target, "answer.json"), "w", encoding="utf-8") as stream:
            json.dump(answer, stream, indent=2)
        print("%s %d: %s\n    kept in %s" % (kind, number, cause[1], target), flush=True)

    def summary(self, minutes: float) -> str:
        """What was tried and found, a line a format and a line a cause."""
        lines = ["%d cases of seed %d in %.1f minutes" % (self.total, self.seed, minutes)]
        for kind, counts in self.counts.items():
            shown = (
                kind,
                sum(counts.values()),
                counts["refused"],
                counts["taken"],
                counts["failed"],
                self.longest[kind],
                self.largest_mb[kind],
            )
            lines.append("  %-11s %6d cases %6d refused %6d taken %4d failed, at most %4.1f s, %4.0f MB" % shown)
        for (kind, what), (times, number) in self.causes.items():
            again = "./sinew fuzz --seed %d --only %s --case %d" % (self.seed, kind, number)
            lines.append("FAILED %s: %s, %d times, first %s" % (kind, what, times, again))
        return "\n".join(lines)


def size_of(path: str) -> int:
    """Bytes of all plain files in a folder, without those that are only long."""
    found = [os.lstat(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names]
    return sum(one.st_blocks * 512 for one in found if stat.S_ISREG(one.st_mode))


def keep_case(path: str, target: str) -> None:
    """Copy what a case was made of; what is no file, or is too long to be kept, is only named."""
    if os.path.isdir(path) and not os.path.islink(path):
        os.makedirs(target, exist_ok=True)
        for name in os.listdir(path):
            keep_case(os.path.join(path, name), os.path.join(target, name))
    elif not os.path.islink(path) and stat.S_ISREG(os.lstat(path).st_mode) and os.path.getsize(path) < _LARGEST_KEPT:
        shutil.copy(path, target)
    else:
        with open(target + ".odd", "w", encoding="utf-8") as stream:
            stream.write("%s\n" % oct(os.lstat(path).st_mode))
