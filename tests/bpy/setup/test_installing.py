# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing: into a folder of its own or not at all, seen from the panel's side, and stopped without a trace.

Wheels of a few lines stand in for the real ones, which are hundreds of megabytes; pip itself is the real one.
"""

import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile

import bpy
import pytest

from sinew.bridge.setup import installing, packages, readiness
from sinew.bridge.setup.installing import InstallationView, parse_log, run

WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(folder, name, version="1.0", body="x = 1\n"):
    """A wheel with one module."""
    info = f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", body)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", WHEEL)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in (f"{name}.py", f"{info}/RECORD")))


def pin(folder):
    """Know the wheels of a folder, and none else, by their hashes."""
    lines = []
    for path in sorted(folder.glob("*.whl")):
        name, version = path.name.split("-")[:2]
        lines.append(
            f"# one\n{name}=={version} \\\n    --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"
        )
    installing.PINS.write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Where pip finds wheels, instead of going online."""
    folder = tmp_path / "shelf"
    for name in ("sinew_one", "sinew_two"):
        wheel(folder, name)
    monkeypatch.setenv("SINEW_WHEELS", str(folder))
    monkeypatch.setattr(installing, "REQUIREMENTS", {"one": "sinew_one==1.0", "two": "sinew_two==1.0"})
    monkeypatch.setattr(installing, "PINS", tmp_path / "pinned.txt")
    pin(folder)
    return folder


def install(*names, cancel=False, seconds=60.0):
    """Start it and look at it as Blender's timer would; gives all that was seen."""
    installing.start_installation(names, sys.executable)
    seen = [installing.current_installation()]
    if cancel:
        assert bpy.ops.sinew.install_cancel() == {"FINISHED"}
    stop = time.monotonic() + seconds
    while installing.poll_installation() is not None:
        assert time.monotonic() < stop
        seen.append(installing.current_installation())
        time.sleep(0.02)
    return [*seen, installing.current_installation()]


def contents():
    root = packages.installed_root()
    return sorted(path.name for path in root.iterdir() if path.name not in ("lock", "install.log"))


def imports(name):
    """Whether a worker's Python can import it."""
    words = "import runpy, sys; runpy.run_path(sys.argv[1])['use_packages'](); __import__(sys.argv[2])"
    entry = os.path.join(os.path.dirname(packages.__file__), "..", "..", "core", "entry.py")
    return subprocess.run([sys.executable, "-c", words, entry, name], capture_output=True, check=False).returncode == 0


@pytest.fixture(autouse=True)
def _own_folder(jobs_folder, tmp_path, monkeypatch):
    """Packages in a folder of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_packages_come_into_a_folder_of_their_own_and_workers_find_them(addon, shelf):
    seen = install("one")
    assert seen[0].state == "running" and seen[-1] == InstallationView("done", "Installed")
    site = packages.site_of(packages.installed_root())
    assert (site / "sinew_one.py").is_file() and contents() == [site.parent.name]
    assert bpy.app.timers.is_registered(readiness.poll_readiness)  # what is ready now is asked at once
    assert imports("sinew_one") and not imports("sinew_two")


def test_what_was_installed_before_stays_with_what_comes(addon, shelf):
    install("one")
    assert install("two")[-1].state == "done"
    assert imports("sinew_one") and imports("sinew_two")


def test_a_failure_leaves_what_was_there_and_says_why(addon, shelf):
    install("one")
    (shelf / "sinew_two-1.0-py3-none-any.whl").unlink()
    last = install("two")[-1]
    assert last.state == "failed" and "sinew_two==1.0" in last.doing
    assert imports("sinew_one") and contents() == [packages.site_of(packages.installed_root()).parent.name]


def test_what_cannot_be_imported_is_not_installed(addon, shelf):
    wheel(shelf, "sinew_two", body="raise ImportError('a library is missing')\n")
    pin(shelf)
    last = install("two")[-1]
    assert last == InstallationView("failed", "ImportError: a library is missing") and contents() == []


def test_cancelling_leaves_nothing(addon, shelf):
    last = install("one", cancel=True)[-1]
    assert last.state == "cancelled" and contents() == []
    assert install("one")[-1].state == "done"  # an old cancel does not stop a new one


def test_what_a_killed_installation_left_is_cleared_up(addon, shelf):
    half = packages.installed_root() / ".python3.11.part" / "site-packages"
    half.mkdir(parents=True)
    installing.register()
    assert contents() == []


def test_two_at_once_do_not_get_in_each_others_way(addon, shelf):
    from sinew.core.jobs import lock

    packages.installed_root().mkdir(parents=True)
    with lock.hold_lock(packages.installed_root() / "lock") as held:
        assert held
        installing.register()
        assert installing.is_installing()
        assert not installing.may_go_online() or "already" in installing.why_no_installation()
        assert install("one")[-1].doing == "ERROR: another Blender is installing already"
    assert not imports("sinew_one")


def test_the_log_is_put_into_words():
    log = "Looking in indexes: x\nCollecting torch==2.13.0\n"
    assert parse_log(log, alive=True) == InstallationView("running", "Looking for the packages")
    log += "  Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (191.2 MB)\nProgress 0 of 400\n"
    log += "Progress 100 of 400\n"
    assert parse_log(log, alive=True) == InstallationView("running", "Downloading torch (191.2 MB)", 0.25)
    log += "Installing collected packages: mpmath, torch\n"
    assert parse_log(log, alive=True) == InstallationView("running", "Unpacking")
    assert parse_log(log, alive=False).state == "failed"


def test_the_versions_are_the_ones_that_are_tested(root):
    lines = (root / "requirements" / "common.txt").read_text().splitlines()
    pinned = {line.split(";")[0].strip() for line in lines if re.match(r"[\w-]+==", line)}
    assert {text for text in installing.REQUIREMENTS.values() if "==" in text} <= pinned


def test_every_file_that_may_be_installed_is_known_by_its_hash(root):
    known = run.read_pins(installing.PINS)
    versions = (root / "requirements" / "common.txt").read_text().replace(" ;", "\n")
    for text in (*installing.REQUIREMENTS.values(), *(f"{name}==" for name in (*run.WITH_TORCH, *run.WITH_RAY))):
        line = known[text.partition("==")[0]]
        assert line.startswith(text) and re.fullmatch(r"\S+( --hash=sha256:[0-9a-f]{64})+", line)
        assert re.search(rf"(?m)^{re.escape(line.split()[0])}\s*$", versions)


def test_another_file_of_the_same_name_is_refused(addon, shelf):
    wheel(shelf, "sinew_one", body="x = 'somebody else'\n")
    last = install("one")[-1]
    assert last.state == "failed" and "is not what Sinew knows" in last.doing
    assert contents() == [] and not imports("sinew_one")


def test_pips_own_settings_count_for_nothing(addon, shelf, tmp_path, monkeypatch):
    theirs = tmp_path / "theirs"
    wheel(theirs, "sinew_one", version="1.0.post1", body="raise SystemExit('theirs')\n")
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nfind-links = {theirs}\ntarget = {tmp_path / 'elsewhere'}\nno-binary = :all:\n")
    for name, value in {
        "CONFIG_FILE": settings, "FIND_LINKS": theirs, "TARGET": tmp_path / "elsewhere", "NO_BINARY": ":all:",
        "PREFIX": tmp_path / "elsewhere", "INDEX_URL": "http://localhost:9/simple", "USER": "1",
        "REQUIREMENT": "nothing", "CONSTRAINT": "nothing", "DRY_RUN": "1", "PYTHON": "nothing",
        "LOG": tmp_path / "elsewhere",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"PIP_{name}", str(value))
    assert install("one")[-1].state == "done"
    assert imports("sinew_one") and not (tmp_path / "elsewhere").exists()


def test_what_is_tried_out_is_what_was_installed(addon, shelf, tmp_path, monkeypatch):
    """A wheel without what it promises, for a Python that has a module of that name elsewhere."""
    info = "sinew_two-1.0.dist-info"
    with zipfile.ZipFile(shelf / "sinew_two-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sinew_two\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", WHEEL)
        archive.writestr(f"{info}/RECORD", f"{info}/RECORD,,\n")
    pin(shelf)
    monkeypatch.setattr(run, "_IMPORTED_BY", {"sinew_two": "json"})
    (tmp_path / "root").mkdir()
    assert run.main(tmp_path / "root", installing.PINS, ["sinew_two==1.0"]) == 1
    assert not list((tmp_path / "root").glob("*python*"))
