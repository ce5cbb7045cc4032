# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew test``: lint, types, core tests, Blender tests; every part runs even if an earlier one fails."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from collections.abc import Iterable
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PARTS = ("lint", "types", "core", "bpy")
# pytest's folders of each part. The launcher's own tests need no Blender, so they go with core's.
FOLDERS = {"core": ("tests/core", "tests/bench", "tests/launcher"), "bpy": ("tests/bpy",)}
WORKERS = 2
NOTHING_COLLECTED = 5


class Outcome(NamedTuple):
    """How one part went."""

    part: str
    good: bool
    seconds: float
    note: str


def main(argv: list[str]) -> int:
    """Run the parts asked for and print one line for each."""
    own, pytest_arguments = split(argv)
    only = parser().parse_args(own).only or list(PARTS)
    outcomes = [run_part(part, pytest_arguments) for part in PARTS if part in only]
    print()
    for outcome in outcomes:
        print(
            "%-6s %-6s %6.1f s  %s" % (outcome.part, "ok" if outcome.good else "FAILED", outcome.seconds, outcome.note)
        )
    tested = [outcome for outcome in outcomes if outcome.part in FOLDERS]
    if tested and all(outcome.note == "nothing matched" for outcome in tested):
        print("no test matched %s" % " ".join(pytest_arguments))
        return 1
    return 0 if all(outcome.good for outcome in outcomes) else 1


def parser() -> argparse.ArgumentParser:
    """The verb's own options."""
    made = argparse.ArgumentParser(
        prog="./sinew test",
        description="Run lint (ruff), types (mypy on core and bench), core tests and Blender tests.",
        epilog="What follows -- goes to pytest: ./sinew test --only core -- -k quaternion -x; files and folders of "
        "tests that are named there are run instead of all",
    )
    made.add_argument("--only", action="append", choices=PARTS, help="run only this part; may be repeated")
    return made


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Our own arguments and those for pytest, which follow ``--``."""
    if "--" not in argv:
        return argv, []
    place = argv.index("--")
    return argv[:place], argv[place + 1 :]


def run_part(part: str, pytest_arguments: list[str]) -> Outcome:
    """Run one part in the project's folder, its output passing through."""
    print("== %s" % part, flush=True)
    began = time.monotonic()
    if part == "lint":
        codes = [call("ruff", "check", "."), call("ruff", "format", "--check", ".")]
        good, note = not any(codes), ""
    elif part == "types":
        good, note = check_types() == 0, ""
    else:
        good, note = run_pytest(part, pytest_arguments)
    return Outcome(part, good, time.monotonic() - began, note)


def check_types() -> int:
    """Mypy's exit code; it takes the folder's name for the package's, so one that can be no name is given another."""
    if os.path.basename(ROOT).isidentifier():
        return call("mypy")
    with tempfile.TemporaryDirectory(prefix="sinew-types-") as folder:
        package = os.path.join(folder, "sinew")
        try:
            os.symlink(ROOT, package, target_is_directory=True)
        except OSError:  # Windows lets only its administrators make links
            aside = shutil.ignore_patterns(".*", "__pycache__", "dist", "docs", "out", "tests")
            shutil.copytree(ROOT, package, ignore=aside)
        sources = (os.path.join(package, room) for room in ("core", "bench"))
        return call("mypy", "--config-file", os.path.join(ROOT, "pyproject.toml"), *sources)


def run_pytest(part: str, pytest_arguments: list[str]) -> tuple[bool, str]:
    """(whether it passed, how many tests did what)."""
    folders = [folder for folder in FOLDERS[part] if os.path.isdir(os.path.join(ROOT, folder))]
    named = named_tests(pytest_arguments)
    if named:  # pytest adds what is named to the folders that it is given
        folders = []
        pytest_arguments = [one for one in pytest_arguments if one not in named or is_within(one, FOLDERS[part])]
        if not any(one in named for one in pytest_arguments):
            return True, "nothing matched"
    with tempfile.TemporaryDirectory(prefix="sinew-test-") as folder:
        report = os.path.join(folder, "report.xml")
        code = call("pytest", "-q", "-n", str(WORKERS), "--junitxml", report, *folders, *pytest_arguments)
        # A choice such as -k may well leave one part without tests, but never a run without a choice.
        if code == NOTHING_COLLECTED and pytest_arguments:
            return True, "nothing matched"
        return code == 0, counts(report)


def named_tests(pytest_arguments: list[str]) -> list[str]:
    """Those of the arguments that are files or folders of tests, or tests in one."""
    every = [folder for folders in FOLDERS.values() for folder in folders]
    return [one for one in pytest_arguments if is_within(one, every)]


def is_within(argument: str, folders: Iterable[str]) -> bool:
    """Whether an argument names something in one of these folders."""
    path = os.path.normpath(os.path.join(ROOT, argument.split("::")[0]))
    rooms = (os.path.normpath(os.path.join(ROOT, folder)) for folder in folders)
    return os.path.exists(path) and any((path + os.sep).startswith(room + os.sep) for room in rooms)


def counts(report: str) -> str:
    """``12 passed, 1 skipped`` of a JUnit report, or '' where pytest wrote none."""
    try:
        suites = xml.etree.ElementTree.parse(report).getroot().iter("testsuite")
        total = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        for suite in suites:
            total = {name: number + int(suite.get(name, 0)) for name, number in total.items()}
    except (OSError, ValueError, xml.etree.ElementTree.ParseError):
        return ""
    passed = total["tests"] - total["failures"] - total["errors"] - total["skipped"]
    numbers = [
        (passed, "passed"),
        (total["failures"], "failed"),
        (total["errors"], "errors"),
        (total["skipped"], "skipped"),
    ]
    return ", ".join("%d %s" % pair for pair in numbers if pair[0] or pair[1] == "passed")


def call(module: str, *arguments: str) -> int:
    """Run ``python -m module`` in the project's folder and return its exit code."""
    return subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
