# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew build``: the extension's zips, made and validated by Blender's own extension builder.

One zip a platform, with the wheels that its worker needs (``tools/wheels.py``); ``--no-wheels`` makes one small zip for
all. The builder comes with the bpy wheel and runs by itself. It is given a copy that holds only the extension's rooms,
so that nothing else that lies about in a checkout is shipped; what it leaves out of those rooms is said in
blender_manifest.toml, which names no wheels, so that a checkout is an extension as it stands. Then each zip is packed
again in a fixed order and with fixed times, so that the same commit gives the same bytes.
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
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from tools import site, wheels  # noqa: E402 - run as a script, it has to find its neighbour first

SHIPPED = (
    "__init__.py",
    "api.py",
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
    """Build, repack, validate, and say where the zips are and how large."""
    given = parse(argv)
    platforms = () if given.no_wheels else tuple(given.platform or wheels.PLATFORMS)
    try:
        if given.out and len(platforms) > 1:
            raise Failure("--out is one file: choose one --platform, or --no-wheels")
        paths = build(os.path.join(ROOT, "dist"), platforms, tuple(given.python or ()), given.out)
    except (Failure, wheels.MissingWheel, OSError) as error:
        print("sinew build: %s" % error, file=sys.stderr)
        return 1
    for path in paths:
        with open(path, "rb") as stream:
            digest = hashlib.sha256(stream.read()).hexdigest()
        print("%s  %s  sha256 %s" % (path, readable(os.path.getsize(path)), digest))
    return 0


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="./sinew build", description="Make the extension's zips with Blender's own builder, and validate them."
    )
    parser.add_argument("--out", metavar="FILE.zip", help="where to write it, if it is one (default: in dist/)")
    parser.add_argument("--no-wheels", action="store_true", help="one zip for all platforms, without an engine")
    choice = "only this platform; may be given several times (default: %s)" % ", ".join(wheels.PLATFORMS)
    parser.add_argument("--platform", action="append", choices=list(wheels.PLATFORMS), help=choice)
    usual = "; ".join("%s %s" % (name, ", ".join(wheels.pythons_for(name))) for name in wheels.PLATFORMS)
    version_help = "bundle for this Python; may be given several times (default: %s)" % usual
    parser.add_argument("--python", action="append", metavar="3.N", help=version_help)
    return parser.parse_args(argv)


def build(folder: str, platforms: tuple[str, ...], pythons: tuple[str, ...], out: str | None = None) -> list[str]:
    """Write the validated zips, one for each platform or one for all; older ones stay until the new ones are whole.

    pythons: to bundle for, none for each platform's own. out: the file to write instead of one in ``folder``, where
    there is only one.
    """
    builder = find_builder()
    # By name: what fits several platforms lies in several folders of the cache.
    bundled = {os.path.basename(path): path for platform in platforms for path in wheels.bundle(platform, pythons)}
    written = []
    with tempfile.TemporaryDirectory(prefix="sinew-build-") as workshop:
        source, rough, fine = (os.path.join(workshop, name) for name in ("sinew", "rough", "fine.zip"))
        stage(source)
        add_wheels(source, platforms, [bundled[name] for name in sorted(bundled)])
        os.makedirs(rough)
        call(builder, "build", "--source-dir", source, "--output-dir", rough, *["--split-platforms"][: len(platforms)])
        for name in sorted(os.listdir(rough)):
            repack(os.path.join(rough, name), fine, source_time())
            call(builder, "validate", fine)
            path = os.path.abspath(out) if out else os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # Beside its place first: a rename is whole only within one disk.
            shutil.copyfile(fine, path + ".part")
            os.replace(path + ".part", path)
            written.append(path)
    return written


def add_wheels(source: str, platforms: tuple[str, ...], paths: list[str]) -> None:
    """Put the wheels into the copy, and name them and the platforms in its manifest."""
    if not paths:
        return
    os.makedirs(os.path.join(source, "wheels"))
    for path in paths:
        shutil.copyfile(path, os.path.join(source, "wheels", os.path.basename(path)))
    named = ",\n".join('    "./wheels/%s"' % os.path.basename(path) for path in paths)
    fields = "platforms = [%s]\nwheels = [\n%s,\n]\n" % (", ".join('"%s"' % name for name in platforms), named)
    manifest = os.path.join(source, "blender_manifest.toml")
    with open(manifest, encoding="utf-8") as stream:
        head, table, rest = stream.read().partition("\n[")
    # What stands after the first table's name would belong to that table.
    with open(manifest, "w", encoding="utf-8") as stream:
        stream.write(head + "\n" + fields + table + rest)


def readable(size: int) -> str:
    """A file's size in the unit that suits it."""
    return "%.0f kB" % (size / 1e3) if size < 1e6 else "%.1f MB" % (size / 1e6)


def find_builder() -> str:
    """Blender's builder inside the bpy wheel, found without importing bpy."""
    spec = importlib.util.find_spec("bpy")
    for package in (spec.submodule_search_locations or []) if spec else []:
        pattern = os.path.join(package, "*", "scripts", "addons_core", "bl_pkg", "cli", "blender_ext.py")
        for path in glob.glob(pattern):
            return path
    raise Failure("the bpy wheel has no extension builder: run this through ./sinew build")


def stage(folder: str) -> None:
    """Copy the extension's rooms, and make the pages that its help button opens."""
    os.makedirs(folder)
    for name in SHIPPED:
        source, target = os.path.join(ROOT, name), os.path.join(folder, name)
        if os.path.isdir(source):
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif os.path.exists(source):
            shutil.copyfile(source, target)
    site.make_site(os.path.join(folder, "help"))


def repack(source: str, target: str, when: int) -> None:
    """The same files in a fixed order, all dated ``when`` (seconds since 1970, UTC)."""
    date = max(time.gmtime(when)[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(source) as rough, zipfile.ZipFile(target, "w") as fine:
        for name in sorted(rough.namelist()):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # Unix, wherever it is built
            # A wheel is packed already.
            how = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            fine.writestr(entry, rough.read(name), how, 9)


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
    command = [sys.executable, "-I", builder, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise Failure("Blender's builder says: %s" % (" ".join(lines[-3:]) or "exit code %d" % done.returncode))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
