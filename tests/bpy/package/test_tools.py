# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools that make pictures load Sinew's modules by name; the linter cannot see whether they are still there."""

import ast
import importlib
import re
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"
LOADED_AS = {"landing": "sinew.", "pictures": "sinew.", "overlay_pictures": "sinew.bridge."}


def _is_table_of_modules(node):
    values = node.values if isinstance(node, ast.Dict) else [ast.Constant(None)]
    return all(isinstance(value, ast.Constant) and re.fullmatch(r"\w+(\.\w+)+", str(value.value)) for value in values)


@pytest.mark.parametrize("tool", LOADED_AS)
def test_every_module_that_a_tool_names_is_there_with_what_it_uses(tool):
    text = (TOOLS / f"{tool}.py").read_text(encoding="utf-8")
    tables = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assign)]
    (names,) = [ast.literal_eval(table) for table in tables if _is_table_of_modules(table)]
    for name, attribute in set(re.findall(r"\bsinew\.(\w+)\.(\w+)", text)):
        if name in names:
            assert hasattr(importlib.import_module(LOADED_AS[tool] + names[name]), attribute), (name, attribute)


@pytest.mark.parametrize("path", sorted((TOOLS / "session").glob("*.py")), ids=lambda path: path.name)
def test_every_module_that_a_session_asks_for_is_there(path):
    for name, attribute in re.findall(r'part\("([\w.]+)"\)\.(\w+)', path.read_text(encoding="utf-8")):
        assert hasattr(importlib.import_module("sinew." + name), attribute), (name, attribute)
