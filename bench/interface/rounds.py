# SPDX-License-Identifier: GPL-3.0-or-later
"""One round through a scene: the usual way from the check to the NLA, and then every other button."""

import time
from collections.abc import Callable

import bpy

from ...bridge.body import fitted_bodies
from ...bridge.jobs import monitor
from ...bridge.mannequin import example_walker
from .. import heavy_scenes
from .clicks import (
    Clicked,
    Spent,
    StepClock,
    bake_newest,
    click,
    draw_each,
    draw_panels,
    end_jobs,
    kind_of,
    watch_newest,
)
from .learning_clicks import click_learning_verbs, click_library_verbs
from .other_clicks import click_others

USUAL = (
    *("try_mannequin", "check_source", "overlay_refit", "simulate", "pause", "cancel", "collect", "take_show_source"),
    *("take_show", "take_to_nla", "stage_add_push", "stage_check", "bounds_loosen", "give_travel", "retime_and_reach"),
    "simulate_variations",
)
"""The operators of the usual way; ``collect`` is timed as "bake"."""

UNDO_PUSH = "undo_push"
DRAW_TAB = "draw, with a take"
BLENDERS_LOOK_AT_CHANGED = "bounds_loosen, Blender's own look at the changed Action"
KEY_BY_HAND = "a key by hand, Blender's own look at the changed Action"
_FIT_PATIENCE_S = 600.0


def take_round(scene_of: Callable[[], bpy.types.Object]) -> dict[str, Spent]:
    """Every step once, in the order of the work."""
    clock, is_mannequin = StepClock(), scene_of is heavy_scenes.mannequin_scene
    monitor.attach()
    if is_mannequin:
        heavy_scenes.empty_scene()
        with clock("try_mannequin"):
            example_walker.add_walker(bpy.context.scene)  # what it does by itself; the rest is that of simulate
    armature = scene_of()
    scene = bpy.context.scene
    scene.sinew.method = "passthrough"
    draw_panels(clock, "draw, nothing done yet")
    click(clock, "check_source")
    _fit(clock, scene, armature)
    _simulate(clock, scene)
    _go_on(clock, scene, armature)
    scene.sinew.retime.use_at, scene.sinew.retime.at = True, scene.frame_current
    for verb in ("give_travel", "retime_and_reach", "simulate_variations"):
        click(clock, verb)
        end_jobs()
    click_library_verbs(clock, scene, armature)
    if is_mannequin:
        click_learning_verbs(clock, scene, armature)
    click_others(clock, scene, armature)
    return clock.spent


def _simulate(clock: StepClock, scene: bpy.types.Scene) -> None:
    """Simulate, watch, stop; and have a take."""
    ops = bpy.ops.sinew
    scene.sinew.method = "sampling"
    click(clock, "simulate")
    watch_newest(clock, lambda view: view.alive and view.state == "running")
    draw_panels(clock, "draw, while a job runs")
    for verb in ("pause", "cancel"):
        click(clock, verb, job=monitor.watched_jobs()[0].id)
    end_jobs()
    scene.sinew.method = "passthrough"
    ops.simulate()
    bake_newest(clock)
    draw_each(clock, DRAW_TAB)


def _fit(clock: StepClock, scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """The overlay is switched on: what its timer does until the body is there."""
    fitted_bodies.forget_fits()
    scene.sinew_overlay.show = True
    fitted_bodies.request_fit(scene, armature)
    end = time.monotonic() + _FIT_PATIENCE_S
    while True:
        with clock("overlay timer", worst=True):
            wait = fitted_bodies._work()
        if wait is None or time.monotonic() > end:
            break
        time.sleep(0.02)
    with clock("overlay_refit"):
        fitted_bodies.refit(scene, armature)
    fitted_bodies.forget_fits()


def _go_on(clock: StepClock, scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """What an animator does with the take, and next."""
    for verb in ("take_show_source", "take_show", "take_to_nla"):
        click(clock, verb)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    click(clock, "stage_add_push")
    if armature.mode != "OBJECT":
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="OBJECT")
    click(clock, "stage_check")
    bpy.ops.sinew.take_show_source()
    bpy.context.view_layer.update()
    kind = kind_of("bounds_loosen")
    with clock("bounds_loosen"):
        assert kind.execute(Clicked(kind, amount=1.5, frames=10, what="ALL"), bpy.context) == {"FINISHED"}
    with clock(BLENDERS_LOOK_AT_CHANGED):
        bpy.context.view_layer.update()
    armature["by_hand"] = 1.0
    armature.keyframe_insert('["by_hand"]')
    with clock(KEY_BY_HAND):  # what whoever keys anything in that Action waits for, with Sinew or without
        bpy.context.view_layer.update()
    with clock(UNDO_PUSH):
        bpy.ops.ed.undo_push(message="Bench")
