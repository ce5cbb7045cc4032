# SPDX-License-Identifier: GPL-3.0-or-later
"""Model files of robots: taken over as they are, and read as what they are, files from elsewhere."""

import sys

import numpy as np
import pytest

from sinew.core import limits
from sinew.core.errors import BadFile, SinewError
from sinew.core.geometry.quaternions import rotate
from sinew.core.sim.engines.mujoco_import import compile_model
from sinew.core.sim.models import model_source
from sinew.core.sim.models.model_body import make_model_body
from sinew.core.sim.models.model_source import read_model_source
from sinew.core.sim.models.reading import read_model_file

from .robot_models import MJCF, urdf, urdf_joint, urdf_link

STL = b"solid x\n facet normal 0 0 1\n  outer loop\n" + b"".join(
    b"   vertex %d %d %d\n" % corner for corner in ((0, 0, 0), (1, 0, 0), (0, 1, 0))
)
MESH = '<mujoco><asset><mesh file="{}"/></asset><worldbody><body name="a"/></worldbody></mujoco>'


def read(tmp_path, text, name="tin.xml"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_model_source(path)


def links_of(tmp_path, text, name="tin.urdf"):
    return compile_model(read(tmp_path, text, name))


@pytest.fixture(scope="module")
def tin(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "tin.xml"
    path.write_text(MJCF)
    return read_model_file(path, sys.executable)


def test_masses_joints_and_limits_are_the_model_s_own(tin):
    links = {link.bone: link for link in tin.body.links}
    assert tin.body.mass == pytest.approx(5 + 8 + 2 * (0.5 + 0.5 + 1.5 + 1.5 + 0.5) + 4 * 0.8)
    pitch, foot = links["left_hip_pitch"].joint, links["left_foot"].joint
    assert (pitch.kind, pitch.torque_limit) == ("hinge", 88.0) and (pitch.lower, pitch.upper) == (-2.0, 2.0)
    assert (foot.lower, foot.upper) == (-0.5, 0.5)
    _, quats = tin.body.skeleton.rest_world()
    axis = rotate(quats[tin.body.skeleton.index("left_hip_pitch")], pitch.axis)
    np.testing.assert_allclose(axis, [0, 1, 0], atol=1e-9)
    assert (links["left_thigh"].role, links["left_thigh"].side) == ("thigh", "L")
    assert links["left_hip_roll"].role == "" and links["left_shoulder"].joint.kind == "ball"


def test_an_inertia_is_the_model_s_own_in_the_bone_s_frame(tin):
    torso = next(link for link in tin.body.links if link.bone == "torso")
    index = tin.body.skeleton.index("torso")
    turn = rotate(tin.body.skeleton.rest_world()[1][index], np.eye(3)).T
    given = np.array([[0.12, 0.001, 0.002], [0.001, 0.11, 0.003], [0.002, 0.003, 0.05]])
    np.testing.assert_allclose(turn @ torso.inertia @ turn.T, given, atol=1e-9)


def test_two_hinges_of_one_link_are_two_links_of_the_same_mass(tin):
    first, second = (link for link in tin.body.links if link.bone.startswith("left_foot"))
    assert first.bone == "left_foot left_ankle_pitch_joint" and first.mass + second.mass == pytest.approx(0.5)
    assert tuple(tin.body.links[i].bone for i in tin.body.hinge_rows[1]) == (first.bone, second.bone)


def test_it_stands_on_the_ground_and_is_seen(tin):
    assert tin.vertices[:, 2].min() == pytest.approx(0.0, abs=2e-3)
    assert set(tin.bones) >= {"pelvis", "torso", "left_foot"}


def test_legs_that_show_no_front_face_as_robots_do(tmp_path):
    links, joints = [], []
    for side, y in (("left", 0.1), ("right", -0.1)):
        hip, knee = f"{side}_hip", f"{side}_knee"
        links += [urdf_link(hip), urdf_link(knee)]
        for name, parent, place in ((hip, "base", f"0 {y} -0.1"), (knee, hip, "0 0 -0.4")):
            joints.append(urdf_joint(f"{name}_joint", parent, name).replace('xyz="0 0 -0.1"', f'xyz="{place}"'))
    body, _ = make_model_body(links_of(tmp_path, urdf("".join(links), "".join(joints))), 1.0)
    sides = {link.bone: (link.role, link.side) for link in body.links}
    assert sides["left_hip"] == ("thigh", "L") and sides["right_knee"] == ("shin", "R")


def test_lengths_are_scaled_and_masses_are_not(tmp_path):
    links = compile_model(read(tmp_path, MJCF))
    whole, half = (make_model_body(links, scale)[0] for scale in (1.0, 0.5))
    assert half.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(half.skeleton.lengths[0], 0.5 * whole.skeleton.lengths[0])
    np.testing.assert_allclose(half.links[1].inertia, 0.25 * whole.links[1].inertia)


def test_a_joint_that_follows_another_is_held_and_that_is_told(tmp_path):
    joints = urdf_joint("a", "base", "one") + urdf_joint("b", "one", "two", more='<mimic joint="a"/>')
    source = read(tmp_path, urdf(urdf_link("one") + urdf_link("two"), joints), "tin.urdf")
    assert source.notes == ["Joint 'b' follows 'a', which is not simulated: it is held where it is"]
    links = compile_model(source)
    assert [link.name for link in links] == ["base", "one"]
    assert links[1].mass == pytest.approx(2.0) and links[1].joints[0].effort == 7.0


def test_a_link_without_mass_is_refused_unless_it_is_welded(tmp_path):
    link, mesh = urdf_link("one", 0.0), '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    assert links_of(tmp_path, urdf(link, urdf_joint("a", "base", "one", "fixed")))[0].mass == 5.0
    none = '<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
    zero = urdf_link("one", 0.0, none + mesh)
    with pytest.raises(BadFile, match="cannot be built: mass and inertia of moving bodies"):
        links_of(tmp_path, urdf(zero, urdf_joint("a", "base", "one")))


def test_an_inertia_of_zero_is_told_by_the_link_s_shapes(tmp_path):
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    zero = '<inertial><mass value="2"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = links_of(tmp_path, urdf(f'<link name="one">{zero}{ball}</link>', urdf_joint("a", "base", "one")))
    np.testing.assert_allclose(np.diag(links[1].inertia), 0.4 * 2.0 * 0.1**2, rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not whole XML"),
        ("<mujoco><worldbody>", "is not whole XML: no element found"),
        ("<svg/>", "begins with <svg>"),
        ("<mujoco/>", "There are no links"),
        ('<mujoco><worldbody><body pos="1 x 2"/></worldbody></mujoco>', "cannot be built"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><mujoco>&b;</mujoco>', "declares entities"),
        ('<mujoco><worldbody><body name="a"><composite type="cable"/></body></worldbody></mujoco>', "has a <comp"),
        (MESH.format("gone.stl"), "The mesh 'gone.stl' does not exist"),
        (MESH.format("../out.stl"), "'../out.stl' is outside of the model's folder"),
        (MESH.format("/etc/passwd.stl"), "is outside of the model's folder"),
        (MESH.format("package://tin/a.stl"), "'package://tin/a.stl' is no path from the model's folder"),
        (MESH.format("http://example.org/a.stl"), "is no path from the model's folder"),
        ('<mujoco><include file="../other.xml"/></mujoco>', "is outside of the model's folder"),
        ('<mujoco><include file="tin.xml"/></mujoco>', "included in a cycle"),
        ('<mujoco><compiler meshdir="/etc"/></mujoco>', "is outside of the model's folder"),
        ('<mujoco><worldbody><body><geom file="a.png"/></body></worldbody></mujoco>', "<geom> names a file"),
    ],
)  # fmt: skip
def test_what_is_no_model_or_reaches_out_is_refused(tmp_path, text, words):
    with pytest.raises(BadFile, match=r".*") as refused:
        compile_model(read(tmp_path, text))
    assert words in str(refused.value)


def test_a_bomb_of_entities_is_refused_before_it_grows(tmp_path):
    grow = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "boom"}">' for i in range(12))
    with pytest.raises(BadFile, match="declares entities"):
        read(tmp_path, f"<!DOCTYPE robot [{grow}]><robot>&e11;</robot>", "tin.urdf")


def test_links_in_a_cycle_are_refused(tmp_path):
    joints = urdf_joint("a", "base", "one") + urdf_joint("b", "one", "two") + urdf_joint("c", "two", "base")
    with pytest.raises(BadFile, match="cannot be built"):
        links_of(tmp_path, urdf(urdf_link("one") + urdf_link("two"), joints))


def test_a_link_to_a_file_outside_is_followed_and_refused(tmp_path):
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "secret.stl").write_bytes(STL)
    (inside / "a.stl").symlink_to(tmp_path / "secret.stl")
    with pytest.raises(BadFile, match="outside"):
        read(inside, MESH.format("a.stl"))


def test_elements_depth_and_bytes_are_counted(tmp_path, monkeypatch):
    deep = "<body>" * limits.MODEL_DEPTH
    with pytest.raises(BadFile, match="elements in a row"):
        read(tmp_path, f"<mujoco>{deep}{deep.replace('<', '</')}</mujoco>")
    monkeypatch.setattr(model_source, "MODEL_ELEMENTS", 10)
    with pytest.raises(BadFile, match="more than 10 elements"):
        read(tmp_path, MJCF)
    monkeypatch.setattr(model_source, "MODEL_MESH_BYTES", 10)
    (tmp_path / "a.stl").write_bytes(STL)
    monkeypatch.undo()
    monkeypatch.setattr(model_source, "MODEL_MESH_BYTES", 10)
    with pytest.raises(SinewError, match=r"a\.stl"):
        read(tmp_path, MESH.format("a.stl"))


def test_a_process_of_its_own_says_what_is_wrong(tmp_path):
    path = tmp_path / "tin.xml"
    path.write_text(MESH.format("gone.stl"))
    with pytest.raises(BadFile, match=r"The mesh 'gone.stl' does not exist"):
        read_model_file(path, sys.executable)
    with pytest.raises(BadFile, match=r"The scale of 'tin.xml' is 0"):
        read_model_file(path, sys.executable, 0.0)
