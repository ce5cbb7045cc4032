# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C at seeded moments of a real command: one line, 130, and nothing left."""

import random
import subprocess
import sys

import pytest

from .load import load

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks for what is left in /proc")


@linux
@pytest.mark.parametrize("seed", range(6))
def test_a_command_is_interrupted_without_a_trace(root, tmp_path, seed):
    if not (root / ".venv").exists():
        pytest.skip("needs the launcher's own environment")
    chance = random.Random(seed)
    # From before the verb's first line to its worker and the baking.
    delay, group = 0.1 + 3.0 * (seed + chance.random()) / 6, chance.random() < 0.5
    command = [str(root / "sinew"), "simulate", "walk", "--method", "passthrough", "--out", str(tmp_path / "x.blend")]
    assert load("tools.interrupting").interrupt(command, delay, group) in ("clean", "done")
    assert [path.name for path in tmp_path.iterdir()] in ([], ["x.blend"])


@linux
def test_a_command_is_interrupted_while_its_python_starts(root):
    chance, ends = random.Random(3), set()
    for number in range(24):
        ends.add(load("tools.interrupting").interrupt([str(root / "sinew"), "help"], 0.2 * chance.random(), number % 2))
    assert ends <= {"clean", "done"}


@linux
def test_what_is_left_is_seen(tmp_path):
    interrupt = load("tools.interrupting").interrupt
    careless = "import time; time.sleep(30)"
    assert interrupt([sys.executable, "-I", "-c", careless], 1.0, True).startswith("it said: Traceback")
    half = "import os, sys, time\nos.mkdir(os.environ['SINEW_JOBS'] + '/half')\nsys.exit(130)"
    assert interrupt([sys.executable, "-I", "-c", half], 0.5, False).startswith("half a job")
    orphan = "import subprocess, sys; subprocess.Popen(['sleep', '60'], start_new_session=True); sys.exit(130)"
    assert interrupt([sys.executable, "-I", "-c", orphan], 0.5, False).startswith("processes were left")


def test_the_launcher_leaves_before_python_forgets_who_hears_ctrl_c(root):
    """An orderly end gives SIGINT back to the system first, which then kills a command that is done already."""
    late = "import atexit, sys; sys.path.insert(0, sys.argv[1]); from tools import launcher\n"
    late += (
        "atexit.register(print, 'an orderly end'); launcher.main = lambda words: print('done') or 7\nlauncher.start()"
    )
    done = subprocess.run([sys.executable, "-I", "-c", late, str(root)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
