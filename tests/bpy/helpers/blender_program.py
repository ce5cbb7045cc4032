# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's command line for machines that have only its module: what a farm calls, ``blender -b FILE -c sinew …``.

    python blender_program.py -b FILE -c sinew VERB …
    python blender_program.py -b FILE -o PATH -f 1,5

Arguments are taken in order, as Blender does it, and what it does not know is an error here.
"""

import importlib
import os
import runpy
import stat
import sys
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[3]


def write_program(path):
    """A file that can be called as a Blender; gives its path."""
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def run_sinew(words):
    """A verb of Sinew in the open file; gives its exit code."""
    name, *rest = words
    if name != "sinew":
        return 1
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    return importlib.import_module("sinew.bridge.cli").main(rest)


def render(frames):
    """Render frames as ``-f`` does."""
    scene = bpy.context.scene
    pattern = scene.render.filepath
    for frame in frames.split(","):
        scene.frame_set(int(frame))
        scene.render.filepath = bpy.path.abspath(scene.render.frame_path(frame=int(frame)))
        bpy.ops.render.render(write_still=True)
        scene.render.filepath = pattern


def main(words):
    """Do what the words say; gives the exit code."""
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-b", "-y"):
            continue
        if word == "--addons":
            words.pop(0)
        elif word == "-c":
            return run_sinew(words)
        elif word == "-o":
            bpy.context.scene.render.filepath = words.pop(0)
        elif word == "-f":
            render(words.pop(0))
        elif word.startswith("-"):
            sys.stderr.write(f"unknown argument {word}\n")
            return 1
        else:
            bpy.ops.wm.open_mainfile(filepath=word)
    return 0


if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
