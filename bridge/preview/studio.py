# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the scene to take pictures in: what is missing is added to it, and all of it goes away again."""

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

from ...core.errors import BadSettings, CannotWrite, RigError
from ...core.geometry.quaternions import Array
from ...core.paths import is_folder
from ..mannequin.build import dress
from ..mannequin.framing import THREE_QUARTER, figure_size, new_camera, pad_points, sample_outlines, view_matrix
from ..mannequin.studio_set import make_ground, make_sky, make_sun
from ..rig.armatures import skeleton_of
from ..scene.muted_output import mute_output
from ..scene.preserved_state import preserve_scene
from ..scene.saving import require_writable_folder
from .opaque_materials import show_unseen

VIEWS = ("AUTO", "SCENE", "FRAME", "FOLLOW")

_SAMPLES_UNDENOISED = 16
_WIDEST, _OWN_ASPECT = 16.0 / 9.0, 4.0 / 3.0
_SMOOTH_S = 0.35  # a following camera does not bob with every step


@dataclass
class Studio:
    """A temporary scene that shows the subjects, and the camera in it."""

    scene: bpy.types.Scene
    folder: Path
    # Where the camera is at each frame; empty while it stands still or is the user's.
    places: dict[int, Array] = field(default_factory=dict)

    def show(self, frame: int) -> None:
        """Go to the frame, with the camera where it belongs."""
        if frame in self.places:
            self.scene.camera.location = self.places[frame]
        self.scene.frame_current = frame  # the render evaluates it

    def shoot(self, *, animation: bool) -> None:
        """Render the current frame, or all of them, to the scene's ``filepath``."""
        try:
            # Not by the operator's own ``scene`` argument, which renders the frame that the user's scene is at.
            with mute_output(), bpy.context.temp_override(scene=self.scene, view_layer=self.scene.view_layers[0]):
                bpy.ops.render.render(animation=animation, write_still=not animation)
        except RuntimeError as error:
            reason = str(error).strip().removeprefix("Error: ").splitlines()[0]
            raise CannotWrite(f"Blender could not render the preview: {reason}", "See Blender's log") from error


@contextmanager
def studio(
    scene: bpy.types.Scene,
    subjects: Sequence[bpy.types.Object],
    frames: Sequence[int],
    *,
    height: int,
    view: str,
    samples: int = 4,
) -> Iterator[Studio]:
    """A copy of the scene, set up to render small pictures fast, with light, ground, body and camera where missing.

    view: SCENE for the scene's own camera, FRAME for one that sees the whole way, FOLLOW for one that goes along;
    AUTO takes the first if there is one, else the third where the way is long, else the second.
    """
    if view not in VIEWS:
        raise BadSettings(f"There is no view '{view}'", f"Choose one of: {', '.join(VIEWS)}")
    if not subjects or not len(frames):
        raise RigError("There is nothing to take a picture of", "Choose an armature and frames in which it moves")
    if view == "SCENE" and scene.camera is None:
        raise RigError(f"Scene '{scene.name}' has no camera", "Add one, or choose another view")
    with _temporary_folder() as folder, preserve_scene(scene), _no_trace():
        copy = scene.copy()
        copy.name = "Sinew preview"
        _simplify(copy, samples)
        made = Studio(copy, folder)
        own = copy.camera is None or view in ("FRAME", "FOLLOW")
        aspect = _OWN_ASPECT if own else min(_aspect(scene.render), _WIDEST)
        copy.render.resolution_x, copy.render.resolution_y = _even(height * aspect), _even(height)
        found = sample_outlines(copy, [*subjects, *_worn(copy, subjects)], frames)
        if not all(len(points) for points in found):
            raise RigError(f"'{subjects[0].name}' is nowhere at some frames", "Repair keys that are not numbers")
        _furnish(copy, subjects, found)
        if own:
            _place_camera(made, frames, found, view)
        with show_unseen([_worn(copy, [subject]) for subject in subjects]):
            yield made


def require_place(path: Path) -> None:
    """Refuse a file that could not be written, before any time is spent on rendering it."""
    require_writable_folder(path.parent)
    if is_folder(path):
        raise CannotWrite(f"Cannot write '{path}': it is a folder", "Give a file name")


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    # Windows may still hold a picture open for a moment: no reason to fail a preview that is finished.
    with tempfile.TemporaryDirectory(prefix="sinew-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def _no_trace() -> Iterator[None]:
    """Whatever is added to the file meanwhile is removed again."""
    kinds = ("scenes", "objects", "meshes", "cameras", "lights", "worlds", "materials", "actions", "images")
    before = {kind: {block.as_pointer() for block in getattr(bpy.data, kind)} for kind in kinds}
    try:
        yield
    finally:
        for kind in kinds:
            blocks = getattr(bpy.data, kind)
            for block in [block for block in blocks if block.as_pointer() not in before[kind]]:
                blocks.remove(block)


def _simplify(copy: bpy.types.Scene, samples: int) -> None:
    """Settings for a fast plain picture."""
    render = copy.render
    render.resolution_percentage = 100
    render.pixel_aspect_x = render.pixel_aspect_y = 1.0
    for name in (
        "use_border",
        "use_compositing",
        "use_sequencer",
        "use_stamp",
        "use_multiview",
        "use_motion_blur",
        "use_freestyle",
        "film_transparent",
        "use_placeholder",
        "use_single_layer",
    ):
        setattr(render, name, False)
    render.use_overwrite = render.use_file_extension = render.use_persistent_data = True
    while len(copy.view_layers) > 1:
        copy.view_layers.remove(copy.view_layers[-1])
    copy.view_layers[0].use = True
    # Where there is no graphics card, as on most servers, Cycles is the one that works. A Blender without it
    # renders with the engine that the scene has.
    if not hasattr(copy, "cycles"):
        return
    render.engine = "CYCLES"
    cycles = copy.cycles
    cycles.device = "CPU"
    cycles.use_adaptive_sampling = cycles.use_light_tree = False
    cycles.max_bounces = cycles.diffuse_bounces = cycles.glossy_bounces = 1
    cycles.caustics_reflective = cycles.caustics_refractive = False
    try:
        cycles.denoiser = "OPENIMAGEDENOISE"
        cycles.use_denoising, cycles.samples = True, samples
        cycles.denoising_use_gpu = False
        cycles.denoising_quality = cycles.denoising_prefilter = "FAST"
    except TypeError:  # some builds leave the denoiser out
        cycles.use_denoising, cycles.samples = False, _SAMPLES_UNDENOISED
    cycles.seed = 0


def _furnish(copy: bpy.types.Scene, subjects: Sequence[bpy.types.Object], found: Sequence[Array]) -> None:
    """A body, ground, light and sky where the scene has none."""
    shown = [obj for obj in copy.view_layers[0].objects if _rendered(obj)]
    meshes = [obj for obj in shown if obj.type in ("MESH", "CURVE", "CURVES", "SURFACE", "META", "FONT")]
    bare = [s for s in subjects if s.type == "ARMATURE" and s.data.bones and not any(_wears(s, m) for m in meshes)]
    for armature in bare:
        copy.collection.objects.link(dress(armature, skeleton_of(armature.data)))
    if all(mesh in subjects or any(_wears(subject, mesh) for subject in subjects) for mesh in meshes):
        points = np.concatenate(found)
        size = figure_size(found)
        lowest = float(points[:, 2].min())
        level = 0.0 if abs(lowest) < 0.2 * size else lowest
        square = 0.5 if 0.8 < size < 4.0 else size / 3.2
        plane = make_ground("Sinew preview", points.min(axis=0), points.max(axis=0), level, square)
        copy.collection.objects.link(plane)
    if not any(obj.type == "LIGHT" for obj in shown):
        copy.collection.objects.link(make_sun("Sinew preview"))
    if copy.world is None:
        copy.world = make_sky("Sinew preview")


def _worn(scene: bpy.types.Scene, subjects: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """The meshes that the subjects wear: a head may reach far above the last bone of its neck."""
    meshes = [obj for obj in scene.view_layers[0].objects if obj.type == "MESH" and _rendered(obj)]
    return [mesh for mesh in meshes if mesh not in subjects and any(_wears(subject, mesh) for subject in subjects)]


def _rendered(obj: bpy.types.Object) -> bool:
    return not obj.hide_render and not all(collection.hide_render for collection in obj.users_collection)


def _wears(armature: bpy.types.Object, mesh: bpy.types.Object) -> bool:
    """Whether the mesh moves with the armature."""
    above = mesh.parent
    while above is not None:
        if above == armature:
            return True
        above = above.parent
    return any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in mesh.modifiers)


def _place_camera(made: Studio, frames: Sequence[int], found: Sequence[Array], view: str) -> None:
    render = made.scene.render
    aspect = render.resolution_x / render.resolution_y
    centre = np.array([0.5 * (points.min(axis=0) + points.max(axis=0)) for points in found])
    size = figure_size(found)
    way = float(np.linalg.norm((centre.max(axis=0) - centre.min(axis=0))[:2]))
    follow = view == "FOLLOW" or (view == "AUTO" and way > 1.5 * size)
    if follow:
        fps = render.fps / render.fps_base
        centre = _smooth(np.asarray(frames, dtype=float) / fps, centre * np.array([1.0, 1.0, 0.0]))
    else:
        centre = np.zeros_like(centre)
    around = np.concatenate([pad_points(points - place, size) for points, place in zip(found, centre, strict=True)])
    matrix = view_matrix(around, THREE_QUARTER, aspect)
    camera = new_camera("Sinew preview", matrix, size)
    made.scene.collection.objects.link(camera)
    made.scene.camera = camera
    for marker in made.scene.timeline_markers:
        marker.camera = None  # or it would cut to the user's cameras
    if follow:
        made.places = {f: np.array(matrix.translation) + c for f, c in zip(frames, centre, strict=True)}


def _smooth(times: Array, values: Array) -> Array:
    """(T, 3) averaged around each time with a bell of ``_SMOOTH_S`` seconds."""
    bell = np.exp(-0.5 * ((times[:, None] - times[None, :]) / _SMOOTH_S) ** 2)
    # Near the ends the bell is cut on both sides alike, or the camera would lag behind there.
    reach = np.minimum(times - times[0], times[-1] - times)
    bell *= np.abs(times[:, None] - times[None, :]) <= reach[:, None] + 1e-9
    return np.asarray(bell @ values / bell.sum(axis=1, keepdims=True))


def _aspect(render: bpy.types.RenderSettings) -> float:
    """Width over height of the scene's own picture."""
    across, down = render.resolution_x * render.pixel_aspect_x, render.resolution_y * render.pixel_aspect_y
    return across / down


def _even(length: float) -> int:
    """Whole, even pixels: films cannot have odd ones."""
    return max(2 * math.floor(length / 2 + 0.5), 16)
