# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of every family of methods: learn, bake, test, and keep beside the .blend, on files that took moments."""

from pathlib import Path

import bpy

from ...bridge.jobs import preparing
from ...bridge.live import running
from ...bridge.live.recipes import session_recipe
from ...bridge.methods.adapters import get_adapter
from ...core.control.graph.model.io import save_graph
from .. import heavy_scenes
from .clicks import StepClock, bake_newest, click, collect_newest, end_jobs, fail, take_pieces, wait_for

LIBRARY = ("library_tag_propose", "library_build", "library_picture", "direct_bake", "direct_train", "respond_bake")
LEARNING = (
    *("graph_propose", "graph_learn", "graph_bake", "graph_test", "graph_bring_along"),
    *("bounds_train", "bounds_bake", "bounds_test", "bounds_styles", "bounds_bring_along"),
    *("medley_learn", "medley_bake", "medley_bring_along", "direct_test", "direct_bring_along"),
    *("respond_train", "respond_test", "respond_bring_along"),
    *("improvise_train", "improvise_bake", "improvise_test", "improvise_task", "improvise_bring_along"),
    *("live", "live_do", "live_bake", "live_again"),
)
"""The operators that ``click_learning_verbs`` presses besides those about libraries."""
_BROUGHT = ("graph", "bounds", "medley", "direct", "respond", "improvise")
_LIVE_FRAMES = 20


def click_library_verbs(clock: StepClock, scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """A library of the character's Actions: tagged, built, drawn, directed, asked for a deed, and begun to train."""
    own = armature.sinew_direct
    own.way, own.target = "OBJECT", bpy.data.objects.new("Goal", None)
    own.target.location = (9.0, 0.0, 0.0)
    scene.collection.objects.link(own.target)
    bpy.ops.sinew.respond_cue_add()
    armature.sinew_cues[0].deed, armature.sinew_cues[0].frame = "walk", 60
    for verb in LIBRARY:
        click(clock, verb)
        if verb == "library_build":
            armature.sinew_respond.file = own.file
        end_jobs()


def click_learning_verbs(clock: StepClock, scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """Each family as far as it takes moments; where learning takes longer, its job is begun and ended."""
    armature.animation_data.action.copy().name = "Another"
    bpy.ops.sinew.graph_skill_add_all()
    for verb in ("graph_propose", "graph_learn"):
        click(clock, verb)
        end_jobs()
    path = Path(bpy.app.tempdir) / "interface.graph.npz"
    save_graph(path, heavy_scenes.unlearned_graph(armature))
    armature.sinew_graph.file, armature.sinew_graph.mode = str(path), "WALK"
    _click_families(clock, scene)
    folder = Path(bpy.app.tempdir) / "kept"
    folder.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"), check_existing=False)
    armature = scene.sinew.armature
    for family in _BROUGHT:
        if get_adapter(family).file.path_of(armature) is not None:
            click(clock, f"{family}_bring_along")
    _click_live(clock, scene)


def _click_families(clock: StepClock, scene: bpy.types.Scene) -> None:
    """Learn, bake and test; what learned in moments is brought home for those that play it."""
    _make_little(scene)
    for verb in (
        *("graph_bake", "graph_test", "bounds_train", "bounds_bake", "bounds_test", "bounds_styles"),
        *("medley_learn", "medley_bake", "direct_train", "direct_test", "respond_train", "respond_test"),
        *("improvise_train", "improvise_bake", "improvise_test", "improvise_task"),
    ):
        click(clock, verb)
        if verb in ("bounds_train", "medley_learn", "direct_train", "improvise_train"):
            collect_newest()
        end_jobs()


def _make_little(scene: bpy.types.Scene) -> None:
    """As little effort as can be set."""
    for name, values in {
        "bounds_train": {"millions": 0.001, "worlds": 16, "warm": False},
        "direct_train": {"millions": 0.001, "worlds": 8, "practised": 0.1, "minutes": 0.01},
        "improvise_train": {"minutes": 0.01, "millions": 0.001, "world": 0.001, "worlds": 8},
    }.items():
        settings = getattr(scene.sinew.methods, name)
        for key, value in values.items():
            setattr(settings, key, value)


def _click_live(clock: StepClock, scene: bpy.types.Scene) -> None:
    """Started, thrown at, recorded, baked, and made again."""
    scene.sinew.methods.live.quality = "draft"
    bpy.ops.sinew.take_show_source()
    with clock("live"):  # its click listens to the mouse from then on, for which there is no window
        preparing.begin_preparation(session_recipe(scene), scene, fail)
    take_pieces(clock, "live")
    session = running.require_running()

    def tick() -> None:
        with clock("live tick", worst=True):
            running.tick_live()

    wait_for(lambda: session.pose is not None, tick)
    for what in ("RECORD", "BOX"):
        click(clock, "live_do", what=what)
    wait_for(lambda: session.view.frame >= _LIVE_FRAMES, tick)
    click(clock, "live_do", what="RECORD")
    wait_for(lambda: session.recording is not None, tick)
    click(clock, "live_bake")
    click(clock, "live_do", what="STOP")
    bake_newest(clock)
    click(clock, "live_again")
    end_jobs()
