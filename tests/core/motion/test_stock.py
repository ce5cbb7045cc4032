# SPDX-License-Identifier: GPL-3.0-or-later
"""The stock clips against an independent forward kinematics in the file's own axes."""

import json
import os
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sinew.core import limits
from sinew.core.errors import BadFile
from sinew.core.motion.io import stock

from ...stock_clips import NAMES, needs_stock

# Of the humanoid that the clips were made for: joint, parent, offset in the file's axes, first column, columns.
FILE_JOINTS = [
    ("pelvis", None, (0, 0, 0), 4, 4),
    ("chest", "pelvis", (0, 0.236151, 0), 8, 4),
    ("head", "chest", (0, 0.223894, 0), 12, 4),
    ("thigh.R", "pelvis", (0, 0, 0.084887), 16, 4),
    ("shin.R", "thigh.R", (0, -0.421546, 0), 20, 1),
    ("foot.R", "shin.R", (0, -0.40987, 0), 21, 4),
    ("upper_arm.R", "chest", (-0.02405, 0.2435, 0.18311), 25, 4),
    ("forearm.R", "upper_arm.R", (0, -0.274788, 0), 29, 1),
    ("thigh.L", "pelvis", (0, 0, -0.084887), 30, 4),
    ("shin.L", "thigh.L", (0, -0.421546, 0), 34, 1),
    ("foot.L", "shin.L", (0, -0.40987, 0), 35, 4),
    ("upper_arm.L", "chest", (-0.02405, 0.2435, -0.18311), 39, 4),
    ("forearm.L", "upper_arm.L", (0, -0.274788, 0), 43, 1),
]
# Where each bone's far end is from its head, in the file's axes.
FILE_TAILS = {
    "pelvis": (0, 0.236151, 0),
    "chest": (0, 0.223894, 0),
    "head": (0, 0.2775, 0),
    "thigh": (0, -0.421546, 0),
    "shin": (0, -0.40987, 0),
    "foot": (0.1335, 0, 0),
    "upper_arm": (0, -0.274788, 0),
    "forearm": (0, -0.298947, 0),
}
KNOWN = (
    "backflip",
    "cartwheel",
    "crawl",
    "dance_a",
    "dance_b",
    "getup_facedown",
    "getup_faceup",
    "jump",
    "kick",
    "punch",
    "roll",
    "run",
    "spin",
    "spinkick",
    "walk",
)

pytestmark = needs_stock


def raw(name):
    data = json.loads((stock.stock_folder() / f"humanoid3d_{name}.txt").read_text())
    return data["Loop"], np.array(data["Frames"])


def in_world(v):
    """File axes (X forward, Y up, Z right) to world axes (-Y forward, Z up, -X right)."""
    v = np.asarray(v, dtype=float)
    return np.stack([-v[..., 2], -v[..., 0], v[..., 1]], -1)


def file_kinematics(rows):
    """World heads and tails (T, 3) of each joint, in the file's axes, by scipy's Rotation."""
    rotations, heads, tails = {}, {}, {}
    for name, parent, offset, column, count in FILE_JOINTS:
        values = rows[:, column : column + count]
        if count == 1:
            turn = Rotation.from_rotvec(values * np.array([0.0, 0.0, 1.0]))
        else:
            turn = Rotation.from_quat(values[:, [1, 2, 3, 0]])
        if parent is None:
            rotations[name], heads[name] = turn, rows[:, 1:4]
        else:
            rotations[name] = rotations[parent] * turn
            heads[name] = heads[parent] + rotations[parent].apply(offset)
        tails[name] = heads[name] + rotations[name].apply(FILE_TAILS[name.split(".")[0]])
    return heads, tails


def test_all_fifteen_are_listed():
    assert set(KNOWN) <= set(NAMES)


@pytest.mark.parametrize("name", KNOWN)
def test_every_joint_is_where_the_file_says(name):
    _, rows = raw(name)
    clip = stock.load_stock(name)
    if name == "roll":  # has one frame of double length, checked below
        rows, clip = rows[:6], clip.frames(0, 6)
    assert len(clip) == len(rows)
    heads, tails = file_kinematics(rows)
    pos, quat = clip.world()
    for bone, joint in enumerate(clip.skeleton.names):
        assert np.abs(pos[:, bone] - in_world(heads[joint])).max() < 1e-9
        along = Rotation.from_quat(quat[:, bone][:, [1, 2, 3, 0]]).apply([0.0, clip.skeleton.lengths[bone], 0.0])
        assert np.abs(pos[:, bone] + along - in_world(tails[joint])).max() < 1e-9


def test_uneven_frames_become_steady():
    _, rows = raw("roll")
    clip = stock.load_stock("roll")
    # Frame 5 lasts two sixtieths: one frame is put between it and the next, the rest stay as they are.
    assert clip.fps == 60.0
    assert len(clip) == len(rows) + 1
    root = clip.world()[0][:, 0]
    expected = in_world(rows[:, 1:4])
    assert np.abs(root[:6] - expected[:6]).max() < 1e-9
    assert np.abs(root[7:] - expected[6:]).max() < 1e-9
    assert np.abs(root[6] - 0.5 * (expected[5] + expected[6])).max() < 1e-9


@pytest.mark.parametrize("name", KNOWN)
def test_info_agrees_with_the_clip_and_the_file(name):
    loop, rows = raw(name)
    clip, info = stock.load_stock(name), stock.stock_info(name)
    assert (info.name, info.frames, info.fps) == (name, len(clip), clip.fps)
    assert info.duration_s == pytest.approx(clip.duration_s)
    assert info.duration_s == pytest.approx(rows[:-1, 0].sum(), rel=2e-3)
    assert info.loop is (loop == "wrap")


def test_the_walker_walks_forward_upright():
    clip = stock.load_stock("walk")
    pos, _ = clip.world()
    moved = pos[-1, 0] - pos[0, 0]
    assert moved[1] < -1.0
    assert np.abs(moved[[0, 2]]).max() < 0.2
    assert (pos[:, clip.skeleton.index("head"), 2] > 1.2).all()
    left, right = clip.skeleton.index("upper_arm.L"), clip.skeleton.index("upper_arm.R")
    assert (pos[:, left, 0] > pos[:, right, 0]).all()
    # Knees only ever bend backward: a positive turn about the shin's own X.
    shin = clip.local_quat_wxyz[:, clip.skeleton.index("shin.L")]
    turn = Rotation.from_quat(shin[:, [1, 2, 3, 0]]).as_rotvec()
    assert turn[:, 0].min() > -1e-6
    assert np.abs(turn[:, 1:]).max() < 1e-9


def test_humanoid_stands_on_the_ground_and_is_symmetric():
    skeleton = stock.stock_skeleton()
    pos, quat = skeleton.rest_world()
    tails = pos + Rotation.from_quat(quat[:, [1, 2, 3, 0]]).apply(np.eye(3)[1]) * skeleton.lengths[:, None]
    assert pos[skeleton.index("foot.L"), 2] == pytest.approx(0.05)
    assert tails[skeleton.index("head"), 2] == pytest.approx(1.619, abs=2e-3)
    for name in skeleton.names:
        if name.endswith(".L"):
            left, right = skeleton.index(name), skeleton.index(name[:-1] + "R")
            for place in (pos, tails):
                assert place[left] == pytest.approx(place[right] * [-1, 1, 1])
            assert np.array_equal(quat[left], quat[right])


def test_unknown_clip_names_the_known_ones():
    with pytest.raises(BadFile, match=r"no stock clip 'moonwalk'.*walk"):
        stock.load_stock("moonwalk")


def test_absent_data_says_how_to_get_it(monkeypatch):
    monkeypatch.delenv("SINEW_STOCK", raising=False)
    monkeypatch.delenv("SINEW_PYTHON", raising=False)
    monkeypatch.setattr(stock.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadFile, match=r"not installed.*pip install pybullet"):
        stock.stock_names()
    with pytest.raises(BadFile, match="not installed"):
        stock.stock_folder(python="no-such-python-anywhere")


def test_another_python_is_asked(monkeypatch):
    here = stock.stock_folder()
    monkeypatch.delenv("SINEW_STOCK", raising=False)
    monkeypatch.setattr(stock.importlib.util, "find_spec", lambda name: None)
    assert stock.stock_folder(python=sys.executable) == here


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"Loop": "wrap"}', '{"Frames": [[1, 2], [3, 4]]}', '{"Frames": [["x"]]}']
)
def test_torn_file_is_named(tmp_path, monkeypatch, text):
    (tmp_path / "humanoid3d_torn.txt").write_text(text)
    monkeypatch.setenv("SINEW_STOCK", str(tmp_path))
    with pytest.raises(BadFile, match=r"humanoid3d_torn.txt.*Reinstall"):
        stock.load_stock("torn")


def test_empty_or_missing_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SINEW_STOCK", str(tmp_path))
    with pytest.raises(BadFile, match="no stock clips"):
        stock.stock_names()
    monkeypatch.setenv("SINEW_STOCK", str(tmp_path / "gone"))
    with pytest.raises(BadFile, match="not a folder"):
        stock.stock_names()


def frame(seconds):
    """A standing pose that lasts so long."""
    row = [seconds, 0.0, 0.9, 0.0, 1.0] + [0.0] * 39
    for first in (8, 12, 16, 21, 25, 30, 35, 39):
        row[first] = 1.0
    return row


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        ([1e-6, 1e-6, 1000.0, 1e-6], "frame rate of 1e"),
        ([1e-320, 1e-320, 1e-320], "lasts no time"),
        ([0.001] * 3 + [1040.0, 0.001], "1040004 frames of 13 bones"),
        ([0.001] * 3 + [200.0, 0.001], "only 215 keys for 200004 frames of 13 bones"),
        ([1000.0, 1000.0], "1000 stands among its numbers"),
    ],
)
def test_rate_and_length_are_known_before_there_are_frames(tmp_path, monkeypatch, seconds, message):
    monkeypatch.setenv("SINEW_STOCK", str(tmp_path))
    text = json.dumps({"Loop": "none", "Frames": [frame(one) for one in seconds]})
    (tmp_path / "humanoid3d_odd.txt").write_text(text, encoding="utf-8")
    for read in (stock.stock_info, stock.load_stock):
        tracemalloc.start()
        with pytest.raises(BadFile, match=message) as caught:
            read("odd")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert "humanoid3d_odd.txt" in str(caught.value) and "Reinstall" in str(caught.value)
        assert peak < 8 * limits.MIB


@pytest.mark.skipif(os.name == "nt", reason="pipes are POSIX")
def test_a_pipe_and_a_file_of_nothing_are_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SINEW_STOCK", str(tmp_path))
    os.mkfifo(tmp_path / "humanoid3d_pipe.txt")
    with (tmp_path / "humanoid3d_sparse.txt").open("wb") as stream:
        stream.truncate(200 * limits.GIB)
    for name, message in (("pipe", "no plain file"), ("sparse", "204800 MB, and at most 4 MB")):
        with pytest.raises(BadFile, match=message):
            stock.stock_info(name)
