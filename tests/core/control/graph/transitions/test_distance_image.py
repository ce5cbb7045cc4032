# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of distances shows what it says: bright where skills are near, marks where transitions are."""

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.graph.transitions import distance_image
from sinew.core.control.graph.transitions.distance_image import draw_distance_image, write_distance_image
from sinew.core.control.graph.transitions.distances import find_candidates
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Transition
from sinew.core.errors import GraphError
from sinew.core.geometry.bitmap_font import render_text
from sinew.core.geometry.png import encode_png

from .boundary_distances import skill_distances


def decoded(data: bytes) -> np.ndarray:
    """The bytes (H, W, 3) of a PNG, read as its format says."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        parts[kind] = body
        at += 12 + length
    width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert (depth, colour) == (8, 2)
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def count(pixels, colour) -> int:
    return int(np.sum(np.all(pixels == colour, axis=-1)))


@pytest.fixture(scope="module")
def skills(stock_skill):
    return tuple(stock_skill(name) for name in ("walk", "run", "kick", "getup_faceup"))


def test_near_is_bright(body, skills):
    """Every square is as bright as its two moments are near."""
    pixels = draw_distance_image(body, skills, found=())
    plan = distance_image._PixelLayout(skills)
    walk, run = skills[:2]
    far = skill_distances(body, walk, run)[: walk.fragments, : run.fragments]
    y, x = (start + plan.cell // 2 for start in (plan.y["walk"], plan.x["run"]))
    seen = pixels[y : y + walk.fragments * plan.cell : plan.cell, x : x + run.fragments * plan.cell : plan.cell, 0]
    assert seen.shape == far.shape
    order = np.argsort(far, axis=None)
    assert np.all(np.diff(seen.ravel()[order].astype(int)) <= 0)
    assert np.ptp(seen.astype(int)) > 20
    own = plan.x["walk"] + plan.cell // 2
    assert [pixels[y + k * plan.cell, own + k * plan.cell, 0] for k in range(walk.fragments)] == [250] * walk.fragments


def test_candidates_are_rings_and_accepted_ones_are_dots(body, skills):
    found = find_candidates(body, skills)
    way = next(one.transition for one in found if one.transition.target == "run")
    plan = distance_image._PixelLayout(skills)
    y, x = plan.place(way)
    offered, taken = (draw_distance_image(body, skills, accepted, found) for accepted in ((), (way,)))
    assert tuple(offered[y, x + plan.dot]) == distance_image._CANDIDATE
    assert tuple(offered[y, x]) not in (
        distance_image._CANDIDATE,
        distance_image._ACCEPTED,
    )  # what is below is still seen
    assert tuple(taken[y, x]) == tuple(taken[y, x + plan.dot]) == distance_image._ACCEPTED
    # All of them are there, besides the one in the legend.
    one_ring = count(draw_distance_image(body, skills, found=()), distance_image._CANDIDATE)
    assert count(offered, distance_image._CANDIDATE) > 0.9 * one_ring * (len(found) + 1)


def test_a_transition_that_nobody_proposed_is_shown_too(body, skills):
    way = Transition("walk", 0.5, "run", 0.4)
    plan = distance_image._PixelLayout(skills)
    assert tuple(draw_distance_image(body, skills, (way,), ())[plan.place(way)]) == distance_image._ACCEPTED


def test_get_ups_have_rows_but_no_columns(skills):
    plan = distance_image._PixelLayout(skills)
    assert set(plan.y) == {skill.name for skill in skills}
    assert set(plan.x) == {"walk", "run", "kick"}


def test_the_names_are_written_on_both_sides(body, skills):
    renamed = (replace(skills[0], name="stroll"), *skills[1:])
    first, second = (draw_distance_image(body, some, found=()) for some in (skills, renamed))
    plan = distance_image._PixelLayout(skills)
    assert first.shape == second.shape
    off = np.any(first != second, axis=-1)
    top, left = min(plan.y.values()), min(plan.x.values())
    assert off[:top, left:].any() and off[top:, :left].any()
    assert not off[top:, left:].any()


def test_names_too_long_for_their_skills_stand_on_end(body, skills):
    long = (replace(skills[0], name="a walk with a very long name"), skills[1])
    assert distance_image._PixelLayout(long).upright
    pixels = draw_distance_image(body, long, found=())
    assert pixels.shape[0] > draw_distance_image(body, (skills[0], skills[1]), found=()).shape[0]


def test_one_skill_and_only_get_ups_have_pictures(body, skills):
    assert draw_distance_image(body, skills[:1]).ndim == 3
    assert draw_distance_image(body, skills[3:]).ndim == 3


def test_the_file_holds_the_picture(body, skills, tmp_path):
    graph = MotionGraph(skills[:2], (Transition("walk", 0.1, "run", 0.0),))
    write_distance_image(tmp_path / "folder" / "matrix.png", body, graph)
    written = (tmp_path / "folder" / "matrix.png").read_bytes()
    np.testing.assert_array_equal(decoded(written), draw_distance_image(body, graph.skills, graph.transitions))
    assert written == encode_png(draw_distance_image(body, graph.skills, graph.transitions))


def test_what_is_no_graph_has_no_picture(body, skills):
    with pytest.raises(GraphError, match="no skills"):
        draw_distance_image(body, ())
    with pytest.raises(GraphError, match="enters 'fly'"):
        draw_distance_image(body, skills, (Transition("walk", 0.1, "fly", 0.0),))


def test_every_letter_is_another():
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:-_>+/()'@=?%"
    shapes = {render_text(letter).tobytes() for letter in letters}
    assert len(shapes) == len(letters)
    assert all(render_text(letter).any() for letter in letters)
    assert not render_text(" ").any()


def test_text_is_as_long_as_its_letters():
    assert render_text("walk").shape == (9, 24)
    assert render_text("walk", 3).shape == (27, 72)
    assert render_text("").shape == (9, 0)
    np.testing.assert_array_equal(render_text("walk", 2)[::2, ::2], render_text("walk"))


def test_accents_are_dropped_and_the_unknown_is_a_question():
    np.testing.assert_array_equal(render_text("Läufer"), render_text("Laufer"))
    np.testing.assert_array_equal(render_text("走a"), render_text("?a"))
