# SPDX-License-Identifier: GPL-3.0-or-later
"""The tutorials of CONTRIBUTING.md still work: each is followed step by step in a copy of the project."""

import pytest

from ..tutorials import ROOT, Checkout, add_lines, blocks, commands, has_excerpt

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
METHOD, FAMILY = "Add a method", "Add a family of methods with a learned file"
ENGINE, CONTROLLER = "Add an engine", "Add a learned controller"
PYTHON = ".venv/bin/python"


@pytest.mark.parametrize("heading", [METHOD, FAMILY, ENGINE, CONTROLLER])
def test_a_tutorial_can_be_followed(heading, tmp_path):
    found = blocks(PAGE, heading)
    checkout = Checkout(tmp_path / "sinew")
    for block in found:
        checkout.follow(block)
    if checkout.written:
        names = " ".join(checkout.written)
        checkout.run(f"{PYTHON} -m ruff check --no-cache {names}")
        checkout.run(f"{PYTHON} -m ruff format --no-cache --check {names}")
    for command in commands(found, PYTHON):
        checkout.run(f"{command} -q -p no:cacheprovider")


def test_the_tutorials_have_all_that_they_speak_of():
    kinds = {heading: [block.kind for block in blocks(PAGE, heading)] for heading in (METHOD, ENGINE, CONTROLLER)}
    assert kinds[METHOD] == ["file", "diff", "file", "sh"]
    assert kinds[ENGINE] == ["file", "diff", "sh"]
    assert kinds[CONTROLLER] == ["file", "file", "sh", "excerpt"]
    assert sum(block.kind == "excerpt" for block in blocks(PAGE, FAMILY)) == 4
    assert len(commands(blocks(PAGE, FAMILY), "./sinew")) == 3


def test_the_example_of_a_family_is_small():
    assert len((ROOT / "core/control/medley/methods.py").read_text(encoding="utf-8").splitlines()) < 150


def test_a_tutorial_that_went_stale_is_noticed(tmp_path):
    source = "a = 1\nclass B:\n    c = 2\n    d = 3\n"
    assert has_excerpt("a = 1\n...\nc = 2\n", source) and has_excerpt("    c = 2\n    d = 3\n", source)
    assert not has_excerpt("a = 2\n", source) and not has_excerpt("c = 2\n...\na = 1\n", source)
    assert add_lines(" a = 1\n+b = 2\n", source).startswith("a = 1\nb = 2\nclass")
    with pytest.raises(AssertionError, match="not there"):
        add_lines(" gone = 1\n+b = 2\n", source)
    checkout = Checkout(tmp_path / "sinew")
    with pytest.raises(AssertionError, match="no_such_test"):
        checkout.run(f"{PYTHON} -m pytest -q tests/core/no_such_test.py")
