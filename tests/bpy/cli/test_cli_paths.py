# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that may not be looked at, that no file can have, or that only a library names: a line each, and no more."""

import json
import os
from dataclasses import replace

import pytest

from sinew.bridge import cli
from sinew.bridge.bounds.styling import open_style_clip
from sinew.bridge.cli import clips
from sinew.bridge.importing.importers import open_input
from sinew.bridge.library.assembling import find_changed, is_trained_file, open_library
from sinew.bridge.library.file_sources import digest_files, find_motion_files
from sinew.bridge.scene import saving
from sinew.core import limits
from sinew.core.body import build_body
from sinew.core.control.tracking.library_building import prepare_clip
from sinew.core.control.tracking.library_files import LIBRARY_FILE, StoredLibrary, store_library
from sinew.core.errors import BadFile
from sinew.core.motion.io import stock
from sinew.core.motion.plain_walk import plain_walk

from ...permissions import as_nobody, open_folder

POSIX = pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX")


@pytest.fixture(scope="module")
def prepared():
    """A body, and a walk prepared for it."""
    clip = plain_walk(2.2)
    body = build_body(clip.skeleton, clip=clip)[0]
    return body, prepare_clip(body, clip)


@pytest.fixture
def library_of(prepared, tmp_path):
    """Writes a library that says that its clips come from these sources; gives its path."""

    def write(*sources):
        body, clip = prepared
        origins = [replace(clip.origin, source=str(source), digest="as it was") for source in sources]
        clips = tuple(replace(clip, name=f"clip {n}", origin=origin) for n, origin in enumerate(origins))
        path = tmp_path / "home" / "moves.library.npz"
        LIBRARY_FILE.write_content(path, *store_library(StoredLibrary(body, clips)))
        return path

    return write


@pytest.fixture
def closed():
    """A folder with a motion file that nobody but its owner may look into; its owner is not who runs the test."""
    with open_folder() as root:
        folder = root / "closed"
        folder.mkdir()
        (folder / "x.bvh").write_text("HIERARCHY", encoding="utf-8")
        folder.chmod(0o000)
        yield folder
        folder.chmod(0o700)


def show(path, capfd, *words):
    """What ``library show`` prints, as JSON."""
    capfd.readouterr()
    assert cli.main(["library", "show", str(path), "--json", *map(str, words)]) == 0
    return json.loads(capfd.readouterr().out)


def test_a_library_may_name_anything_as_its_source(library_of, capfd, tmp_path):
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    path = library_of("a" * 300, "/" + "b" * 5000, "", "..", "/dev/zero", circle, "x\0y")
    told = show(path, capfd)
    assert told["changed"] == [] and told["unread"] == []


def test_only_motion_files_where_the_user_looks_are_read(library_of, capfd, tmp_path, monkeypatch):
    from sinew.bridge.library import file_sources

    read = []
    monkeypatch.setattr(file_sources, "sha256_of", lambda path, most: read.append(path) or "of now")
    (tmp_path / "home").mkdir()
    (tmp_path / "mocap").mkdir()
    beside, elsewhere, link = tmp_path / "home/a.bvh", tmp_path / "mocap/b.bvh", tmp_path / "home/c.bvh"
    secret = tmp_path / "home" / "id_rsa"
    for file in (beside, elsewhere, secret):
        file.write_text("x", encoding="utf-8")
    link.symlink_to(elsewhere)
    path = library_of(beside, elsewhere, link, secret)
    told = show(path, capfd)
    assert read == [beside] and told["changed"] == ["clip 0"]
    assert told["unread"] == [f"'{file}' is elsewhere" for file in (elsewhere, link)] + [
        f"'{secret}' is no motion file"
    ]
    told = show(path, capfd, "--sources", tmp_path / "mocap")
    assert told["changed"] == ["clip 0", "clip 1", "clip 2"] and len(told["unread"]) == 1
    assert cli.main(["library", "show", str(path)]) == 0
    assert "was not looked at" in (said := capfd.readouterr().out) and "--sources FOLDER" in said


def test_a_source_that_is_too_large_costs_a_line(library_of, capfd, tmp_path):
    (tmp_path / "home").mkdir()
    huge = tmp_path / "home" / "huge.bvh"
    with huge.open("wb") as stream:
        stream.truncate(limits.SOURCE_BYTES + 1)
    told = show(library_of(huge), capfd)
    assert told["changed"] == [] and "too large" in told["unread"][0]


@POSIX
def test_a_closed_folder_is_a_line_wherever_it_is_named(scene, closed, library_of, monkeypatch):
    stored = open_library(library_of(closed / "x.bvh"))
    with as_nobody():
        digests, unread = digest_files(stored, [closed])
        assert find_changed(stored, digests) == [] and unread == []
        for ask in (
            lambda: open_input(str(closed / "x.bvh")),
            lambda: find_motion_files([closed]),
            lambda: find_motion_files([closed / "x.bvh"]),
        ):
            with pytest.raises(BadFile, match=r"closed.*Permission denied"):
                ask()
        assert not is_trained_file(closed / "x.npz")
        monkeypatch.setenv("SINEW_STOCK", str(closed / "stock"))
        with pytest.raises(BadFile, match="is not a folder"):
            stock.stock_names()
        monkeypatch.setenv("SINEW_STOCK", str(closed))
        with pytest.raises(BadFile, match="Permission denied"):
            stock.stock_names()


def test_a_manner_of_nobody_is_refused(scene):
    for text in ("~nosuchuserx/y.bvh", "a" * 300, "x\0y"):
        with pytest.raises(BadFile):
            open_style_clip(text)


def test_an_error_of_the_system_that_nobody_thought_of_is_a_line(monkeypatch, capfd):
    def fail(*_words):
        raise PermissionError(13, "Permission denied", "/closed/\x1b[2J\nx")

    monkeypatch.setattr(clips.stock, "stock_names", fail)
    assert cli.main(["clips"]) == 1
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and "Permission denied" in said and "/closed/" in said and "Traceback" not in said
    assert said.rstrip("\n").isprintable()


def test_a_scene_with_a_name_as_long_as_the_disk_takes_is_saved(scene, tmp_path):
    for name in ("a" * 249 + ".blend", "👣" * 60 + ".blend"):
        saving.save_blend(tmp_path / name)
        assert (tmp_path / name).is_file()
