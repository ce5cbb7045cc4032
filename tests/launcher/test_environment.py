# SPDX-License-Identifier: GPL-3.0-or-later
"""A broken or half-made environment is noticed. No network and no real installation: a made-up one of a few files."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .load import load

environment = load("tools.environment")
making = load("tools.making")
pythons = load("tools.pythons")


@pytest.fixture
def whole(tmp_path):
    """An environment that looks finished to the launcher, in a project of its own."""
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "common.txt").write_text("# shared\nscipy==1.0\n")
    (tmp_path / "requirements" / "blender-4.5.txt").write_text("-r common.txt\nbpy==4.5.0  # Blender\n")
    hashes = "# a.whl\nscipy==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:ab\n\nbpy==4.5.0 --hash=sha256:bb\n"
    (tmp_path / "requirements" / "hashes.txt").write_text(hashes + "torch==2.0 --hash=sha256:cc\n")
    made = environment.Environment(str(tmp_path), "4.5")
    os.makedirs(os.path.join(made.packages, "bpy-4.5.0.dist-info"))
    os.makedirs(os.path.join(made.packages, "bpy"))
    os.makedirs(os.path.dirname(made.python))
    os.symlink(sys.executable, made.python)
    with open(os.path.join(made.folder, "pyvenv.cfg"), "w", encoding="utf-8") as stream:
        stream.write("home = /somewhere\nversion = 3.11.7\n")
    made.write_marker(imports=True)
    return made


def test_a_whole_one_has_no_flaw(whole):
    assert whole.flaw() == ""
    assert whole.imports()


def test_first_use(tmp_path):
    (tmp_path / "requirements").mkdir()
    fresh = environment.Environment(str(tmp_path), "5.0")
    assert fresh.flaw() == "first use"
    assert os.path.basename(fresh.folder) == ".venv-5.0"


def test_no_marker(whole):
    os.unlink(whole.marker)
    assert whole.flaw() == "it was not finished"


@pytest.mark.parametrize("content", [b"", b"sinew environment 0\n", b"\xff\xfe\x00", b"sinew environment 1"])
def test_a_marker_that_is_not_ours(whole, content):
    with open(whole.marker, "wb") as stream:
        stream.write(content)
    assert whole.flaw() != ""


def test_a_dangling_python(whole):
    os.unlink(whole.python)
    os.symlink("/nowhere/python3.11", whole.python)
    assert whole.flaw() == "its Python is gone"


def test_another_python(whole):
    with open(os.path.join(whole.folder, "pyvenv.cfg"), "w", encoding="utf-8") as stream:
        stream.write("version = 3.12.1\n")
    assert whole.flaw() == "its Python has changed"


@pytest.mark.parametrize("name", ["common.txt", "blender-4.5.txt"])
def test_changed_requirements(whole, name):
    path = os.path.join(os.path.dirname(whole.requirements), name)
    with open(path, "a", encoding="utf-8") as stream:
        stream.write("numpy==1.26.4\n")
    assert whole.flaw() == "the requirements have changed"


def test_a_changed_comment_is_no_change(whole):
    with open(whole.requirements, "a", encoding="utf-8") as stream:
        stream.write("\n# nothing new\n")
    assert whole.flaw() == ""


@pytest.mark.parametrize("name", ["bpy", "bpy-4.5.0.dist-info"])
def test_a_missing_package(whole, name):
    os.rmdir(os.path.join(whole.packages, name))
    assert whole.flaw() == f"{name} is missing"


def test_a_package_that_the_user_added_is_welcome(whole):
    os.makedirs(os.path.join(whole.packages, "ipython-9.0.dist-info"))
    assert whole.flaw() == ""


def test_clearing_leaves_only_the_lock(whole):
    with making.locked(whole):
        making.clear(whole)
        assert os.listdir(whole.folder) == [environment.LOCK]
        assert whole.flaw() == "first use"


def test_an_interrupted_making_leaves_no_marker(whole, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    os.rmdir(os.path.join(whole.packages, "bpy"))
    monkeypatch.setattr(pythons, "find", lambda: (sys.executable, "3.11.7"))
    monkeypatch.setattr(making, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        making.ensure(whole)
    assert not os.path.exists(whole.marker)


def commands_of(whole, monkeypatch):
    """What is asked of pip to make it, with the requirements that each of these finds."""
    asked = []

    def note(command, _):
        lists = [word for word in command if word.endswith(".txt")]
        asked.append((command, [line for path in lists for line in Path(path).read_text("utf-8").splitlines()]))

    monkeypatch.setattr(pythons, "find", lambda: (sys.executable, "3.11.7"))
    monkeypatch.setattr(making, "_run", note)
    monkeypatch.setattr(making, "check_imports", lambda _: None)
    making.ensure(whole)
    return asked


def test_torch_comes_from_where_it_is_small_and_nothing_else_does(whole, tmp_path, monkeypatch):
    (tmp_path / "requirements" / "common.txt").write_text("scipy==1.0\ntorch==2.0 # learning\n")
    asked = [both for both in commands_of(whole, monkeypatch) if "install" in both[0]]
    assert [making.SMALL_TORCH in command for command, _ in asked] == [True, False]  # so that the rest finds it there
    assert asked[0][1] == ["torch==2.0 --hash=sha256:cc"] and len(asked[1][1]) == 3


def test_nothing_is_installed_but_by_its_hash(whole, tmp_path, monkeypatch):
    (tmp_path / "requirements" / "common.txt").write_text('scipy==1.0 ; sys_platform != "amiga"\n')
    asked = [both for both in commands_of(whole, monkeypatch) if "install" in both[0]]
    assert asked and all("--require-hashes" in command for command, _ in asked)
    lines = ['scipy==1.0 ; sys_platform != "amiga" --hash=sha256:aa --hash=sha256:ab', "bpy==4.5.0 --hash=sha256:bb"]
    assert asked[-1][1] == lines
    (tmp_path / "requirements" / "common.txt").write_text("scipy==1.1\n")
    with pytest.raises(environment.Failure, match=r"scipy==1\.1 has no hash.*tools/hashes\.py"):
        making.ensure(whole)


@pytest.mark.parametrize("blender", list(environment.VERSIONS))
def test_every_pin_has_its_hashes(blender, root):
    lines = making.with_hashes(environment.Environment(str(root), blender).requirements)
    assert any(line.startswith("torch==") for line in lines)
    for line in lines:
        assert re.fullmatch(r"[\w-]+==[\w.]+( ; [^-]*[^- ])?( --hash=sha256:[0-9a-f]{64})+", line), line


def test_only_how_files_are_come_by_is_taken_from_pips_variables(monkeypatch):
    route = {"PIP_FIND_LINKS": "/wheels", "PIP_INDEX_URL": "https://mirror", "PIP_CERT": "/cert", "PIP_PROXY": "x"}
    astray = dict.fromkeys(
        ("PIP_TARGET", "PIP_REQUIRE_HASHES", "PIP_CONSTRAINT", "PIP_NO_BINARY", "PIP_DRY_RUN", "PIP_PYTHON",
         "pip_user", "PIP_CONFIG_SETTINGS", "PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS"), "astray")  # fmt: skip
    for name, value in {**route, **astray}.items():
        monkeypatch.setenv(name, value)
    kept = making.clean_variables()
    assert not set(astray) & set(kept) and {name: kept[name] for name in route} == route
    assert kept["PATH"] == os.environ["PATH"]


def test_without_a_python_the_old_one_stays(whole, monkeypatch):
    os.rmdir(os.path.join(whole.packages, "bpy"))
    monkeypatch.setattr(pythons, "candidates", list)
    with pytest.raises(environment.Failure, match=r"Python 3\.11 is needed"):
        making.ensure(whole)
    assert os.path.isdir(os.path.join(whole.packages, "bpy-4.5.0.dist-info"))


def test_a_python_without_venv_is_named(tmp_path, monkeypatch):
    poor = tmp_path / "python3.11"
    poor.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'ensurepip'\" >&2\nexit 1\n")
    poor.chmod(0o755)
    monkeypatch.setattr(pythons, "candidates", lambda: [str(poor)])
    with pytest.raises(environment.Failure, match=r"apt install python3\.11-venv"):
        pythons.find()


def test_this_python_is_found():
    python, version = pythons.find()
    assert version.startswith("3.11.")
    assert os.access(python, os.X_OK)


def test_the_lock_keeps_a_second_launch_waiting(whole, root):
    other = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from tools import environment, making\n"
        "with making.locked(environment.Environment(sys.argv[2], '4.5')): print('in')\n"
    )
    command = [sys.executable, "-c", other, str(root), os.path.dirname(whole.folder)]
    with making.locked(whole):
        second = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert "waiting for another ./sinew" in second.stderr.readline()
        time.sleep(0.5)
        assert second.poll() is None
    out, _ = second.communicate(timeout=60)
    assert (out, second.returncode) == ("in\n", 0)


@pytest.mark.skipif(os.name == "nt", reason="handles are not passed on there")
def test_the_lock_outlives_a_killed_launcher_while_its_step_runs(whole, root):
    launcher = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from tools import environment, making\n"
        "with making.locked(environment.Environment(sys.argv[2], '4.5')):\n"
        "    step = 'import time; print(\"Installing collected packages\", flush=True); time.sleep(2)'\n"
        "    making._run([sys.executable, '-c', step], 'no')\n"
    )
    command = [sys.executable, "-c", launcher, str(root), os.path.dirname(whole.folder)]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert "unpacking" in first.stderr.readline()
    first.kill()
    first.wait()
    handle = os.open(os.path.join(whole.folder, environment.LOCK), os.O_RDWR)
    try:
        assert not making._try_lock(handle)
        until = time.monotonic() + 60
        while not making._try_lock(handle):
            assert time.monotonic() < until
            time.sleep(0.1)
    finally:
        os.close(handle)


def test_a_failed_step_shows_its_last_lines(capsys):
    with pytest.raises(environment.Failure, match="check the network"):
        making._run([sys.executable, "-c", "print('no route to host'); raise SystemExit(1)"], "check the network")
    assert "  | no route to host" in capsys.readouterr().err


def test_a_full_disk_is_named():
    with pytest.raises(environment.Failure, match="the disk is full"):
        making._run([sys.executable, "-c", "print('[Errno 28] No space left on device'); raise SystemExit(1)"], "no")


def test_missing_system_libraries_come_with_the_command_that_brings_them():
    output = "ImportError: libXrender.so.1: cannot open shared object file: No such file or directory"
    assert "libXrender.so.1" in (line := making.why_not_imported(output, 1))
    assert "apt-get install -y" in line
    assert "libxrender1" in line


def test_a_bpy_that_does_not_import_is_tried_again_without_installing(whole, monkeypatch):
    """After the missing library was installed, the next launch need not make the environment anew."""
    whole.write_marker(imports=False)
    os.unlink(whole.python)
    with open(whole.python, "w", encoding="utf-8") as stream:
        stream.write("#!/bin/sh\necho 'ImportError: libSM.so.6: cannot open shared object file'\nexit 1\n")
    os.chmod(whole.python, 0o755)
    monkeypatch.setattr(making, "_make", lambda *_: pytest.fail("made again"))
    with pytest.raises(environment.Failure, match=r"libSM\.so\.6"):
        making.ensure(whole)
    assert whole.flaw() == ""
    with open(whole.python, "w", encoding="utf-8") as stream:
        stream.write("#!/bin/sh\nexit 0\n")
    making.ensure(whole)
    assert whole.imports()


def test_everything_is_pinned(root):
    for _, name in environment.VERSIONS.values():
        lines = environment.required(str(root / name))
        assert lines
        assert [line for line in lines if line.partition(";")[0].count("==") != 1] == []


def test_every_package_has_its_licence_in_the_table(root):
    rows = [line.split("|") for line in (root / "CONTRIBUTING.md").read_text().splitlines() if line.count("|") == 4]
    named = {name.strip() for row in rows if row[3].strip() for name in row[1].split(",")}
    for _, requirements in environment.VERSIONS.values():
        pinned = {line.partition("==")[0] for line in environment.required(str(root / requirements))}
        assert pinned - named == set()
