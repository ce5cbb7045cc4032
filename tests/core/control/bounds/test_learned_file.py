# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller as a learned file: what a panel asks of it needs nothing that Blender's own Python may lack."""

import sys

import pytest

from sinew.core.control.bounds.learned_file import CONTROLLER

from ....written_before import FOLDER


def test_a_panel_reads_and_describes_a_gait_without_scipy(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "scipy"] + ["scipy", "scipy.sparse"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError):
        import scipy.sparse  # noqa: F401
    path = FOLDER / "sinew" / "Mannequin-walk.safetensors"
    controller = CONTROLLER.from_content(CONTROLLER.read_content(path), f"'{path}'")
    assert controller.reference.symmetric
    assert CONTROLLER.describe(controller)[0].startswith("A gait, one cycle of")
