# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes in which operators are tried: each is made in an empty file with Sinew registered."""

import bpy

from sinew.bridge.jobs import monitor, preparing, recipes
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.setup import readiness
from sinew.bridge.setup.readiness import Readiness

from .interface import hero
from .rigs import arm, wave
from .stage_objects import arrow, mesh
from .take_making import take


def nothing():
    """An empty scene."""


def chosen():
    """'Hero', moved by 'Wave' and chosen in the panel; no bone is active, nothing is selected."""
    obj = hero()
    obj.data.bones.active = None
    obj.select_set(False)
    return obj


def editing():
    """'Hero' in Edit Mode."""
    obj = chosen()
    bpy.ops.object.mode_set(mode="EDIT")
    return obj


def unmoved():
    """'Hero' without an Action."""
    arm("Hero")
    bpy.ops.sinew.pick_selected()


def short():
    """'Hero' with an Action that is too short, which moves it but is not chosen."""
    obj = hero(frames=3)
    bpy.context.scene.sinew.action = None
    return obj


def bone():
    """'Hero' with an active bone. An arm alone is no body."""
    obj = chosen()
    obj.data.bones.active = obj.data.bones[1]
    return obj


def role():
    """'Hero', of whose active bone something is said."""
    obj = bone()
    bpy.ops.sinew.body_override_add()
    return obj


def no_actions():
    """'Hero' in a file without any Action."""
    unmoved()


def tagged():
    """'Hero', whose Action is tagged 'walk' and, as a proposal, 'idle'."""
    obj = chosen()
    markers = obj.animation_data.action.pose_markers
    for name, frame in (("walk", 2), ("walk end", 6), ("idle?", 8), ("idle? end", 12)):
        markers.new(name).frame = frame
    return obj


def tagged_by_hand():
    """'Hero', whose Action has a tag that nobody proposed."""
    obj = chosen()
    obj.animation_data.action.pose_markers.new("walk").frame = 2
    return obj


def physics():
    """'Hero', to be simulated with physics."""
    chosen()
    bpy.context.scene.sinew.method = "sampling"


def unselected():
    """'Hero', to be simulated with physics, with no bone selected."""
    physics()
    for bone in bpy.context.scene.sinew.armature.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = False


def takes():
    """'Hero' with takes 'A' and 'B'."""
    obj = chosen()
    take(obj, "A")
    take(obj, "B")
    return obj


def kept():
    """'Hero' whose only take is kept."""
    take(chosen(), "A").action.use_fake_user = True


def skill():
    """'Hero' with one skill."""
    obj = chosen()
    bpy.ops.sinew.graph_skill_add()
    return obj


def skills():
    """'Hero' with two skills and a transition."""
    obj = skill()
    wave(obj, "Nod", seed=1)
    bpy.ops.sinew.graph_skill_add()
    way = obj.sinew_transitions.add()
    way.source, way.target, way.leave_frame, way.enter_frame = "Wave", "Nod", 10, 1
    return obj


def no_skill_action():
    """'Hero' with two skills, and the Action of the first is gone."""
    skills().sinew_skills[0].action = None


def no_way():
    """'Hero' with two skills and no transition."""
    skills().sinew_transitions.clear()


def own_part():
    """'Hero' with a part that has a bound of its own."""
    chosen()
    bpy.ops.sinew.bounds_part_add()


def painted():
    """'Hero' with bounds that are loosened at frame 10."""
    chosen()
    bpy.context.scene.frame_set(10)
    bpy.ops.sinew.bounds_loosen()


def before_it():
    """'Hero', at a frame before its Action begins."""
    chosen()
    bpy.context.scene.frame_set(-50)


def at_ten():
    """'Hero', at frame 10 of its Action."""
    chosen()
    bpy.context.scene.frame_set(10)


def lost_files():
    """'Hero', whose files with what was learned are gone, in a .blend that was saved."""
    obj = chosen()
    bpy.ops.wm.save_as_mainfile(filepath=bpy.app.tempdir + "verbs.blend")
    for family in ("graph", "bounds", "medley", "direct", "respond", "improvise"):
        getattr(obj, f"sinew_{family}").file = "/no/such/file.npz"


def unsaved_files():
    """'Hero' with files of what was learned, in a .blend that was never saved."""
    obj = chosen()
    for family in ("graph", "bounds", "medley", "direct", "respond", "improvise"):
        getattr(obj, f"sinew_{family}").file = "/no/such/file.npz"


def cue():
    """'Hero' with a cue."""
    obj = chosen()
    obj.sinew_cues.add().deed = "kick"


def cube():
    """A cube that is selected."""
    obj = mesh("Cube", "NONE")
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)


def obstacle():
    """A cube on the stage that is selected."""
    cube()
    bpy.ops.sinew.stage_mark(role="OBSTACLE")


def camera():
    """A camera that is selected."""
    obj = bpy.data.objects.new("Eye", bpy.data.cameras.new("Eye"))
    bpy.context.scene.collection.objects.link(obj)
    obj.select_set(True)


def push():
    """'Hero', and a push that is not active."""
    obj = bone()
    arrow("Push")
    bpy.context.view_layer.objects.active = obj


def push_off_stage():
    """'Hero', and a push that was taken off the stage."""
    push()
    bpy.ops.sinew.stage_clear(name="Push")


def two_jobs():
    """'Hero' and a batch of two jobs that wait."""
    chosen()
    bpy.context.scene.sinew.variations.count = 2
    bpy.ops.sinew.simulate_variations()


def paused_job():
    """'Hero' and a batch of two jobs, the newest of which is paused."""
    two_jobs()
    bpy.ops.sinew.pause(**first_job())


def being_read():
    """'Hero', whose motion is being read."""
    chosen()
    preparing.begin_preparation(
        recipes.motion_check_recipe(request_of(bpy.context.scene)), bpy.context.scene, lambda _: None
    )


def lacking(*missing):
    """A worker's Python that lacks these."""

    def make():
        chosen()
        readiness._known[:] = [
            Readiness("/some/python", "3.11", "" if "mujoco" in missing else "MuJoCo 4", "", missing)
        ]

    return make


def complete():
    """A worker's Python that has everything."""
    readiness._known[:] = [Readiness("/some/python", "3.11", "MuJoCo 4", "PyTorch 2")]


def first_job():
    """The id of the newest job."""
    return {"job": monitor.watched_jobs()[0].id}


def first_reading():
    """The number of the oldest motion that is being read."""
    return {"number": preparing.preparation_views()[0].id}


def first_batch():
    """The id of the newest batch."""
    return {"batch": monitor.watched_jobs()[0].batch}
