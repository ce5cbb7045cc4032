# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the hashes of all that Sinew installs: ``python tools/hashes.py``, when a pin in requirements/ changes.

Two files: what the tab's button may install, for the Pythons of Blender 4.5 and later, and what the launcher sets up
(tools/making.py). The hashes are PyPI's own. PyTorch's small builds for Linux are not on PyPI; theirs come from
https://download.pytorch.org/whl/cpu/torch/, and those that are in the file already stay there where that address cannot
be reached.
"""

from __future__ import annotations

import os
import re
import sys
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PINS = os.path.join(ROOT, "bridge", "setup", "installing", "pinned.txt")
SMALL_TORCH = "https://download.pytorch.org/whl/cpu/torch/"
PYTHONS = ("cp311", "cp312", "cp313", "cp314")
NAMES = ("cma", "coacd", "mujoco-core", "safetensors", "scipy", "torch", "filelock", "fsspec", "Jinja2", "MarkupSafe",
         "mpmath", "networkx", "setuptools", "sympy", "typing_extensions", "ray", "attrs", "certifi",
         "charset-normalizer", "click", "idna", "jsonschema", "jsonschema-specifications", "msgpack", "packaging",
         "protobuf", "PyYAML", "referencing", "requests", "rpds-py", "urllib3")  # fmt: skip
HEAD = """\
# What Sinew may install when the user asks for it (run.py): each wheel by its hash, for the Pythons of Blender 4.5 and
# later. Written by tools/hashes.py; the versions are those of requirements/common.txt.
"""
SET_UP = os.path.join(ROOT, "requirements", "hashes.txt")
SET_UP_PYTHONS = ("cp311",)
SET_UP_HEAD = """\
# What the launcher sets up (tools/making.py): each wheel by its hash. Written by tools/hashes.py; which versions, and
# for which systems, is said in the other files.
"""


def main() -> int:
    """Write both files anew."""
    common, blenders = pinned("common.txt"), [*pinned("blender-4.5.txt"), *pinned("blender-5.0.txt")]
    offered = [(name, dict(common)[name]) for name in NAMES]
    set_up = sorted({*common, *blenders}, key=lambda pin: (pin[0].lower(), pin[1]))
    try:
        small = small_torch(dict(common)["torch"], read_hashes().get("torch", {}))
        write(PINS, HEAD, offered, PYTHONS, small)
        write(SET_UP, SET_UP_HEAD, set_up, SET_UP_PYTHONS, small)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def write(path: str, head: str, pins: list[tuple[str, str]], pythons: tuple[str, ...], small: dict[str, str]) -> None:
    """Write a file of (name, version) pairs; small: PyTorch's builds for Linux."""
    parts = []
    for name, version in pins:
        wheels = listed("https://pypi.org/simple/%s/" % name, name, version)
        if name == "torch":
            # PyPI's for Linux ask for gigabytes of CUDA; pip would prefer one whose hash it is told to any other.
            wheels = {**{file: digest for file, digest in wheels.items() if "linux" not in file}, **small}
        wheels = {file: digest for file, digest in wheels.items() if fits(file, pythons)}
        if not wheels:
            raise LookupError("there is no wheel of %s %s" % (name, version))
        lines = ["    --hash=sha256:%s" % digest for _, digest in sorted(wheels.items())]
        notes = ["# %s" % file for file in sorted(wheels)]
        parts.append("\n".join([*notes, " \\\n".join(["%s==%s" % (name, version), *lines])]))
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(head + "\n" + "\n\n".join(parts) + "\n")


def pinned(name: str) -> list[tuple[str, str]]:
    """(package, version) pairs of a file in requirements/."""
    with open(os.path.join(ROOT, "requirements", name), encoding="utf-8") as stream:
        return re.findall(r"(?m)^([\w-]+)==([^\s;]+)", stream.read())


def read_hashes() -> dict[str, dict[str, str]]:
    """Package -> file -> hash of the file as it is; the notes above an entry name its files in the order of hashes."""
    try:
        with open(PINS, encoding="utf-8") as stream:
            entries = stream.read().split("\n\n")[1:]
    except OSError:
        return {}
    found = {}
    for entry in entries:
        name = re.search(r"(?m)^([\w-]+)==", entry)
        assert name is not None
        found[name[1]] = dict(zip(re.findall(r"# (\S+)", entry), re.findall(r"sha256:(\w+)", entry)))
    return found


def small_torch(version: str, before: dict[str, str]) -> dict[str, str]:
    """File -> hash of PyTorch's builds for Linux without CUDA."""
    try:
        wheels = listed(SMALL_TORCH, "torch", version + "+cpu")
    except OSError as error:
        print("%s: %s; what the file has stays" % (SMALL_TORCH, error), file=sys.stderr)
        wheels = before
    return {file: digest for file, digest in wheels.items() if "torch-%s+cpu-" % version in file and "linux" in file}


def listed(address: str, name: str, version: str) -> dict[str, str]:
    """File -> hash of the wheels that an index lists of a version."""
    with urllib.request.urlopen(address, timeout=60.0) as stream:
        page = stream.read().decode("utf-8")
    stem = "%s-%s-" % (re.sub("[-_.]+", "_", name).lower(), version)
    links = re.findall(r'href="[^"#]*?([^/"#]+\.whl)#sha256=([0-9a-f]{64})"', page)
    named = {file.replace("%2B", "+"): digest for file, digest in links}
    return {file: digest for file, digest in named.items() if file.lower().startswith(stem)}


def fits(file: str, pythons: tuple[str, ...]) -> bool:
    """Whether a wheel is for one of these Pythons on a machine that Blender runs on."""
    python, abi, platform = file[: -len(".whl")].split("-")[-3:]
    if "musllinux" in platform or re.search("i686|win32|armv7|ppc64|s390|riscv|iphone|ios|android", platform):
        return False
    if abi == "abi3" or abi == "none":
        return re.search(r"py3|cp3\d?\d?$", python) is not None
    return python in pythons and abi == python


if __name__ == "__main__":
    sys.exit(main())
