# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that others chose: asking what is there raises nothing, and no shipped code asks in another way."""

import ast
import os
from pathlib import Path

import pytest

from sinew.core import paths
from sinew.core.errors import BadFile
from sinew.core.files import write_new, write_whole

from ..permissions import as_nobody, open_folder

ROOT = Path(__file__).resolve().parents[2]
# What pathlib raises an error for where a folder is closed, a name too long or no name at all.
ASKING = {"exists", "expanduser", "glob", "is_dir", "is_file", "is_mount", "is_symlink", "iterdir", "lstat", "rglob"}
ASKING |= {"samefile", "stat"}
COVERING = {"OSError", "Exception", "BaseException"}
# Where nothing but Sinew's own files is asked for, or where nothing of Sinew can be imported yet.
OWN = {
    "bridge/setup/installing/run.py": "a script of its own, in a folder of its own",
    "core/array_cache.py": "rglob: Sinew's own sources",
    "core/jobs/cluster/connection.py": "the same",
    "core/body/presets.py": "glob: what is shipped",
    "core/control/bounds/presets.py": "glob: what is shipped",
    "core/motion/io/bvh_check.py": "stat: who opens a motion file takes the error",
    "core/motion/io/fbx_check.py": "the same",
    "core/motion/io/gltf_check.py": "the same",
}


def names_of(handler: ast.ExceptHandler) -> set[str]:
    """The errors that a handler takes; a bare one takes everything."""
    if handler.type is None:
        return {"BaseException"}
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}


def unguarded(tree: ast.AST, guarded: bool = False) -> list[tuple[int, str]]:
    """(line, name) of every call of pathlib's that asks what is there without anybody to take the error."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Try):
            safe = guarded or any(names_of(one) & COVERING for one in node.handlers)
            found += [call for part in node.body for call in unguarded(ast.Module([part], []), safe)]
            rest = (*node.handlers, *node.orelse, *node.finalbody)
            found += [call for part in rest for call in unguarded(ast.Module([part], []), guarded)]
            continue
        safe = guarded or (isinstance(node, ast.With) and "suppress(OSError" in ast.unparse(node.items[0]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not guarded:
            owner = ast.unparse(node.func.value)
            if node.func.attr in ASKING and owner not in ("os", "os.path"):  # those of os.path raise nothing
                found.append((node.lineno, node.func.attr))
            if node.func.attr in ("stat", "lstat", "listdir", "scandir") and owner == "os":
                found.append((node.lineno, node.func.attr))
        found += unguarded(node, safe)
    return found


def shipped() -> list[Path]:
    return [path for room in ("bridge", "core", "operators", "panels") for path in sorted((ROOT / room).rglob("*.py"))]


@pytest.mark.parametrize("path", shipped(), ids=lambda path: str(path.relative_to(ROOT)))
def test_shipped_code_asks_for_files_without_raising(path):
    if path.relative_to(ROOT).as_posix() not in OWN:
        assert unguarded(ast.parse(path.read_text(encoding="utf-8"))) == [], "ask core.paths instead"


@pytest.mark.parametrize(
    ("source", "is_fine"),
    [
        ("path.is_file()", False),
        ("def f(path):\n    return [one for one in path.iterdir()]", False),
        ("os.stat(path)", False),
        ("try:\n    path.exists()\nexcept ValueError:\n    pass", False),
        ("try:\n    pass\nexcept OSError:\n    path.exists()", False),
        ("try:\n    path.exists()\nexcept (OSError, ValueError):\n    pass", True),
        ("with suppress(OSError):\n    path.stat()", True),
        ("os.path.exists(path)", True),
        ("is_plain_file(path)", True),
    ],
)
def test_a_call_that_may_raise_is_seen(source, is_fine):
    assert (unguarded(ast.parse(source)) == []) is is_fine


ODD = ["a" * 300, "a" * 5000, "zero\0byte", "half\ud800", ""]


@pytest.mark.parametrize("name", ODD, ids=["long", "longer", "zero", "half", "nothing"])
def test_of_a_name_that_no_file_has_nothing_is_there(tmp_path, name):
    path = tmp_path / name / "x"
    assert not (paths.is_plain_file(path) or paths.is_folder(path) or paths.is_there(path) or paths.is_link(path))
    assert paths.why_no_file(path) and paths.size_of(path) == 0
    assert paths.find_in_folder(path) == []
    assert isinstance(paths.real_path(path), Path)
    with pytest.raises(BadFile):
        paths.list_folder(path)


def test_what_is_there_is_seen(tmp_path):
    file, folder, link, circle = (tmp_path / name for name in ("file.txt", "folder", "link", "circle"))
    file.write_text("x")
    folder.mkdir()
    link.symlink_to(file)
    circle.symlink_to(circle)
    assert paths.is_plain_file(file) and paths.is_plain_file(link) and not paths.is_plain_file(folder)
    assert paths.is_folder(folder) and not paths.is_folder(file)
    assert paths.is_there(file) and paths.is_there(folder) and not paths.is_there(circle)
    assert paths.is_link(link) and paths.is_link(circle) and not paths.is_link(file)
    assert paths.why_no_file(file) == "" and paths.why_no_file(folder) == "is no file"
    assert paths.size_of(file) == 1
    assert paths.list_folder(tmp_path, ".txt") == [file]
    assert paths.real_path(link) == file.resolve()
    assert isinstance(paths.real_path(circle), Path)
    with pytest.raises(BadFile, match="circle"):
        paths.usable_path(circle)


@pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX")
def test_a_closed_folder_has_nothing_to_see():
    with open_folder() as root:
        closed = root / "closed"
        closed.mkdir()
        (closed / "walk.bvh").write_text("x")
        closed.chmod(0o000)
        try:
            with as_nobody():
                path = closed / "walk.bvh"
                assert not (paths.is_plain_file(path) or paths.is_there(path) or paths.is_link(path))
                assert paths.why_no_file(path) == "cannot be read: Permission denied"
                assert paths.find_in_folder(closed) == []
                with pytest.raises(BadFile, match="Permission denied"):
                    paths.list_folder(closed)
        finally:
            closed.chmod(0o700)


@pytest.mark.parametrize("name", ["👣" * 60 + ".json", "é" * 125 + ".json", "a" * 250 + ".json"])
def test_whatever_a_disk_takes_as_a_name_can_be_written(tmp_path, name):
    write_whole(tmp_path / name, b"x")
    assert os.listdir(tmp_path) == [name]
    assert write_new(tmp_path / f"{name[1:]}", b"y")
