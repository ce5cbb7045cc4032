# SPDX-License-Identifier: GPL-3.0-or-later
"""An FBX file that would take far more memory than it has bytes is refused before Blender opens it."""

import struct
import tracemalloc
import zlib

import pytest

from sinew.core import limits
from sinew.core.motion.io import fbx_size
from sinew.core.motion.io.fbx_check import check_fbx

from .written_files import fbx, number, packed, refused, text


def written(tmp_path, content):
    path = tmp_path / "walk.fbx"
    path.write_bytes(content)
    return path


def zeros(count, kind=b"d"):
    """A packed array of so many zeros."""
    data = zlib.compress(bytes(count * struct.calcsize(kind.decode())))
    return kind + struct.pack("<III", count, 1, len(data)) + data


def thing(kind, number_of_it, *children, name=b"It", its_class=b""):
    return kind, (number(number_of_it), text(name), text(its_class)), children


def link(kind, source, target, *more):
    return b"C", (text(kind), number(source), number(target), *more), ()


def animated(keys, objects=1, layers=1, stacks=1):
    """A curve (1) of a node (2) that is on so many layers (100 ...) of stacks (200 ...), for objects (300 ...)."""
    things = [
        thing(b"AnimationCurve", 1, (b"KeyTime", (packed(range(keys)),), ())),
        thing(b"AnimationCurveNode", 2),
        *(thing(b"AnimationLayer", 100 + place) for place in range(layers)),
        *(thing(b"AnimationStack", 200 + place) for place in range(stacks)),
        *(thing(b"Model", 300 + place, its_class=b"Null") for place in range(objects)),
    ]
    links = [link(b"OP", 1, 2, text(b"d|X"))]
    links += [link(b"OP", 2, 300 + place, text(b"Lcl Rotation")) for place in range(objects)]
    links += [link(b"OO", 2, 100 + place) for place in range(layers)]
    links += [link(b"OO", 100 + one, 200 + other) for one in range(layers) for other in range(stacks)]
    return fbx(objects=things, connections=links)


def test_an_array_is_counted_piece_by_piece(tmp_path):
    """60 MB of zeros in 60 KB take next to nothing to be found whole."""
    path = written(tmp_path, fbx([zeros(60 * 2**17)]))
    tracemalloc.start()
    check_fbx(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * limits.MIB


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (fbx([zeros(65 * 2**17)]), ("byte 47", "arrays of more than 64 MB", "a file of its size", "Export only")),
        (fbx([zeros(33 * 2**17), zeros(33 * 2**17)]), ("byte", "arrays of more than 64 MB")),
        (fbx(objects=[thing(b"Model", 7)] * 20_001), ("more than 20000 models",)),
        (fbx(objects=[thing(b"Material", 7)] * 2001), ("more than 2000 materials",)),
        (fbx(objects=[thing(b"Geometry", 7, its_class=b"Shape")] * 5001), ("more than 5000 shapes",)),
        (animated(20_000, objects=100), ("20000 keys, which its connections make 2000000 of", "Export only")),
        (animated(20_000, layers=100), ("make 2000000 of",)),
        (animated(20_000, layers=10, stacks=10), ("make 2000000 of",)),
    ],
)
def test_an_fbx_that_would_take_far_more_than_it_has_is_refused(tmp_path, content, words):
    refused(check_fbx, written(tmp_path, content), *words)


def test_a_curve_for_one_object_is_as_long_as_it_likes(tmp_path):
    check_fbx(written(tmp_path, animated(2_000_000)))
    check_fbx(written(tmp_path, animated(1000, objects=100)))


@pytest.mark.parametrize("of_one", [False, True], ids=["shapes", "one shape, often"])
def test_shapes_are_as_large_as_their_mesh(tmp_path, of_one):
    mesh = thing(b"Geometry", 1, (b"Vertices", (zeros(300_000),), ()), its_class=b"Mesh")

    def shaped(count):
        ids = [10] if of_one else range(10, 10 + count)
        shapes = [thing(b"Geometry", one, its_class=b"Shape") for one in ids]
        links = [link(b"OO", 10 if of_one else 10 + place, 10_000 + place) for place in range(count)]
        return written(tmp_path, fbx(objects=[mesh, *shapes], connections=links))

    check_fbx(shaped(200))
    refused(check_fbx, shaped(300), "300 shapes of a mesh of 100000 points", "223 are the most")


@pytest.mark.parametrize("name", ["FBX_NODES", "FBX_PROPERTIES"])
def test_nodes_and_their_properties_are_counted(tmp_path, monkeypatch, name):
    monkeypatch.setattr(fbx_size, name, 50)
    check_fbx(written(tmp_path, fbx(objects=[(b"Note", (), ())] * 40)))
    many = [(b"Note", (), ())] * 60 if name == "FBX_NODES" else [(b"Note", (b"Z\0",) * 60, ())]
    refused(check_fbx, written(tmp_path, fbx(objects=many)), "byte", "more than 50", name[4:].lower())
