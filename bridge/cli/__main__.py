# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line outside Blender: ``python bridge/cli VERB …`` with bpy as a module."""

import importlib
import os
import runpy
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_script(script: str, **verbs: str) -> None:
    """Load this checkout as the package ``sinew``, run the verb of the command line, and leave with its exit code.

    script: the file that Python was started with. verbs: modules of further verbs, for tools that are not shipped.
    """
    # Python put the script's folder on the path to run it; its files must not look like top-level modules.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(script).resolve().parent]
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    status = importlib.import_module("sinew.bridge.cli").main(sys.argv[1:], verbs)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader may have gone, and it may be closed
            stream.flush()
    importlib.import_module("sinew.core.interrupts").remove_temporary_files()
    os._exit(status)  # bpy may take its time, or hang, over an orderly end


if __name__ == "__main__":
    run_script(__file__)
