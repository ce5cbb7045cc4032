# SPDX-License-Identifier: GPL-3.0-or-later
"""``python tools/reference.py``: writes the reference of the Python API into docs/python.md, from its docstrings.

Nothing is imported: sources are read as text, so that it runs on any Python, and a test can see whether the page is up
to date. What stands above the mark in the page is written by hand.
"""

from __future__ import annotations

import ast
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PAGE = os.path.join(ROOT, "docs", "python.md")
ROOM = os.path.join(ROOT, "bridge", "api")
MARK = "<!-- From here on made of docstrings: python tools/reference.py -->\n"
GROUPS = (
    ("Scenes and characters", ("session", "open_character", "character", "save", "Character")),
    ("The stage", ("put_on_stage", "place_push", "key_strength")),
    ("One Action", ("simulate", "vary", "retime", "replay_live", "resume", "KeyMoment", "BodyRequest")),
    ("Skills and bounds", ("learn_graph", "bake_graph", "learn_bounds", "learn_styles", "bake_controller")),
    (
        "Libraries",
        (
            *("build_library", "extend_library", "direct", "train_director", "measure_director", "respond"),
            *("train_responder", "measure_responder"),
        ),
    ),
    ("Improvising", ("train_improviser", "learn_task", "improvise", "measure_improviser")),
    ("Any family of methods", ("learn_family", "play_family")),
    ("Work and takes", ("Work", "BakedTake", "read_learned", "WorkCancelled", "SinewError")),
)


def read_tree(path: str) -> ast.Module:
    """A source, parsed."""
    with open(path, encoding="utf-8") as stream:
        return ast.parse(stream.read())


def public_names() -> list[str]:
    """What the API has, as it says itself."""
    for node in read_tree(os.path.join(ROOM, "__init__.py")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def find_definitions() -> dict[str, ast.AST]:
    """Every function and class that the API's module imports, by name."""
    found: dict[str, ast.AST] = {}
    for node in read_tree(os.path.join(ROOM, "__init__.py")).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        base = ROOM
        for _ in range(node.level - 1):
            base = os.path.dirname(base)
        tree = read_tree(os.path.join(base, *(node.module or "").split(".")) + ".py")
        defined = {one.name: one for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
        found.update({alias.name: defined[alias.name] for alias in node.names})
    return found


def signature(node: ast.FunctionDef) -> str:
    """How a function is called, one argument a line where there are many."""
    plain = node.args
    positional = [one for one in plain.args if one.arg not in ("self", "cls")]
    defaults = [None] * (len(positional) - len(plain.defaults)) + list(plain.defaults)
    words = [_argument(one, default) for one, default in zip(positional, defaults)]
    if plain.kwonlyargs:
        words.append("*")
        words += [_argument(one, default) for one, default in zip(plain.kwonlyargs, plain.kw_defaults)]
    if plain.kwarg is not None:
        words.append("**%s" % plain.kwarg.arg)
    result = " -> %s" % ast.unparse(node.returns) if node.returns is not None else ""
    line = "%s(%s)%s" % (node.name, ", ".join(words), result)
    if len(line) <= 96:
        return line
    return "%s(\n%s)%s" % (node.name, "".join("    %s,\n" % word for word in words), result)


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    kind = "" if argument.annotation is None else ": %s" % ast.unparse(argument.annotation)
    if default is None:
        return argument.arg + kind
    return "%s%s=%s" % (argument.arg, kind and kind + " ", (" " if kind else "") + ast.unparse(default))


def docstring(node: ast.AST) -> str:
    """The docstring as Markdown: two backticks are one."""
    return (ast.get_docstring(node) or "").replace("``", "`")


def describe(name: str, node: ast.AST) -> str:
    """A section about a function or a class."""
    lines = ["### %s" % name, ""]
    if isinstance(node, ast.FunctionDef):
        lines += ["```text", signature(node), "```", "", docstring(node), ""]
        return "\n".join(lines)
    lines += [docstring(node), ""]
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            is_property = any(getattr(word, "id", "") == "property" for word in one.decorator_list)
            head = one.name if is_property else signature(one).replace("\n", " ")
            lines.append("- `%s`: %s" % (head, " ".join(docstring(one).split())))
    return "\n".join([*lines, ""]) if lines[-1] else "\n".join(lines)


def make_reference() -> str:
    """All of it."""
    found, parts = find_definitions(), []
    for title, names in GROUPS:
        parts.append("## %s\n" % title)
        parts += [describe(name, found[name]) for name in names]
    return "\n".join(parts).rstrip() + "\n"


def make_page() -> str:
    """The page as it should be: what was written by hand, and the reference."""
    with open(PAGE, encoding="utf-8") as stream:
        head = stream.read().partition(MARK)[0]
    return "%s%s\n%s" % (head, MARK, make_reference())


def main() -> int:
    """Write the page."""
    page = make_page()
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
