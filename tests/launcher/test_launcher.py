# SPDX-License-Identifier: GPL-3.0-or-later
"""The launcher as a user types it: exit codes, one-line errors, any folder, and a clean handing over."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from .load import load

STUB = """
import json, os, sys, time
if "--wait" in sys.argv:
    try:
        print("waiting", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        sys.exit(130)
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "pythonpath": os.environ.get("PYTHONPATH")}))
sys.exit(7)
"""

VERBS = (
    "demo test simulate retime live graph bounds direct respond improvise library farm takes clips jobs bench fuzz "
    "kills build"
).split()


@pytest.fixture
def project(root, tmp_path):
    """A project of its own with the real launcher, an environment that looks whole, and a verb that tells its tale."""
    home = tmp_path / "a projéct"
    home.mkdir()
    shutil.copy(root / "sinew", home / "sinew")
    shutil.copy(root / "blender_manifest.toml", home)
    for name in ("tools", "requirements"):
        shutil.copytree(root / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
    (home / "bridge" / "cli").mkdir(parents=True)
    (home / "bridge" / "cli" / "__main__.py").write_text(STUB)
    for blender in ("4.5", "5.0"):
        made = load("tools.environment").Environment(str(home), blender)
        os.makedirs(made.packages)
        os.makedirs(os.path.dirname(made.python))
        os.symlink(sys.executable, made.python)
        made.write_marker(imports=True)
    return home


def sinew(project, *arguments, cwd=None, **variables):
    """Run the launcher from ``cwd`` (the project's folder) and return what it did."""
    return subprocess.run(
        [sys.executable, str(project / "sinew"), *arguments],
        cwd=cwd or project,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    "name", ["PYTHONHASHSEED", "PYTHONTRACEMALLOC", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONHOME"]
)
def test_a_verbs_python_does_not_die_of_a_variable(project, name):
    done = subprocess.run(
        [sys.executable, "-I", str(project / "sinew"), "demo"], env={**os.environ, name: "bogus"}, capture_output=True,
        text=True, check=False, timeout=120)  # fmt: skip
    assert done.returncode == 7 and done.stderr == ""


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"], ["--blender", "5.0", "--help"]])
def test_help_lists_every_verb(root, arguments):
    done = sinew(root, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    for verb in VERBS:
        assert f"\n  {verb} " in done.stdout


def test_no_verb_is_misuse_and_shows_the_help(root):
    done = sinew(root)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ./sinew ")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["dmeo"], "sinew: there is no verb 'dmeo': did you mean 'demo'?"),
        (
            ["xyzzy"],
            f"sinew: there is no verb 'xyzzy': choose one of {', '.join(VERBS)}",
        ),
        (["\x1b[2J\nx"], f"sinew: there is no verb '\\x1b[2J\\nx': choose one of {', '.join(VERBS)}"),
        (["--fast", "demo"], "sinew: there is no option '--fast': ./sinew --help lists them"),
        (["--blender", "2.79", "demo"], "sinew: --blender is '2.79': choose one of 4.5, 5.0"),
        (["demo", "--blender"], "sinew: --blender is '': choose one of 4.5, 5.0"),
        (["demo", "--blender=4.4"], "sinew: --blender is '4.4': choose one of 4.5, 5.0"),
    ],
)
def test_misuse_is_one_line_and_code_2(root, arguments, line):
    done = sinew(root, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line + "\n")


@pytest.mark.parametrize("verb", ["test", "build"])
def test_these_verbs_explain_themselves_before_there_is_an_environment(project, verb):
    shutil.rmtree(project / ".venv")
    done = sinew(project, verb, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: ./sinew {verb}")
    assert not (project / ".venv").exists()


def test_the_version_is_the_manifests(root):
    manifest = (root / "blender_manifest.toml").read_text()
    version = sinew(root, "--version").stdout.split()[1]
    assert f'\nversion = "{version}"\n' in manifest


def test_the_verb_gets_its_words_its_folder_and_its_exit_code(project, tmp_path):
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    done = sinew(
        project, "simulate", "--blender", "5.0", "walk 1.bvh", "--out", "x.blend", cwd=elsewhere, PYTHONPATH="/astray"
    )
    assert done.returncode == 7
    told = json.loads(done.stdout)
    assert told == {"argv": ["simulate", "walk 1.bvh", "--out", "x.blend"], "cwd": str(elsewhere), "pythonpath": None}
    assert done.stderr == ""


def test_a_link_to_the_launcher_works(project, tmp_path):
    link = tmp_path / "sinew-link"
    link.symlink_to(project / "sinew")
    done = subprocess.run(
        [sys.executable, str(link), "clips"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout)["argv"] == ["clips"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_reaches_the_verb(project):
    command = [sys.executable, str(project / "sinew"), "demo", "--wait"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130


def test_without_a_python_the_error_is_one_line(project):
    """With no Python 3.11 in reach, the launcher says what it was about to do and what it lacks."""
    shutil.rmtree(project / ".venv" / "bin")
    code = (
        "import sys, runpy; sys.path.insert(0, sys.argv[1])\n"
        "from tools import pythons; pythons.candidates = list\n"
        "sys.argv = [sys.argv[1] + '/sinew', 'demo']; runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(project)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert first == "sinew: making again .venv for Blender 4.5: its Python is gone"
    assert second.startswith("sinew: Python 3.11 is needed to set up and was not found")


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["demo"], ("4.5", "demo", [])),
        (["--blender", "5.0", "test", "--only", "bpy"], ("5.0", "test", ["--only", "bpy"])),
        (["test", "--blender=5.0", "--only", "bpy"], ("5.0", "test", ["--only", "bpy"])),
        (["test", "--", "--blender", "5.0", "--help"], ("4.5", "test", ["--", "--blender", "5.0", "--help"])),
        (["simulate", "--help"], ("4.5", "simulate", ["--help"])),
    ],
)
def test_words_are_split(argv, wanted):
    assert load("tools.launcher").split(argv) == wanted


def test_help_after_two_dashes_is_pytests():
    launcher = load("tools.launcher")
    assert launcher.wants_help(["--only", "core", "-h"])
    assert not launcher.wants_help(["--", "--help"])
