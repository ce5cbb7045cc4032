# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew build``: a zip that Blender accepts, with the extension in it and nothing else."""

import hashlib
import runpy
import subprocess
import sys
import tomllib
import zipfile

import pytest


@pytest.fixture(scope="module")
def built(root, tmp_path_factory):
    """Two zips of the same sources."""
    folder = tmp_path_factory.mktemp("build")
    paths = [folder / "first.zip", folder / "second.zip"]
    for path in paths:
        command = [sys.executable, str(root / "tools" / "build.py"), "--no-wheels", "--out", str(path)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return paths


def test_only_the_extension_is_in_it(built):
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
    assert {"__init__.py", "blender_manifest.toml", "LICENSE", "core/entry.py", "bridge/cli/__main__.py"} <= set(names)
    shipped = {"__init__.py", "api.py", "blender_manifest.toml", "LICENSE", "README.md"}
    rooms = {"bridge", "core", "operators", "panels", "presets", "help"}
    assert "help/index.html" in names
    assert {name.split("/")[0] for name in names} <= shipped | rooms
    assert [name for name in names if "__pycache__" in name or name.endswith((".pyc", "ruff.toml"))] == []


def test_every_module_is_in_it(built, root):
    with zipfile.ZipFile(built[0]) as archive:
        names = set(archive.namelist())
    rooms = [path for room in ("bridge", "core", "operators", "panels") for path in (root / room).rglob("*.py")]
    data = [path for path in (root / "presets").rglob("*") if path.suffix in (".json", ".py")]
    assert {path.parent.name for path in data} == {"bodies", "body", "gains", "bounds", "style", "disturbance", "push"}
    assert {path.relative_to(root).as_posix() for path in rooms + data} <= names


def test_no_benchmark_is_in_it(built):
    with zipfile.ZipFile(built[0]) as archive:
        parts = {part.removesuffix(".py") for name in archive.namelist() for part in name.split("/")}
    assert [part for part in parts if part.startswith("bench")] == []


# Imports every module of an unpacked zip but those that need torch or a certain engine, and registers it.
WHOLE = """
import importlib, os, pkgutil, runpy, sys
root = sys.argv[1]
package = runpy.run_path(root + "/core/entry.py")["load_package"]()
assert package.__path__ == [root], package.__path__
names = [found.name for found in pkgutil.walk_packages([root], "sinew.", onerror=print)]
aside = ("sinew.core.learn.", "sinew.core.sim.engines.")
for name in names:
    if not name.startswith(aside) and not name.endswith("__main__"):
        importlib.import_module(name)
package.register()
package.unregister()
print(len(names), flush=True)
os._exit(0)
"""


def test_what_is_shipped_needs_nothing_else_of_the_checkout(built, tmp_path):
    folder = tmp_path / "sinew"
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(folder)
        modules = [name for name in archive.namelist() if name.endswith(".py") and not name.startswith("presets/")]
    command = [sys.executable, "-c", WHOLE, str(folder)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    # All but the package itself.
    assert int(done.stdout.split()[-1]) == len(modules) - 1


def test_the_same_sources_give_the_same_bytes(built):
    assert built[0].read_bytes() == built[1].read_bytes()


def test_a_folder_that_cannot_be_written_is_named(root, tmp_path):
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "x.zip")
    command = [sys.executable, str(root / "tools" / "build.py"), "--no-wheels", "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert str(tmp_path / "file") in done.stderr


@pytest.fixture
def tools(root, monkeypatch):
    """The builder's own module, with tiny wheels for two platforms instead of the real ones."""
    monkeypatch.syspath_prepend(str(root))
    return runpy.run_path(str(root / "tools" / "build.py"))


def test_each_platform_gets_its_own_wheels_and_what_fits_all(tools, tmp_path, monkeypatch):
    wheels = tools["wheels"]
    kept = {
        "linux-x64": ["a-1-cp311-cp311-manylinux_2_28_x86_64.whl", "a-1-cp313-cp313-manylinux_2_28_x86_64.whl"],
        "windows-x64": ["a-1-cp311-cp311-win_amd64.whl", "a-1-cp313-cp313-win_amd64.whl"],
    }
    both = "b-1-py3-none-any.whl"

    def bundle(platform, pythons):
        folder = tmp_path / platform
        folder.mkdir(exist_ok=True)
        for name in [*kept[platform], both]:
            (folder / name).write_bytes(name.encode())
        return [str(folder / name) for name in [*kept[platform], both]]

    monkeypatch.setattr(wheels, "bundle", bundle)
    paths = tools["build"](str(tmp_path / "dist"), tuple(kept), ("3.11", "3.13"))
    assert [path.rpartition("-")[2] for path in paths] == ["linux_x64.zip", "windows_x64.zip"]
    for path, platform in zip(paths, kept, strict=True):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("wheels/")]
            manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
            assert archive.read(f"wheels/{both}") == both.encode()
        assert names == [f"wheels/{name}" for name in sorted([*kept[platform], both])]
        generated = manifest["build"]["generated"]
        assert generated["platforms"] == [platform]
        assert sorted(generated["wheels"]) == [f"./{name}" for name in names]


def test_the_manifest_of_a_checkout_names_no_wheels(root):
    manifest = tomllib.loads((root / "blender_manifest.toml").read_text())
    assert "wheels" not in manifest and "platforms" not in manifest
    assert set(manifest["permissions"]) == {"files", "network"}


def test_every_bundled_version_is_the_one_that_is_tested(root):
    def pinned(name):
        lines = (root / "requirements" / name).read_text().splitlines()
        return {line.split()[0] for line in lines if "==" in line.split("#")[0]}

    assert {pin for pin in pinned("wheels.txt") if not pin.startswith("pip==")} <= pinned("common.txt")


def test_a_wheel_that_is_not_what_was_pinned_is_fetched_again(tools, tmp_path, monkeypatch):
    wheels = tools["wheels"]
    good, bad = b"good", b"bad"
    monkeypatch.setattr(wheels, "pins", lambda: {"a": {hashlib.sha256(good).hexdigest()}})
    folder = tmp_path / "linux-x64-3.11"
    folder.mkdir()
    path = folder / "a-1-py3-none-any.whl"
    fetched = []

    def fetch(folder, platform, python):
        fetched.append((platform, python))
        path.write_bytes(good)

    monkeypatch.setattr(wheels, "_fetch", fetch)
    path.write_bytes(bad)
    for _ in range(2):
        assert wheels.bundle("linux-x64", ("3.11",), str(tmp_path)) == [str(path)]
    assert fetched == [("linux-x64", "3.11")]


def test_out_is_one_file(root, tmp_path):
    command = [sys.executable, str(root / "tools" / "build.py"), "--out", str(tmp_path / "x.zip")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "--out is one file" in done.stderr


def test_the_zip_for_linux_has_wheels_for_the_python_of_distributions_too(tools, tmp_path, monkeypatch):
    wheels, asked = tools["wheels"], []
    monkeypatch.setattr(wheels, "_is_whole", lambda folder: asked.append(folder.rpartition("-")[2]) or True)
    wheels.bundle("linux-x64", cache=str(tmp_path))
    assert asked == ["3.11", "3.13", "3.14"]
    wheels.bundle("windows-x64", cache=str(tmp_path))
    wheels.bundle("linux-x64", ("3.12",), str(tmp_path))
    assert asked[3:] == ["3.11", "3.13", "3.12"]


@pytest.mark.skipif(sys.platform != "linux", reason="the names of the wheels are Linux's")
@pytest.mark.parametrize("python", [(3, 11), (3, 13), (3, 14)])
def test_blender_unpacks_those_for_its_own_python(scene, monkeypatch, python):
    from bl_pkg.bl_extension_ops import _extensions_wheel_filter_for_this_system as fitting

    shared = ["coacd-1.0.14-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "cma-4.5.0-py3-none-any.whl"]
    own = [f"mujoco_core-4.0.1-cp3{n}-cp3{n}-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl" for n in (11, 13, 14)]
    monkeypatch.setattr(sys, "version_info", (*python, 0, "final", 0))
    assert fitting([*shared, *own]) == [*shared, own[[(3, 11), (3, 13), (3, 14)].index(python)]]
