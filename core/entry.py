# SPDX-License-Identifier: GPL-3.0-or-later
"""Load this folder as the package ``sinew``, whatever it is called on disk; run as a script, be its worker.

Inside Blender the extension is ``bl_ext.<repository>.sinew``; the worker, the launcher and the tests
have no Blender to name it, so they come in through here:  ``python core/entry.py JOB_FOLDER``.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def load_package() -> ModuleType:
    """The package ``sinew`` rooted at this checkout or installed extension."""
    if "sinew" in sys.modules:
        return sys.modules["sinew"]
    spec = importlib.util.spec_from_file_location("sinew", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["sinew"] = package
    spec.loader.exec_module(package)
    return package


if __name__ == "__main__":
    # Python put core/ itself on the path to run this file; its rooms must not look like top-level modules.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != ROOT / "core"]
    load_package()
    worker = importlib.import_module("sinew.core.jobs.worker")
    sys.exit(worker.main(sys.argv[1:]))
