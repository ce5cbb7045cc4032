# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs with a whole stage, finished by hand: takes that no method had to make."""

import bpy
import numpy as np

from sinew.bridge.jobs import requests
from sinew.core.control.sampling.method import SamplingMethod
from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.jobs import worker
from sinew.core.jobs.events import append_event
from sinew.core.jobs.running import WorkerRun
from sinew.core.motion import Clip, PropMotion, Take
from sinew.core.motion.io.npz import clip_from_arrays
from sinew.core.sim.stage_io import stage_from_arrays


def for_everybody(monkeypatch):
    """Let jobs be made for the whole cast."""
    monkeypatch.setattr(SamplingMethod, "simulates_cast", True, raising=False)


def job_of(armature="Hero", **words):
    """A job of everybody on the stage."""
    bpy.context.view_layer.update()
    request = requests.Request(armature, method="sampling", **words)
    return requests.create_job(request, requests.read(request))


def stage_of(job):
    return stage_from_arrays(*job.attachment("stage"))


def finish(job, take):
    """Let the job have been done, with this take."""
    append_event(job.events, "started", 1)
    append_event(job.events, "done", 1, **worker._write_result(WorkerRun(job, 1), take))


def moved(clip: Clip, by) -> Clip:
    """The clip somewhere else."""
    pos, quat = clip.world()
    return Clip.from_world(clip.skeleton, clip.fps, pos + np.asarray(by), quat, clip.name)


def others_of(job):
    """The other characters' clips."""
    return [
        clip_from_arrays(*job.attachment(name.removesuffix(".npz")))
        for name in sorted(job.spec.inputs)
        if name.startswith("cast") and name.endswith("_clip.npz")
    ]


def take_of(job, main=(0, 0, 0), others=(), props=()) -> Take:
    """A take in which everybody does as the source, but somewhere else."""
    clips = others_of(job)
    company = tuple(Take(moved(clip, by)) for clip, by in zip(clips, others or [(0, 0, 0)] * len(clips), strict=True))
    return Take(moved(job.clip(), main), others=company, props=tuple(props))


def fall(job, name, spin=(0.0, 0.0, 0.0)) -> PropMotion:
    """How a prop of the job falls from where it appears, turning by ``spin`` (rad/s, about the world's axes)."""
    prop = next(prop for prop in stage_of(job).props if prop.name == name)
    clip = job.clip()
    seconds = np.maximum(np.arange(len(clip)) / clip.fps - prop.appears_s, 0.0)
    pos = prop.pos + np.array([0.3, 0.0, 0.0]) * seconds[:, None] - np.array([0.0, 0.0, 4.905]) * seconds[:, None] ** 2
    turned = from_rotation_vector(np.asarray(spin) * seconds[:, None])
    return PropMotion(name, pos, multiply(turned, np.tile(prop.quat_wxyz, (len(clip), 1))))


def shown(obj, frame):
    """The object's world matrix at a frame, as Blender evaluates it."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    return np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
