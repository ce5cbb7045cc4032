# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line outside Blender: ``python bridge/cli VERB …`` with bpy as a module."""

import importlib
import os
import runpy
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    # Python put this folder on the path to run it; its files must not look like top-level modules.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    status = importlib.import_module("sinew.bridge.cli").main(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader may have gone, and it may be closed
            stream.flush()
    os._exit(status)  # bpy may take its time, or hang, over an orderly end
