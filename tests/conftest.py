# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads the package as ``sinew`` and keeps every test away from the user's own jobs."""

import itertools
import os
import runpy
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# As ./sinew and a job's worker have it, before NumPy is imported: several threads sum up in another order each time.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Before any test module is imported, so that `from sinew.core.motion import Clip` works in all of them.
runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()

# pytest's importlib mode leaves this folder out, whose helpers all tests share.
sys.path.insert(0, str(ROOT / "tests"))

# A shell's background job ignores Ctrl-C, and so would every child; the tests of it must mean something there too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_numbers = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def _no_users_jobs(tmp_path_factory):
    """Jobs of fixtures that outlive one test go to a folder of the session, and workers to this Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SINEW_JOBS", str(tmp_path_factory.mktemp("jobs")))
        # What is installed for workers, too, lies with the user's data.
        for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
            patch.setenv(name, str(tmp_path_factory.mktemp("data")))
        patch.setenv("SINEW_CACHE", "")  # nothing is known from before
        patch.setenv("SINEW_KEY", str(tmp_path_factory.mktemp("key") / "key"))
        patch.delenv("SINEW_PYTHON", raising=False)
        yield


@pytest.fixture(autouse=True)
def jobs_folder(_no_users_jobs, tmp_path_factory, monkeypatch) -> Path:
    """Where this test's jobs go (``SINEW_JOBS``): a folder of its own that does not exist yet."""
    folder = tmp_path_factory.getbasetemp() / f"jobs-of-test-{os.getpid()}-{next(_numbers)}"
    monkeypatch.setenv("SINEW_JOBS", str(folder))
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared_mocap() -> Path:
    """The folder of real mocap files that lies beside some checkouts; without it the test is skipped."""
    folder = ROOT.parent / "shared" / "mocap"
    if not folder.is_dir():
        pytest.skip("needs the mocap files in ../shared/mocap, which are not part of the project")
    return folder
