# SPDX-License-Identifier: GPL-3.0-or-later
"""BVH files without Blender: places, turns and rates as the file has them, and what is wrong in one line."""

import numpy as np
import pytest

from sinew.core.errors import BadFile
from sinew.core.geometry.quaternions import rotate
from sinew.core.motion.io.bvh import load_bvh

FILE = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Up per Leg
  {
    OFFSET 0 50 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0 20
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0166667
1 100 2 0 0 0 0 0 0
1 100 2 90 0 0 0 0 0
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "leg.bvh"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_file_is_read_in_metres_and_z_up(path):
    clip = load_bvh(path, 0.01)
    assert (clip.name, clip.fps, len(clip)) == ("leg", 60.0, 2)
    assert clip.skeleton.names == ("Hips", "Up_per_Leg")
    pos, quat = clip.world()
    np.testing.assert_allclose(pos[0], [[0.01, -0.02, 1.0], [0.01, -0.02, 1.5]], atol=1e-12)
    # A quarter turn about the file's Z, which comes towards the viewer: up becomes -X.
    np.testing.assert_allclose(pos[1, 1], [0.01 - 0.5, -0.02, 1.0], atol=1e-12)
    # Bones point along their own +Y: to the child, and along the end site.
    ends = rotate(quat[0], np.tile([0.0, 1.0, 0.0], (2, 1)))
    np.testing.assert_allclose(ends, [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]], atol=1e-7)
    np.testing.assert_allclose(clip.skeleton.lengths, [0.5, 0.2], atol=1e-12)


def test_a_file_that_stands_along_z_is_read_so(path):
    path.write_text(FILE.replace("OFFSET 0 50 0", "OFFSET 0 0 50"), encoding="utf-8")
    np.testing.assert_allclose(load_bvh(path, 0.01).world()[0][0, 1], [0.01, 1.0, 0.52], atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("HIERARCHY", "HIERARCHIE"),
        ("MOTION", ""),
        (" 0 0 0 0 0\n1 100 2 90", " 0 0\n1 100 2 90"),
        ("0.0166667", "0"),
        ("Zrotation Xrotation Yrotation\n    End", "Zrotation Wrotation Yrotation\n    End"),
        ("OFFSET 0 50 0", "OFFSET 0 up 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(path, old, new):
    assert old in FILE
    path.write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(BadFile, match=r"leg\.bvh', line \d+"):
        load_bvh(path)


def test_a_file_that_is_cut_in_its_skeleton_or_gone_is_told(path, tmp_path):
    path.write_text(FILE[:150], encoding="utf-8")
    with pytest.raises(BadFile, match=r"leg\.bvh"):
        load_bvh(path)
    with pytest.raises(BadFile, match="does not exist"):
        load_bvh(tmp_path / "none.bvh")
