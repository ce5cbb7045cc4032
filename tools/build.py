# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew build``: the extension's zip, made and validated by Blender's own extension builder.

The builder comes with the bpy wheel and runs by itself. It is given a copy that holds only the extension's rooms,
so that nothing else that lies about in a checkout is shipped; what it leaves out of those rooms is said in
blender_manifest.toml. Then the zip is packed again in a fixed order and with fixed times, so that the same commit
gives the same bytes.
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SHIPPED = (
    "__init__.py",
    "blender_manifest.toml",
    "LICENSE",
    "README.md",
    "bridge",
    "core",
    "operators",
    "panels",
    "presets",
)


class Failure(Exception):
    """What stopped the build, in one line for the user."""


def main(argv: list[str]) -> int:
    """Build, repack, validate, and say where the zip is."""
    parser = argparse.ArgumentParser(
        prog="./sinew build", description="Make the extension's zip with Blender's own builder, and validate it."
    )
    parser.add_argument("--out", metavar="FILE.zip", help="where to write it (default: dist/sinew-<version>.zip)")
    out = parser.parse_args(argv).out
    try:
        path = os.path.abspath(out) if out else os.path.join(ROOT, "dist", "sinew-%s.zip" % version())
        build(path)
    except (Failure, OSError) as error:
        print("sinew build: %s" % error, file=sys.stderr)
        return 1
    with open(path, "rb") as stream:
        digest = hashlib.sha256(stream.read()).hexdigest()
    print("%s  %.0f kB  sha256 %s" % (path, os.path.getsize(path) / 1000, digest))
    return 0


def build(path: str) -> None:
    """Write the validated zip; an older one stays until the new one is whole."""
    builder = find_builder()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sinew-build-") as folder:
        source = os.path.join(folder, "sinew")
        stage(source)
        rough, fine = os.path.join(folder, "rough.zip"), os.path.join(folder, "fine.zip")
        call(builder, "build", "--source-dir", source, "--output-filepath", rough)
        repack(rough, fine, source_time())
        call(builder, "validate", fine)
        # Beside its place first: a rename is whole only within one disk.
        shutil.copyfile(fine, path + ".part")
        os.replace(path + ".part", path)


def find_builder() -> str:
    """Blender's builder inside the bpy wheel, found without importing bpy."""
    spec = importlib.util.find_spec("bpy")
    for package in (spec.submodule_search_locations or []) if spec else []:
        pattern = os.path.join(package, "*", "scripts", "addons_core", "bl_pkg", "cli", "blender_ext.py")
        for path in glob.glob(pattern):
            return path
    raise Failure("the bpy wheel has no extension builder: run this through ./sinew build")


def stage(folder: str) -> None:
    """Copy the extension's rooms."""
    os.makedirs(folder)
    for name in SHIPPED:
        source, target = os.path.join(ROOT, name), os.path.join(folder, name)
        if os.path.isdir(source):
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif os.path.exists(source):
            shutil.copyfile(source, target)


def repack(source: str, target: str, when: int) -> None:
    """The same files in a fixed order, all dated ``when`` (seconds since 1970, UTC)."""
    date = max(time.gmtime(when)[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(source) as rough, zipfile.ZipFile(target, "w") as fine:
        for name in sorted(rough.namelist()):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # Unix, wherever it is built
            fine.writestr(entry, rough.read(name), zipfile.ZIP_DEFLATED, 9)


def source_time() -> int:
    """SOURCE_DATE_EPOCH, else the time of the last commit, else the manifest's own."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isdigit():
        return int(given)
    try:
        git = ["git", "-C", ROOT, "log", "-1", "--format=%ct"]
        return int(subprocess.run(git, capture_output=True, text=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return int(os.path.getmtime(os.path.join(ROOT, "blender_manifest.toml")))


def call(builder: str, *arguments: str) -> None:
    """Run the builder; its complaint becomes ours."""
    command = [sys.executable, builder, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise Failure("Blender's builder says: %s" % (" ".join(lines[-3:]) or "exit code %d" % done.returncode))


def version() -> str:
    """The manifest's version."""
    import tomllib

    with open(os.path.join(ROOT, "blender_manifest.toml"), "rb") as stream:
        return str(tomllib.load(stream)["version"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
