# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder as a stranger may send it: full of modules that are called as those which a Python looks for."""

import os
import subprocess
import sys
from pathlib import Path

# The whole standard library, what site looks for, what workers need, and our own rooms.
_NAMES = {
    *sys.stdlib_module_names, "sitecustomize", "usercustomize", "numpy", "scipy", "mujoco", "pybullet", "pybullet_data",
    "cma", "coacd", "safetensors", "torch", "pip", "bpy", "mathutils", "sinew", "core", "bridge", "tools", "bench",
    "setuptools", "_distutils_hack", "typing_extensions",
}  # fmt: skip


class TrappedFolder:
    """Traps that write down who stepped into them; ``sprung`` says which."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._witness = folder.parent / f"{folder.name}.sprung"
        self.lay(folder)

    def lay(self, folder: Path) -> None:
        """Fill one more folder."""
        folder.mkdir(parents=True, exist_ok=True)
        code = (
            f"import _io\nwith _io.open({str(self._witness)!r}, 'a') as stream:\n    stream.write(__file__ + '\\n')\n"
        )
        for name in _NAMES:
            (folder / f"{name}.py").write_text(code, encoding="utf-8")

    @property
    def sprung(self) -> list[str]:
        """The traps that somebody imported, in order."""
        return self._witness.read_text("utf-8").split() if self._witness.exists() else []

    def works(self) -> bool:
        """Whether a Python that is not careful would be caught."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        subprocess.run(
            [sys.executable, "-c", "import numpy"], cwd=self.folder, env=kept, capture_output=True, check=False
        )
        caught = bool(self.sprung)
        self._witness.unlink(missing_ok=True)
        return caught
