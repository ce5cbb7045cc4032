# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact sheets and films: the pictures are right, and the scene is as it was."""

import importlib
import itertools
import warnings
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view

from sinew.bridge import mannequin, preview
from sinew.bridge.preview import studio as studio_module
from sinew.bridge.rig.armatures import armature_from_skeleton
from sinew.core.errors import BadSettings, CannotWrite, RigError
from sinew.core.motion.io import stock

KINDS = (
    "scenes",
    "objects",
    "meshes",
    "cameras",
    "lights",
    "worlds",
    "materials",
    "actions",
    "images",
    "armatures",
    "collections",
    "node_groups",
)


def animated(armature, metres=0.6, frames=30):
    """Let it walk off sideways with a swinging arm, at 30 frames a second."""
    bpy.context.scene.render.fps = 30
    root, arm = armature.pose.bones["pelvis"], armature.pose.bones["upper_arm.L"]
    for frame, part in ((1, 0.0), (frames, 1.0)):
        root.location = (metres * part, 0.0, 0.0)
        root.keyframe_insert("location", frame=frame)
        arm.rotation_quaternion = (np.cos(0.8 * part), 0.0, 0.0, np.sin(0.8 * part))
        arm.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(5)
    return armature


@pytest.fixture
def walker(scene):
    return animated(mannequin.build(scene))


def values(struct):
    """Every plain setting of a Blender struct."""
    found = {}
    for prop in struct.bl_rna.properties:
        if prop.type in ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM") and prop.identifier != "rna_type":
            with warnings.catch_warnings():  # some settings are about to go
                warnings.simplefilter("ignore", DeprecationWarning)
                value = getattr(struct, prop.identifier)
            found[prop.identifier] = tuple(value) if getattr(prop, "is_array", False) else value
    return found


def everything(scene):
    """What a preview must not change."""
    render = scene.render
    structs = [scene, render, render.image_settings, render.ffmpeg, scene.view_settings, scene.cycles]
    poses = [np.array(bone.matrix) for obj in scene.objects if obj.pose for bone in obj.pose.bones]
    return (
        [values(struct) for struct in structs],
        {kind: [block.name for block in getattr(bpy.data, kind)] for kind in KINDS},
        (scene.camera, scene.world, scene.frame_current, bpy.context.scene, bpy.context.view_layer.objects.active),
        np.array(poses).tolist(),
    )


def pixels_of(path):
    image = bpy.data.images.load(str(path), check_existing=False)
    pixels = np.empty(image.size[0] * image.size[1] * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(image.size[1], image.size[0], 4)[::-1, :, :3]
    bpy.data.images.remove(image)
    return pixels


def tiles_of(path, count, columns):
    """The tiles of a sheet, without their labels."""
    pixels = pixels_of(path)
    rows = -(-count // columns)
    height, width = pixels.shape[0] // rows, pixels.shape[1] // columns
    corners = [(r * height, c * width) for r in range(rows) for c in range(columns)][:count]
    return [pixels[top + 6 : top + int(0.85 * height), left + 6 : left + width - 6] for top, left in corners]


def test_sheet_has_different_tiles_and_the_scene_is_as_it_was(scene, walker, tmp_path):
    mannequin.build_set(scene)
    scene.render.filepath = "//mine"
    # Posed by hand and not keyed yet: a bone that is animated, and one that is not.
    walker.pose.bones["pelvis"].location = (0.0, 0.1, 0.2)
    walker.pose.bones["head"].rotation_quaternion = (0.96, 0.28, 0.0, 0.0)
    bpy.context.view_layer.update()
    before = everything(scene)
    path = tmp_path / "ünder way" / "sheet {1} #.png"
    preview.contact_sheet(scene, path, [1, 8, 15, 22, 30], [walker], height=72, columns=3)
    assert everything(scene) == before
    tiles = tiles_of(path, 5, 3)
    for tile in tiles:
        assert tile.std() > 0.02
    for one, next_one in itertools.pairwise(tiles):
        assert np.abs(one - next_one).max() > 0.2
    # The scene's camera looks at it, so the picture is as wide as the scene's.
    assert pixels_of(path).shape[:2] == (2 * 75 + 3, 3 * (128 + 3) + 3)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_bare_armature_is_dressed_and_lit_for_the_picture_only(scene, tmp_path):
    armature = animated(armature_from_skeleton(stock.stock_skeleton(), "Bare", scene.collection))
    before = everything(scene)
    path = tmp_path / "sheet.png"
    preview.contact_sheet(scene, path, [1, 30], [armature], height=96)
    assert everything(scene) == before
    first, second = tiles_of(path, 2, 2)
    assert np.abs(first - second).max() > 0.2
    # Light shells on darker ground: both are there.
    assert np.mean(first.mean(axis=2) > 0.65) > 0.005
    assert np.mean(first.mean(axis=2) < 0.55) > 0.5


def paint(armature, *opacities):
    """Give everything that the armature wears materials of these opacities, one after the other."""
    meshes = [obj for obj in bpy.data.objects if obj.type == "MESH" and obj.find_armature() == armature]
    for number, mesh in enumerate(meshes):
        mesh.data.materials.clear()
        for opacity in opacities:
            material = bpy.data.materials.new(f"Skin {number}")
            material.use_nodes = True
            shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
            shader.inputs["Alpha"].default_value = opacity
            shader.inputs["Base Color"].default_value = (0.9, 0.1, 0.1, 1.0)
            mesh.data.materials.append(material)
    assert meshes
    return meshes


def test_a_character_of_no_opacity_is_seen_and_keeps_its_materials(scene, walker, tmp_path):
    meshes = paint(walker, 0.0)
    before = everything(scene)
    own = [[slot.material.name for slot in mesh.material_slots] for mesh in meshes]
    path = tmp_path / "sheet.png"
    preview.contact_sheet(scene, path, [1, 30], [walker], height=96)
    assert everything(scene) == before
    assert [[slot.material.name for slot in mesh.material_slots] for mesh in meshes] == own
    for tile in tiles_of(path, 2, 2):
        assert np.mean(tile[..., 0] > tile[..., 1] + 0.2) > 0.005  # its red


def test_what_is_see_through_in_parts_is_left_as_its_maker_wanted_it(scene, walker, tmp_path):
    meshes = paint(walker, 0.0, 1.0)  # all faces have the first one
    path = tmp_path / "sheet.png"
    preview.contact_sheet(scene, path, [1, 30], [walker], height=96)
    assert all(slot.material.name.startswith("Skin") for mesh in meshes for slot in mesh.material_slots)
    for tile in tiles_of(path, 2, 2):
        assert np.mean(tile[..., 0] > tile[..., 1] + 0.2) == 0.0


def test_film_has_every_other_frame_and_true_speed(scene, walker, tmp_path):
    before = everything(scene)
    path = tmp_path / "film.mp4"
    preview.film(scene, path, 1, 30, [walker], height=64)
    assert everything(scene) == before
    assert path.stat().st_size > 1000
    clip = bpy.data.movieclips.load(str(path))
    assert clip.frame_duration == 15
    assert clip.fps == pytest.approx(15.0)
    assert tuple(clip.size) == (86, 64)
    bpy.data.movieclips.remove(clip)
    # It moves: where the subject stands still, the same number of frames is a far smaller file.
    preview.film(scene, tmp_path / "still.mp4", 31, 60, [walker], height=64)
    assert path.stat().st_size > 1.5 * (tmp_path / "still.mp4").stat().st_size


def test_render_chooses_by_the_ending(scene, walker, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(preview, "contact_sheet", lambda *a, **k: asked.append(("sheet", list(a[2]))))
    monkeypatch.setattr(preview, "film", lambda *a, **k: asked.append(("film", a[2:4])))
    preview.render(scene, tmp_path / "a.PNG", 1, 100, [walker])
    preview.render(scene, tmp_path / "a.png", 3, 5, [walker])
    preview.render(scene, tmp_path / "a.mp4", 1, 100, [walker])
    kind, frames = asked[0]
    assert (kind, len(frames), frames[0], frames[-1]) == ("sheet", 12, 1, 100)
    assert asked[1:] == [("sheet", [3, 4, 5]), ("film", (1, 100))]
    with pytest.raises(CannotWrite, match=r"a\.gif.*\.png or \.mp4"):
        preview.render(scene, tmp_path / "a.gif", 1, 100, [walker])


@pytest.mark.parametrize("view", ["FRAME", "FOLLOW"])
def test_own_camera_keeps_the_subject_in_the_picture(scene, walker, view):
    animated(walker, metres=8.0)
    other = bpy.data.objects.new("Other camera", bpy.data.cameras.new("Other"))
    scene.collection.objects.link(other)
    scene.timeline_markers.new("cut", frame=10).camera = other
    frames = list(range(1, 31, 3))
    with studio_module.studio(scene, [walker], frames, height=64, view=view) as made:
        seen = {}
        for frame in frames:
            made.show(frame)
            made.scene.frame_set(frame)
            depsgraph = made.scene.view_layers[0].depsgraph
            posed = walker.evaluated_get(depsgraph)
            assert made.scene.camera != other
            camera = made.scene.camera.evaluated_get(depsgraph)
            ends = [walker.matrix_world @ end for bone in posed.pose.bones for end in (bone.head, bone.tail)]
            seen[frame] = np.array([world_to_camera_view(made.scene, camera, end) for end in ends])
    assert scene.timeline_markers["cut"].camera == other
    every = np.concatenate(list(seen.values()))
    assert (every[:, :2] > 0.0).all()
    assert (every[:, :2] < 1.0).all()
    tall = np.median([points[:, 1].max() - points[:, 1].min() for points in seen.values()])
    # A camera that follows is near, one that frames eight metres is far.
    assert tall > 0.5 if view == "FOLLOW" else tall < 0.5


def test_following_camera_moves_in_the_film(scene, walker, tmp_path):
    animated(walker, metres=8.0)
    before = everything(scene)
    preview.film(scene, tmp_path / "film.mp4", 1, 30, [walker], height=48, view="FOLLOW")
    assert everything(scene) == before


def test_failure_half_way_leaves_nothing_behind(scene, walker, tmp_path, monkeypatch):
    path = tmp_path / "sheet.png"
    path.write_bytes(b"the one from yesterday")
    before = everything(scene)

    def fail(self, *, animation):
        raise CannotWrite("no")

    monkeypatch.setattr(studio_module.Studio, "shoot", fail)
    for make in (
        lambda: preview.contact_sheet(scene, path, [1, 2], [walker]),
        lambda: preview.film(scene, path.with_suffix(".mp4"), 1, 9, [walker]),
    ):
        with pytest.raises(CannotWrite):
            make()
    assert everything(scene) == before
    assert path.read_bytes() == b"the one from yesterday"
    assert [file.name for file in tmp_path.iterdir()] == ["sheet.png"]


def test_unwritable_places_are_named_before_anything_is_rendered(scene, walker, tmp_path, monkeypatch):
    monkeypatch.setattr(studio_module.Studio, "shoot", lambda *a, **k: pytest.fail("it rendered"))
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(CannotWrite, match="file"):
        preview.contact_sheet(scene, tmp_path / "file" / "sheet.png", [1], [walker])
    with pytest.raises(CannotWrite, match=r"folder\.png.*it is a folder"):
        preview.contact_sheet(scene, tmp_path / "folder.png", [1], [walker])

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(studio_module.tempfile, "TemporaryFile", refuse)
    with pytest.raises(CannotWrite, match="you may not write there"):
        preview.film(scene, tmp_path / "film.mp4", 1, 2, [walker])


def test_wrong_requests_name_the_fix(scene, walker, tmp_path, monkeypatch):
    with pytest.raises(BadSettings, match=r"BIRD.*FOLLOW"):
        preview.film(scene, tmp_path / "a.mp4", 1, 2, [walker], view="BIRD")
    with pytest.raises(RigError, match=r"no camera.*Add one"):
        preview.film(scene, tmp_path / "a.mp4", 1, 2, [walker], view="SCENE")
    with pytest.raises(RigError, match="nothing to take a picture of"):
        preview.contact_sheet(scene, tmp_path / "a.png", [], [walker])
    with pytest.raises(CannotWrite, match=r"\.png"):
        preview.contact_sheet(scene, tmp_path / "a.mp4", [1], [walker])
    with pytest.raises(CannotWrite, match=r"\.mp4"):
        preview.film(scene, tmp_path / "a.png", 1, 2, [walker])
    without = SimpleNamespace(app=SimpleNamespace(build_options=SimpleNamespace(codec_ffmpeg=False)))
    monkeypatch.setattr(importlib.import_module("sinew.bridge.preview.film"), "bpy", without)
    with pytest.raises(CannotWrite, match=r"FFmpeg.*\.png"):
        preview.film(scene, tmp_path / "a.mp4", 1, 2, [walker])
