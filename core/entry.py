# SPDX-License-Identifier: GPL-3.0-or-later
"""Load this folder as the package ``sinew``, whatever it is called on disk; run as a script, be its worker.

Inside Blender the extension is ``bl_ext.<repository>.sinew``; the worker, the launcher and the tests
have no Blender to name it, so they come in through here:  ``python core/entry.py JOB_FOLDER``, or live as
``python core/entry.py --live SOCKET JOB_FOLDER``.

Packages that lie beside a Python rather than in it, as those of the extension's own wheels, are found through the
environment variable ``SINEW_PACKAGES``: folders called ``.../pythonX.Y/site-packages``.
"""

import importlib.util
import os
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
    use_packages()
    package = importlib.util.module_from_spec(spec)
    sys.modules["sinew"] = package
    spec.loader.exec_module(package)
    return package


def use_packages() -> None:
    """Let this Python import from the folders of ``SINEW_PACKAGES`` that were made for its version.

    They come last: what a Python that the user chose has itself is what it works with.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for folder in os.environ.get("SINEW_PACKAGES", "").split(os.pathsep):
        if version in Path(folder).parts and os.path.isabs(folder) and folder not in sys.path:
            sys.path.append(folder)


if __name__ == "__main__":
    # Python put core/ itself on the path to run this file; its rooms must not look like top-level modules.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != ROOT / "core"]
    load_package()
    is_live = sys.argv[1:2] == ["--live"]
    worker = importlib.import_module(f"sinew.core.jobs.{'live.worker' if is_live else 'worker'}")
    sys.exit(worker.main(sys.argv[2 if is_live else 1 :]))
