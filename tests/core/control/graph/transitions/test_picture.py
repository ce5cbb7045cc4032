# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of distances shows what it says: bright where skills are near, marks where transitions are."""

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.graph.transitions import picture
from sinew.core.control.graph.transitions.distances import candidates, skill_distances
from sinew.core.control.graph.transitions.lettering import lettered
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Transition
from sinew.core.control.graph.transitions.picture import picture_of, png_of, write_picture
from sinew.core.errors import GraphError


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
    pixels = picture_of(body, skills, found=())
    plan = picture._Plan(skills)
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
    found = candidates(body, skills)
    way = next(one.transition for one in found if one.transition.target == "run")
    plan = picture._Plan(skills)
    y, x = plan.place(way)
    offered, taken = (picture_of(body, skills, accepted, found) for accepted in ((), (way,)))
    assert tuple(offered[y, x + plan.dot]) == picture._CANDIDATE
    assert tuple(offered[y, x]) not in (picture._CANDIDATE, picture._ACCEPTED)  # what is below is still seen
    assert tuple(taken[y, x]) == tuple(taken[y, x + plan.dot]) == picture._ACCEPTED
    # All of them are there, besides the one in the legend.
    one_ring = count(picture_of(body, skills, found=()), picture._CANDIDATE)
    assert count(offered, picture._CANDIDATE) > 0.9 * one_ring * (len(found) + 1)


def test_a_transition_that_nobody_proposed_is_shown_too(body, skills):
    way = Transition("walk", 0.5, "run", 0.4)
    plan = picture._Plan(skills)
    assert tuple(picture_of(body, skills, (way,), ())[plan.place(way)]) == picture._ACCEPTED


def test_get_ups_have_rows_but_no_columns(skills):
    plan = picture._Plan(skills)
    assert set(plan.y) == {skill.name for skill in skills}
    assert set(plan.x) == {"walk", "run", "kick"}


def test_the_names_are_written_on_both_sides(body, skills):
    renamed = (replace(skills[0], name="stroll"), *skills[1:])
    first, second = (picture_of(body, some, found=()) for some in (skills, renamed))
    plan = picture._Plan(skills)
    assert first.shape == second.shape
    off = np.any(first != second, axis=-1)
    top, left = min(plan.y.values()), min(plan.x.values())
    assert off[:top, left:].any() and off[top:, :left].any()
    assert not off[top:, left:].any()


def test_names_too_long_for_their_skills_stand_on_end(body, skills):
    long = (replace(skills[0], name="a walk with a very long name"), skills[1])
    assert picture._Plan(long).upright
    pixels = picture_of(body, long, found=())
    assert pixels.shape[0] > picture_of(body, (skills[0], skills[1]), found=()).shape[0]


def test_one_skill_and_only_get_ups_have_pictures(body, skills):
    assert picture_of(body, skills[:1]).ndim == 3
    assert picture_of(body, skills[3:]).ndim == 3


def test_the_file_holds_the_picture(body, skills, tmp_path):
    graph = MotionGraph(skills[:2], (Transition("walk", 0.1, "run", 0.0),))
    write_picture(tmp_path / "folder" / "matrix.png", body, graph)
    written = (tmp_path / "folder" / "matrix.png").read_bytes()
    np.testing.assert_array_equal(decoded(written), picture_of(body, graph.skills, graph.transitions))
    assert written == png_of(picture_of(body, graph.skills, graph.transitions))


def test_what_is_no_graph_has_no_picture(body, skills):
    with pytest.raises(GraphError, match="no skills"):
        picture_of(body, ())
    with pytest.raises(GraphError, match="enters 'fly'"):
        picture_of(body, skills, (Transition("walk", 0.1, "fly", 0.0),))


def test_every_letter_is_another():
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:-_>+/()'@=?%"
    shapes = {lettered(letter).tobytes() for letter in letters}
    assert len(shapes) == len(letters)
    assert all(lettered(letter).any() for letter in letters)
    assert not lettered(" ").any()


def test_text_is_as_long_as_its_letters():
    assert lettered("walk").shape == (9, 24)
    assert lettered("walk", 3).shape == (27, 72)
    assert lettered("").shape == (9, 0)
    np.testing.assert_array_equal(lettered("walk", 2)[::2, ::2], lettered("walk"))


def test_accents_are_dropped_and_the_unknown_is_a_question():
    np.testing.assert_array_equal(lettered("Läufer"), lettered("Laufer"))
    np.testing.assert_array_equal(lettered("走a"), lettered("?a"))
