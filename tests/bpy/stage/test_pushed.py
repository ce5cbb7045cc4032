# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands on the stage in Blender is felt in the simulation: from an arrow to a body that is pushed."""

import bpy
import numpy as np

from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import requests
from sinew.core import jobs


def simulated(force_n):
    """The mannequin's punch with a push at its chest from the side, as a result."""
    open_input("punch")
    obj = requests.find_armature()
    arrow = bpy.data.objects.new("Push", None)
    bpy.context.scene.collection.objects.link(arrow)
    arrow.rotation_euler = (0.0, np.pi / 2, 0.0)
    push = arrow.sinew
    push.role, push.armature, push.bone = "PUSH", obj, "chest"
    push.force, push.start_frame, push.duration = force_n, 4, 0.2
    request = requests.Request("", method="sampling", settings={"quality": "draft"}, frames=(1, 36), engine="mujoco")
    job = requests.create_job(request, requests.read(request))
    status = jobs.wait(job, jobs.launch(job))
    assert status.state == "done", status.message
    return job.result()


def test_a_push_on_the_stage_moves_the_mannequin(addon):
    calm, pushed = simulated(1.0), simulated(500.0)
    assert calm.report["fell"] is False
    chest = calm.take.motion.skeleton.index("chest")
    ends = [result.take.motion.world()[0][:, chest] for result in (calm, pushed)]
    # The arrow points along +X, and the push moves the chest that way.
    moved = ends[1][20, 0] - ends[0][20, 0]
    assert moved > 0.3
    assert calm.report["engine"] == pushed.report["engine"] == "mujoco"
