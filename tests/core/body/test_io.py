# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies survive being stored to the last bit; what is no body is refused by name."""

import copy
from dataclasses import fields, replace

import numpy as np
import pytest

from sinew.core.body import BodyModel, Shape, build_body
from sinew.core.body.io import VERSION, body_from_arrays, body_to_arrays
from sinew.core.errors import BadFile
from sinew.core.files import read_arrays, write_arrays
from sinew.core.motion.io import stock

from ...body_links import replace_link
from . import figures


@pytest.fixture(scope="module")
def body() -> BodyModel:
    """The stock humanoid's body."""
    clip = stock.load_stock("walk")
    return build_body(clip.skeleton, clip=clip)[0]


@pytest.fixture(scope="module")
def merging() -> BodyModel:
    """A person with clavicles, fingers and toes, some of which have no link of their own."""
    return build_body(figures.person())[0]


def bits(thing) -> object:
    """All that a model is made of, down to the bits of its numbers and the types of everything."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes(), thing.flags.writeable
    if isinstance(thing, tuple):
        return tuple(bits(one) for one in thing)
    if isinstance(thing, float):
        return thing.hex()
    if hasattr(thing, "__dataclass_fields__"):
        return type(thing), tuple((field.name, bits(getattr(thing, field.name))) for field in fields(thing))
    return type(thing), thing


def changed(body: BodyModel, arrays=None, **meta):
    """(arrays, meta) of a body with some of them replaced; None takes one out."""
    own_arrays, own_meta = copy.deepcopy(body_to_arrays(body))
    merged = own_arrays | (arrays or {}), own_meta | meta
    return tuple({name: value for name, value in one.items() if value is not None} for one in merged)


def test_a_body_comes_back_to_the_bit(body, merging, tmp_path):
    assert any(link.merged for link in merging.links)
    for one in (body, merging):
        write_arrays(tmp_path / "body.npz", *body_to_arrays(one))
        assert bits(body_from_arrays(*read_arrays(tmp_path / "body.npz"))) == bits(one)


def test_numbers_that_are_easily_rounded_come_back_to_the_bit(body, tmp_path):
    link = body.links[3]
    joint = replace(link.joint, lower=-0.0, upper=np.nextafter(1.0, 2.0), kp=5e-324, kd=1.0 / 3.0)
    shapes = (Shape("box", [0.1, 0.2, 0.3], [-0.0, 1e-300, 0.0], [0.6, 0.0, 0.8, 0.0]), *link.shapes)
    odd = replace_link(body, 3, replace(link, joint=joint, shapes=shapes, mass=0.1 + 0.2, merged=()))
    write_arrays(tmp_path / "body.npz", *body_to_arrays(odd))
    assert bits(body_from_arrays(*read_arrays(tmp_path / "body.npz"))) == bits(odd)


def test_a_link_without_shapes_and_names_of_any_letters_come_back(merging, tmp_path):
    names = tuple(f"Öß 骨 {name}" for name in merging.skeleton.names)
    links = tuple(
        replace(link, bone=f"Öß 骨 {link.bone}", merged=tuple(f"Öß 骨 {name}" for name in link.merged))
        for link in merging.links
    )
    bare = BodyModel(replace(merging.skeleton, names=names), (*links[:-1], replace(links[-1], shapes=())))
    write_arrays(tmp_path / "body.npz", *body_to_arrays(bare))
    assert bits(body_from_arrays(*read_arrays(tmp_path / "body.npz"))) == bits(bare)


def test_a_body_without_any_shape_comes_back(body):
    bare = BodyModel(body.skeleton, tuple(replace(link, shapes=()) for link in body.links))
    assert bits(body_from_arrays(*body_to_arrays(bare))) == bits(bare)


def test_every_array_is_needed(body):
    for name in body_to_arrays(body)[0]:
        with pytest.raises(BadFile, match=f"lacks '{name}'"):
            body_from_arrays(*changed(body, {name: None}))


def test_every_array_must_fit(body):
    for name, array in body_to_arrays(body)[0].items():
        with pytest.raises(BadFile, match=name):
            body_from_arrays(*changed(body, {name: array[:-1]}))


def test_no_array_may_hold_what_is_no_number(body):
    bone = body.links[-1].bone
    for name, array in body_to_arrays(body)[0].items():
        if not name.startswith(("link_", "joint_")) or array.dtype.kind != "f":
            continue
        for value in (np.nan, np.inf):
            spoiled = array.copy()
            spoiled[-1] = value
            with pytest.raises(BadFile, match=f"{name} of '{bone}' is not a number"):
                body_from_arrays(*changed(body, {name: spoiled}))
        with pytest.raises(BadFile, match=f"{name} holds"):
            body_from_arrays(*changed(body, {name: array.astype(str)}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bone": "tail"}, "no bone 'tail'"),
        ({"merged": ["tail"]}, "no bone 'tail'"),
        ({"joint": "rope"}, "joint of '{bone}' is of the kind 'rope'"),
        ({"joint": "free"}, "'{bone}' must hang on a link before it"),
        ({"shapes": ["cone"]}, "shape of '{bone}' is of the kind 'cone'"),
        ({"shapes": []}, "shape_size"),
        ({"shapes": 3}, "cannot be read"),
    ],
)
def test_a_link_that_cannot_be_is_refused_by_name(body, change, message):
    links = body_to_arrays(body)[1]["links"]
    assert len(links[-1]["shapes"]) == 1
    with pytest.raises(BadFile, match=message.format(bone=body.links[-1].bone)) as caught:
        body_from_arrays(*changed(body, links=[*links[:-1], links[-1] | change]))
    assert caught.value.hint


def test_a_bone_of_two_links_is_refused(body):
    links = body_to_arrays(body)[1]["links"]
    with pytest.raises(BadFile, match=f"bone '{body.links[0].bone}' belongs to two links"):
        body_from_arrays(*changed(body, links=[*links[:-1], links[-1] | {"merged": [body.links[0].bone]}]))


@pytest.mark.parametrize("part", ["bone", "role", "side", "joint", "shapes", "merged"])
def test_a_link_says_everything(body, part):
    links = body_to_arrays(body)[1]["links"]
    del links[2][part]
    with pytest.raises(BadFile, match=f"lacks '{part}'"):
        body_from_arrays(*changed(body, links=links))


@pytest.mark.parametrize("links", [3, "links", [3], []])
def test_what_is_no_list_of_links_is_refused(body, links):
    with pytest.raises(BadFile, match="body"):
        body_from_arrays(*changed(body, links=links))


def test_a_parent_that_is_no_link_before_it_is_refused(body):
    parents = body_to_arrays(body)[0]["link_parents"].copy()
    parents[2] = 99
    with pytest.raises(BadFile, match=f"'{body.links[2].bone}' must hang"):
        body_from_arrays(*changed(body, {"link_parents": parents}))
    with pytest.raises(BadFile, match="link_parents"):
        body_from_arrays(*changed(body, {"link_parents": parents.astype(float)}))


def test_a_newer_format_is_refused_with_the_fix(body):
    with pytest.raises(BadFile, match=f"format {VERSION + 1}") as caught:
        body_from_arrays(*changed(body, version=VERSION + 1))
    assert caught.value.hint == "Update Sinew"
    for version in (None, "1", 0):
        with pytest.raises(BadFile, match="no format version"):
            body_from_arrays(*changed(body, version=version))
