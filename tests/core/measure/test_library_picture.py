# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of a library: dots where its frames are, in the colours of their styles."""

import zlib
from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.geometry.png import encode_png
from sinew.core.measure.library_picture import COLOURS, HEIGHT, WIDTH, draw_library
from sinew.core.motion.clip import Tag
from sinew.core.motion.library import make_library
from sinew.core.motion.plain_walk import plain_walk


@pytest.fixture(scope="module")
def picture():
    walk = plain_walk(fps=60.0)
    still = replace(walk, local_pos=walk.local_pos * [1.0, 0.01, 1.0], name="still")
    tagged = [replace(clip, tags=(Tag(name, 0, len(clip)),)) for clip, name in ((walk, "walk"), (still, "idle"))]
    return draw_library(build_body(walk.skeleton, clip=walk)[0], make_library(tagged))


def rows_of(picture, colour):
    """Rows with dots of a colour, the key at the right left out."""
    return np.flatnonzero((picture[:, : WIDTH - 130] == colour).all(-1).any(1))


def test_what_is_faster_is_higher(picture):
    assert picture.shape == (HEIGHT, WIDTH, 3)
    idle, walk = (rows_of(picture, COLOURS[index]) for index in (0, 1))  # tags in the order of the alphabet
    assert len(idle) and len(walk)
    assert np.median(walk) < np.median(idle) - 50


def test_it_is_a_whole_png(picture):
    data = encode_png(picture)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    begin = data.index(b"IDAT") + 4
    rows = np.frombuffer(zlib.decompress(data[begin : data.index(b"IEND") - 8]), dtype=np.uint8)
    assert np.array_equal(rows.reshape(HEIGHT, -1)[:, 1:].reshape(picture.shape), picture)
