# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of the tutorials in CONTRIBUTING.md, with Blender, in a copy of the project where each was followed."""

import pytest

from ...stock_clips import needs_stock
from ...tutorials import ROOT, Checkout, blocks, commands

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@needs_stock
@pytest.mark.parametrize(
    ("heading", "made"),
    [
        ("Add a method", ["tremor.blend"]),
        ("Add a family of methods with a learned file", ["medley.blend", "walk.medley.npz"]),
    ],
)
def test_the_commands_of_a_tutorial_work(heading, made, tmp_path):
    found = blocks(PAGE, heading)
    checkout = Checkout(tmp_path / "sinew")
    for block in found:
        checkout.follow(block)
    for command in commands(found, "./sinew"):
        checkout.run(command)
    assert sorted(path.name for path in (checkout.folder / "out").iterdir()) == made
