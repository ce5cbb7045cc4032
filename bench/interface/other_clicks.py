# SPDX-License-Identifier: GPL-3.0-or-later
"""Every button beside the usual way, each in the state in which it is offered."""

from pathlib import Path

import bpy

from ...bridge.jobs import monitor
from ...bridge.rig.keyed_properties import MUSCLE
from ...core.control.graph.transitions.motion_graph import MOST_GRAPH_S
from .. import heavy_scenes
from .clicks import StepClock, click, collect_newest, end_jobs

_PRESETS = Path(__file__).resolve().parents[2] / "presets" / "sinew"
BODY = (
    *("body_override_add", "body_override_remove", "body_part_edit", "body_part_mirror", "body_part_reset"),
    *("body_reset", "choose_part", "key_muscle", "move_muscle_keys"),
)
STAGE = ("stage_mark", "stage_select", "stage_clear", "stage_restore")
SKILLS = (
    *("graph_skill_add", "graph_skill_add_all", "graph_distances", "graph_transition_add", "graph_transition_remove"),
    "graph_skill_remove",
)
LISTS = (
    *("bounds_tighten", "bounds_clear_keys", "bounds_part_add", "bounds_part_remove"),
    *("library_tag_accept", "library_tag_add", "library_tag_remove", "respond_cue_add", "respond_cue_remove"),
)
PRESETS = ("body_preset", "gains_preset", "bounds_preset", "style_preset", "disturbance_preset", "push_preset")
JOBS = (
    *("resume", "forget_job", "pause_batch", "resume_batch", "cancel_batch", "forget_batch", "clean_jobs"),
    *("check_ready", "fix_source", "use_frame_rate", "use_scale", "add_street"),
)
TAKES = (
    *("take_compare", "take_rename", "take_keep", "take_visit", "take_delete", "take_delete_unkept"),
    *("pick_selected", "import_model", "put_on_selected", "forget_given_body"),
)
OTHERS = (*BODY, *STAGE, *SKILLS, *LISTS, *PRESETS, *JOBS, *TAKES)
"""The operators that ``click_others`` presses."""


def click_others(clock: StepClock, scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """Press them all. The scene is not what it was afterwards."""
    bpy.ops.sinew.take_show_source()
    _click_body(clock, scene, armature)
    _click_presets(clock, scene)
    _click_stage(clock, scene, armature)
    _click_lists(clock, armature)
    _click_jobs(clock, scene)
    _click_takes(clock, scene, armature)
    click(clock, "add_street")  # the last: another scene shows then


def _click_body(clock: StepClock, scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = armature
    armature.data.bones.active = armature.data.bones["forearm.L"]
    bpy.ops.object.mode_set(mode="POSE")
    scene.sinew.method = "sampling"
    for verb in ("body_override_add", "body_override_remove", "body_part_edit", "body_part_mirror", "body_part_reset"):
        click(clock, verb)
    bpy.ops.sinew.body_override_add()
    click(clock, "body_reset")
    click(clock, "choose_part", part="left_arm")
    click(clock, "key_muscle")
    bpy.ops.sinew.take_show(index=0)  # keys of muscle in a take are those that are moved
    armature.sinew_body.muscle = 0.5
    armature.keyframe_insert(MUSCLE)
    click(clock, "move_muscle_keys")
    bpy.ops.sinew.take_show_source()
    bpy.ops.sinew.choose_part()
    bpy.ops.object.mode_set(mode="OBJECT")


def _click_presets(clock: StepClock, scene: bpy.types.Scene) -> None:
    push = next(obj for obj in scene.objects if obj.sinew.role == "PUSH")
    for verb in PRESETS:
        if verb == "push_preset":
            bpy.context.view_layer.objects.active = push
        file = sorted((_PRESETS / verb.removesuffix("_preset")).glob("*.py"))[0]
        click(clock, verb, filepath=str(file))


def _click_stage(clock: StepClock, scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(5.0, 5.0, 0.5))
    name = bpy.context.active_object.name
    for verb in STAGE:
        click(clock, verb, **({"role": "PROP"} if verb == "stage_mark" else {"name": name}))
    bpy.context.view_layer.objects.active = armature


def _click_lists(clock: StepClock, armature: bpy.types.Object) -> None:
    action = armature.animation_data.action
    first, last = map(int, action.frame_range)
    scene = bpy.context.scene
    if 2 * (last - first) < MOST_GRAPH_S * scene.render.fps / scene.render.fps_base:  # else no graph is made of them
        action.copy().name = "Again"
        for verb in SKILLS:
            ends = [skill.name for skill in armature.sinew_skills[:2]]
            click(
                clock,
                verb,
                **(dict(zip(("source", "target"), ends, strict=True)) if verb == "graph_transition_add" else {}),
            )
    for verb in LISTS:
        click(clock, verb, **({"name": "walk", "first": first, "last": last} if verb == "library_tag_add" else {}))


def _click_jobs(clock: StepClock, scene: bpy.types.Scene) -> None:
    scene.sinew.method = "passthrough"
    for verb in ("use_frame_rate", "use_scale"):
        click(clock, verb, **({"fps": scene.render.fps} if verb == "use_frame_rate" else {"factor": 1.0}))
    click(clock, "fix_source", fix="scale", value=1.0)
    click(clock, "check_ready")
    bpy.ops.sinew.simulate()
    job = monitor.watched_jobs()[0].id
    bpy.ops.sinew.cancel(job=job)
    end_jobs()
    for verb in ("resume", "forget_job"):
        click(clock, verb, job=job)
        end_jobs()
    bpy.ops.sinew.simulate_variations()
    batch = monitor.watched_jobs()[0].batch
    for verb in ("pause_batch", "resume_batch", "cancel_batch"):
        click(clock, verb, batch=batch)
    end_jobs()
    click(clock, "forget_batch", batch=batch)
    click(clock, "clean_jobs", days=0, keep_unbaked=False)


def _click_takes(clock: StepClock, scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = armature
    for verb, values in (
        ("take_compare", {}),
        ("take_compare", {}),
        ("take_rename", {"name": "Better"}),
        ("take_keep", {}),
        ("take_visit", {"name": armature.name}),
        ("pick_selected", {}),
    ):
        click(clock, verb, **values)
    scene.sinew.action = armature.animation_data.action
    other = heavy_scenes.add_bare_mannequin(scene)
    bpy.context.view_layer.objects.active = other
    click(clock, "put_on_selected")
    path = Path(bpy.app.tempdir) / "legs.urdf"
    path.write_text(heavy_scenes.legs_model(), encoding="utf-8")
    click(clock, "import_model", filepath=str(path), scale=1.0)
    scene.sinew.armature = bpy.data.objects["legs"]
    click(clock, "forget_given_body")
    scene.sinew.armature = armature
    bpy.context.view_layer.objects.active = armature
    click(clock, "take_delete", index=0, anyway=True)
    bpy.ops.sinew.simulate()
    collect_newest()
    click(clock, "take_delete_unkept")
