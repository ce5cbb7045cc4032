# SPDX-License-Identifier: GPL-3.0-or-later
"""No Python that Sinew starts imports code from where it or Blender works, and only one module starts any."""

import ast
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from engines_here import needs_bullet
from sinew.core import child_python, jobs
from sinew.core.control.character import BodyChoices
from sinew.core.jobs import launching
from sinew.core.jobs.body_fitting import fit_in_worker
from sinew.core.motion.io import stock
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.sim.convex_decomposition import decompose_convex
from sinew.core.sim.stage_parts import Mesh
from trapped_folder import TrappedFolder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """Where this process works: a folder full of traps, to which variables lead as well."""
    trapped = TrappedFolder(tmp_path / "shot")
    assert trapped.works()
    monkeypatch.chdir(trapped.folder)
    # An empty place is the working folder, for Python and for the loader of libraries.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(trapped.folder)]))
    monkeypatch.setenv("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH", "") + ":")
    monkeypatch.setenv("PYTHONSTARTUP", str(trapped.folder / "json.py"))
    monkeypatch.setenv("PYTHONUSERBASE", str(trapped.folder))
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", os.environ.get("PATH", "")]))
    return trapped


def test_a_worker_is_not_caught_by_its_job_either(trap):
    job = jobs.create(plain_walk(), method="passthrough", settings={})
    trap.lay(job.folder)
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    assert trap.sprung == []


def test_a_worker_finds_a_jobs_folder_that_was_named_from_here(trap, monkeypatch):
    monkeypatch.setenv("SINEW_JOBS", "jobs")
    job = jobs.create(plain_walk(), method="passthrough", settings={})
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    assert (trap.folder / "jobs").is_dir() and trap.sprung == []


def test_trying_out_a_python_is_not_caught(trap):
    launching._proved.clear()
    assert jobs.find_worker_python() and trap.sprung == []


def test_fitting_a_body_elsewhere_is_not_caught(trap):
    assert fit_in_worker(stock.stock_skeleton(), None, None, BodyChoices()).links and trap.sprung == []


def test_asking_for_stock_clips_is_not_caught(trap, monkeypatch):
    stock._ask.cache_clear()
    stock._ask(sys.executable)
    stock._ask.cache_clear()
    assert trap.sprung == []


def test_taking_a_mesh_apart_is_not_caught(trap):
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    flat = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    sides = [(i, (i + 1) % 6, 6 + i) for i in range(6)] + [((i + 1) % 6, 6 + (i + 1) % 6, 6 + i) for i in range(6)]
    faces = [face[::-1] for face in flat] + [tuple(6 + i for i in face) for face in flat] + sides
    ell = Mesh([(x, y, z) for z in (0, 1) for x, y in corners], faces)
    pieces, findings = decompose_convex("Ell", ell)
    assert len(pieces) > 1 and not findings and trap.sprung == []


@needs_bullet
def test_helpers_of_bullet_are_not_caught(trap):
    from sinew.core.sim.engines.bullet.pool import Pool

    pool = Pool(1)
    world = pool.join()
    with suppress(RuntimeError):
        pool.ask([{"do": "drop", "world": world}])
    pool.leave(world)
    assert trap.sprung == []


def test_a_child_of_a_child_is_not_caught(trap):
    inner = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import numpy, json'], check=True)"
    # Memory that is shared has a Python of its own look after it.
    memory = "from multiprocessing.shared_memory import SharedMemory as M; m = M(create=True, size=8); m.unlink()"
    for code in (inner, memory):
        words = ["-c", f"import os; os.chdir({str(trap.folder)!r}); {code}"]
        done = child_python.run_python(sys.executable, words, timeout_s=60.0)
        assert (done.returncode, done.stderr) == (0, b"") and trap.sprung == []


def test_a_name_is_not_looked_for_in_the_working_folder(trap):
    for name in ("python3", "sinew-python.exe"):
        (trap.folder / name).write_text("#!/bin/sh\necho 3.11\n")
        (trap.folder / name).chmod(0o755)
    assert child_python.find_program("sinew-python.exe") is None
    assert child_python.find_program("python3") != str(trap.folder / "python3")
    assert child_python.find_program("./python3") == str(trap.folder / "python3")  # a path is a path


def test_a_child_sums_with_one_thread_whatever_the_user_set(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    said = json.loads(child_python.run_python(sys.executable, ["-c", code], timeout_s=60.0).stdout)
    assert said["OPENBLAS_NUM_THREADS"] == "1" and said["MKL_NUM_THREADS"] == "1"


def test_a_sum_in_a_child_does_not_depend_on_the_users_threads(monkeypatch):
    code = "import numpy as np; v = np.random.default_rng(0).normal(size=300_000); print(float(v @ v).hex())"
    sums = set()
    for threads in ("1", "2", "8"):
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
        sums.add(child_python.run_python(sys.executable, ["-c", code], timeout_s=60.0).stdout)
    assert len(sums) == 1 and b"0x" in sums.pop()


# What starts a process: (module, beginning of the name).
STARTERS = {
    "subprocess": ("Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    "os": ("system", "popen", "exec", "spawn", "posix_spawn", "fork", "startfile"),
    "multiprocessing": ("Process", "Pool", "get_context", "Manager", "set_start_method", "pool", "process", "managers"),
    "concurrent.futures": ("ProcessPoolExecutor",),
    "asyncio": ("create_subprocess", "subprocess"),
    "pty": ("spawn", "fork"),
    "pip": ("",),
    "ensurepip": ("",),
    "venv": ("",),
}
# Who may, and what: the one place, and benchmarks that start git and Blender, which are never shipped.
MAY_START = {"core/child_python.py", "bench/rows.py", "bench/overlay.py"}
SHIPPED = [
    ROOT / "__init__.py",
    *(p for room in ("core", "bridge", "operators", "panels") for p in (ROOT / room).rglob("*.py")),
]


def starts(text: str) -> list[str]:
    """What a source uses that starts a process; types in quotes, such as ``"subprocess.Popen[bytes]"``, do not."""
    found, names = [], {}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.split(".")[0]: alias.name if alias.asname else alias.name.split(".")[0]
                      for alias in node.names}  # fmt: skip
            found += [alias.name for alias in node.names if is_starter(alias.name)]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += [full for alias in node.names if is_starter(full := f"{node.module}.{alias.name}")]
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            parts = [node.attr]
            inner = node.value
            while isinstance(inner, ast.Attribute):
                parts, inner = [inner.attr, *parts], inner.value
            if isinstance(inner, ast.Name) and inner.id in names:
                full = ".".join([names[inner.id], *parts])
                found += [full] if is_starter(full) else []
    return found


def is_starter(full: str) -> bool:
    return any(
        (full == module and "" in beginnings) or full.startswith(tuple(f"{module}.{name}" for name in beginnings))
        for module, beginnings in STARTERS.items()
    )


def test_only_one_module_starts_processes():
    sources = [*SHIPPED, *(ROOT / "bench").rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): starts(path.read_text("utf-8")) for path in sources}
    assert {name: uses for name, uses in found.items() if uses and name not in MAY_START} == {}
    assert found["core/child_python.py"]


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run(['x'])",
        "import subprocess as s\ns.Popen(['x'])",
        "from subprocess import Popen",
        "def late():\n    from os import execv",
        "import os\nos.spawnv(0, 'x', [])",
        "import multiprocessing as m\nm.Pool(2)",
        "from concurrent.futures import ProcessPoolExecutor as P",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
    ],
)
def test_what_starts_one_elsewhere_is_seen(source):
    assert starts(source)
    assert starts("import os, subprocess\nx: 'subprocess.Popen[bytes]'\nos.environ, subprocess.DEVNULL") == []


def python_lists(text: str) -> list[ast.List]:
    """Command lines in a source that begin with a Python."""
    lists = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.List) and len(node.elts) > 1]
    return [node for node in lists if re.fullmatch(r"sys\.executable|[\w.]*python", ast.unparse(node.elts[0]))]


def test_the_tools_isolate_every_python():
    """They run on any Python and stand on nothing; a script is found by its path, code and modules want ``-I``."""
    found = {
        (path.name, ast.unparse(node))
        for path in sorted((ROOT / "tools").rglob("*.py"))
        for node in python_lists(path.read_text("utf-8"))
        if ast.unparse(node.elts[1]) in ("'-c'", "'-m'")
    }
    assert found == {("check.py", "[sys.executable, '-m', module, *arguments]")}


@pytest.mark.parametrize("verb", [["--version"], ["--help"], ["nonsense"], ["test", "--help"], ["clips", "--help"]])
def test_the_launcher_is_not_caught(trap, verb):
    # As a shell profile leaves it: PYTHONPATH=$PYTHONPATH:/somewhere.
    own = {"PYTHONPATH": f":{trap.folder.parent}"}
    for name in ("sitecustomize", "usercustomize"):  # Python imports these before the launcher's first line
        (trap.folder / f"{name}.py").unlink()
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | own
    subprocess.run(
        [sys.executable, str(ROOT / "sinew"), *verb], env=plain, capture_output=True, check=False, timeout=60
    )
    assert trap.sprung == []
