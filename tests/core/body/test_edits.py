# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts edited by hand: physics has what was asked for, the rest stays, and the other side is a mirror image."""

import json

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.edits import apply_edits, main_shape, mirror_edit, opposite_link, size_for_kind
from sinew.core.body.link_solids import shape_volume
from sinew.core.body.part_edit import PartEdit
from sinew.core.body.sagittal_plane import find_sagittal_plane
from sinew.core.errors import BadSettings, RigError
from sinew.core.geometry.quaternions import multiply, rotate, to_matrix

from .figures import person, wiggling


def body_with(edits=None, **options):
    return build_body(person(), edits=edits, **options)[0]


def link_of(body, bone):
    return body.links[body.link_of(bone)]


def test_nothing_said_changes_nothing():
    plain, said = body_with(), body_with({"shin.L": PartEdit()})
    for link, same in zip(plain.links, said.links, strict=True):
        assert (link.mass, link.joint.kp) == (same.mass, same.joint.kp)
        assert np.array_equal(link.inertia, same.inertia)


def test_a_box_of_the_hands_own_choosing_weighs_and_turns_as_one():
    edit = PartEdit("box", (0.1, 0.2, 0.4), mass_kg=6.0)
    link = link_of(body_with({"shin.L": edit}), "shin.L")
    (shape,) = link.shapes
    assert shape.kind == "box" and shape_volume(shape) == pytest.approx(0.1 * 0.2 * 0.4)
    assert link.mass == 6.0 and np.allclose(link.com, shape.pos)
    # A solid box: m (b² + c²) / 12 about each axis.
    expected = 6.0 / 12.0 * np.array([0.2**2 + 0.4**2, 0.1**2 + 0.4**2, 0.1**2 + 0.2**2])
    assert np.sort(np.linalg.eigvalsh(link.inertia)) == pytest.approx(np.sort(expected))


def test_a_capsule_is_as_long_as_it_was_said_from_tip_to_tip():
    link = link_of(body_with({"thigh.R": PartEdit("capsule", (0.06, 0.5))}), "thigh.R")
    radius, half, _ = link.shapes[0].size
    assert (radius, 2.0 * (half + radius)) == pytest.approx((0.06, 0.5))
    assert link.mass == pytest.approx(link_of(body_with(), "thigh.R").mass)  # a shape alone weighs nothing


def test_a_shape_without_a_size_is_about_as_large_as_the_fitted_one():
    fitted = main_shape(link_of(body_with(), "thigh.L"))
    for kind in ("sphere", "box", "capsule"):
        shape = link_of(body_with({"thigh.L": PartEdit(kind)}), "thigh.L").shapes[0]
        assert shape.kind == kind
        assert 0.5 < shape_volume(shape) / shape_volume(fitted) < 1.6
        assert size_for_kind(shape, kind) == pytest.approx(size_for_kind(fitted, kind), rel=1e-3)


def test_a_new_box_lies_along_the_limb_and_square_to_the_body():
    body = body_with({"thigh.L": PartEdit("box")})
    link = link_of(body, "thigh.L")
    _, quats = body.skeleton.rest_world()
    axes = to_matrix(multiply(quats[body.skeleton.index("thigh.L")], link.shapes[0].quat_wxyz))
    assert abs(axes[2, 2]) > 0.95  # its long way is up and down, as the thigh's
    assert abs(axes[:, 0] @ find_sagittal_plane(body).normal) > 0.95


def test_a_part_is_moved_with_its_weight():
    plain, moved = (link_of(body_with(edits), "hand.L") for edits in ({}, {"hand.L": PartEdit(offset_m=(0, 0.1, 0))}))
    assert np.allclose(moved.com - plain.com, [0, 0.1, 0])
    assert np.allclose(moved.shapes[0].pos - plain.shapes[0].pos, [0, 0.1, 0])
    assert np.allclose(moved.inertia, plain.inertia)


def test_the_whole_weighs_what_it_was_said_to_and_the_part_too():
    body = body_with({"neck": PartEdit(mass_kg=12.0)}, mass_kg=70.0)
    assert body.mass == pytest.approx(70.0) and link_of(body, "neck").mass == pytest.approx(12.0)
    alone = body_with({"neck": PartEdit(mass_kg=12.0)})
    assert alone.mass == pytest.approx(body_with().mass - link_of(body_with(), "neck").mass + 12.0)
    with pytest.raises(RigError, match=r"weighed by hand have 80.0 kg, and the whole body 70.0 kg"):
        body_with({"neck": PartEdit(mass_kg=80.0)}, mass_kg=70.0)


def test_limits_hold_and_a_clip_beyond_them_is_named():
    edits = {"shin.L": PartEdit(limits_rad=(0.0, 0.3)), "thigh.L": PartEdit(limits_rad=(0.5,))}
    body = body_with(edits)
    shin, thigh = link_of(body, "shin.L").joint, link_of(body, "thigh.L").joint
    assert (shin.lower, shin.upper, thigh.max_angle) == (0.0, 0.3, 0.5)
    clip = wiggling(person())
    for reach, told in ((0.05, True), (3.0, False)):
        _, report = build_body(person(), clip=clip, edits={"thigh.L": PartEdit(limits_rad=(reach,))})
        assert any("'thigh.L' goes beyond the limits" in note for note in report.notes) == told


def test_one_number_for_a_hinge_is_both_ways_and_two_for_a_ball_the_farther():
    body = body_with({"shin.L": PartEdit(limits_rad=(0.4,)), "thigh.L": PartEdit(limits_rad=(-1.0, 0.5))})
    shin, thigh = link_of(body, "shin.L").joint, link_of(body, "thigh.L").joint
    assert (shin.lower, shin.upper, thigh.max_angle) == (-0.4, 0.4, 1.0)


def test_stiffness_is_times_what_the_gains_say():
    plain, weak = (link_of(body_with(edits), "shin.R").joint for edits in ({}, {"shin.R": PartEdit(stiffness=0.25)}))
    for name in ("kp", "kd", "torque_limit"):
        assert getattr(weak, name) == pytest.approx(0.25 * getattr(plain, name))


def test_the_report_says_what_was_done_by_hand():
    _, report = build_body(person(), edits={"shin.L": PartEdit("box", mass_kg=4.0)})
    solid = next(link.solid for link in report.links if link.bone == "shin.L")
    assert solid.endswith("by hand: shape, mass")


@pytest.mark.parametrize(
    "edit",
    [PartEdit("box", (0.08, 0.12, 0.5), (0.02, 0.05, -0.03)), PartEdit("capsule", (0.05, 0.3), (0.03, 0.0, 0.01))],
)
@pytest.mark.parametrize("bone", ["thigh.L", "hand.L", "foot.R"])
def test_the_other_side_is_a_mirror_image(bone, edit):
    base = body_with()
    here = base.link_of(bone)
    there = opposite_link(base, here)
    other = base.links[there].bone
    body = apply_edits(base, {bone: edit, other: mirror_edit(base, here, there, edit)})
    heads, quats = body.skeleton.rest_world()
    plane = find_sagittal_plane(base)

    def corners(index):
        link = body.links[index]
        shape, place = link.shapes[0], body.skeleton.index(link.bone)
        half = shape.size if shape.kind == "box" else np.array([0.0, 0.0, shape.size[1]])
        signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), -1).reshape(-1, 3)
        local = shape.pos + rotate(shape.quat_wxyz, signs * half)
        return heads[place] + rotate(quats[place], local)

    image, real = plane.points(corners(here)), corners(there)
    gaps = np.linalg.norm(image[:, None] - real[None], axis=-1).min(1)
    assert gaps.max() < 2e-3


def test_what_is_in_the_middle_has_no_counterpart():
    body = body_with()
    assert opposite_link(body, body.link_of("neck")) == -1
    assert body.links[opposite_link(body, body.link_of("thigh.L"))].bone == "thigh.R"


def test_edits_travel_as_plain_values():
    edit = PartEdit("capsule", (0.05, 0.4), (0.0, 0.01, 0.0), 3.5, (-0.1, 2.0), 0.5)
    assert PartEdit.from_mapping(json.loads(json.dumps(edit.to_mapping()))) == edit
    assert PartEdit().to_mapping() == {} and PartEdit().says == ()
    assert edit.says == ("shape", "place", "mass", "limits", "stiffness")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"shape": "cone"}, "no shape"),
        ({"size_m": (0.1,)}, "size without a shape"),
        ({"shape": "box", "size_m": (0.1, 0.2)}, "width x depth x height"),
        ({"shape": "sphere", "size_m": (-0.1,)}, "above zero"),
        ({"mass_kg": 0.0}, "mass of a part is 0 kg"),
        ({"mass_kg": float("nan")}, "mass of a part is nan kg"),
        ({"limits_rad": (1.0, 0.5)}, "second angle be larger"),
        ({"limits_rad": (0.0, float("nan"))}, "within a turn"),
        ({"limits_rad": (0.0, 1.0, 2.0)}, "one or two angles"),
        ({"stiffness": 0.0}, "stiffness of a part is 0"),
        ({"offset_m": (0.0, float("inf"), 0.0)}, "three numbers"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_is_made(wrong, said):
    with pytest.raises(BadSettings, match=said):
        PartEdit(**wrong)
