# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole files of every kind, made on the spot or taken from those that an older Sinew wrote, to be damaged."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import bpy
import numpy as np

from sinew.bridge import cli
from sinew.bridge.importing.importers import show_clip
from sinew.bridge.library.assembling import open_library
from sinew.bridge.rig.armatures import armature_from_skeleton
from sinew.bridge.scene.muted_output import mute_output
from sinew.core import jobs
from sinew.core.control import registry
from sinew.core.control.direct.train_method import store_director
from sinew.core.control.live.commands import (
    BeginAnew,
    DragBone,
    LiveRecording,
    MoveThing,
    PushBone,
    SetMuscle,
    Steer,
    ThrowBall,
)
from sinew.core.control.medley.methods import KIND
from sinew.core.control.tracking_policy.controller import TrackingController
from sinew.core.control.tracking_policy.environment import find_acting
from sinew.core.control.tracking_policy.learned_file import DIRECTED
from sinew.core.files import write_arrays
from sinew.core.jobs.live.wire import pack_mapping, pack_pose
from sinew.core.learn.normaliser import Normaliser, RunningStatistics
from sinew.core.learn.policy import Policy
from sinew.core.motion import PropMotion, Take
from sinew.core.motion.io.npz import save_clip, save_take
from sinew.core.motion.library import make_library
from sinew.core.motion.plain_walk import plain_walk

_BEFORE = Path(__file__).resolve().parents[2] / "tests" / "data" / "before"


def make_seeds(folder: Path) -> dict[str, list[str]]:
    """Make them in ``folder`` unless they are there; gives the whole files, or folders, of each format."""
    listed = folder / "seeds.json"
    if not listed.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = {**_motions(folder), **_archives(folder), **_texts(folder), **_jobs(folder)}
        made["library"] = [_library(folder)]
        made["direct"] = [_trained(folder, Path(made["library"][0])), *made["library"]]
        made["blend"] = [str(shutil.copy(_BEFORE / "character.blend", folder))]
        shutil.copytree(_BEFORE / "sinew", folder / "sinew", dirs_exist_ok=True)
        listed.write_text(json.dumps(made), encoding="utf-8")
    found: dict[str, list[str]] = json.loads(listed.read_text(encoding="utf-8"))
    return found


def _motions(folder: Path) -> dict[str, list[str]]:
    """A short walk as Blender exports it."""
    clip = plain_walk().frames(0, 12)
    with mute_output():
        bpy.ops.wm.read_homefile(use_empty=True)
        obj = armature_from_skeleton(clip.skeleton, "Walker", bpy.context.scene.collection)
        show_clip(clip, obj)
        bpy.context.view_layer.objects.active = obj
        obj.select_set(True)
        bvh, fbx, glb, gltf = (folder / f"walk.{ending}" for ending in ("bvh", "fbx", "glb", "gltf"))
        bpy.ops.export_anim.bvh(filepath=str(bvh), frame_start=1, frame_end=12)
        bpy.ops.export_scene.fbx(filepath=str(fbx), bake_anim=True)
        bpy.ops.export_scene.gltf(filepath=str(glb), export_format="GLB")
        bpy.ops.export_scene.gltf(filepath=str(gltf), export_format="GLTF_SEPARATE")
    return {"bvh": [str(bvh)], "fbx": [str(fbx)], "glb": [str(glb)], "gltf": [str(gltf)]}


def _archives(folder: Path) -> dict[str, list[str]]:
    clip = plain_walk().frames(0, 12)
    save_clip(folder / "clip.npz", clip)
    ball = PropMotion("Ball", clip.local_pos[:, 0], clip.local_quat_wxyz[:, 0])
    save_take(folder / "take.npz", Take(clip, others=(Take(clip),), props=(ball,)))
    arrays, meta = make_library([clip, clip.frames(2, 9)]).to_arrays()
    write_arrays(folder / "walk.medley.npz", arrays, {**meta, "kind": KIND})
    learned = {"graph": "Mannequin.graph.npz", "controller": "Mannequin-walk.safetensors"}
    copied = {kind: [str(shutil.copy(_BEFORE / "sinew" / name, folder))] for kind, name in learned.items()}
    own = {"clip": "clip.npz", "take": "take.npz", "medley": "walk.medley.npz"}
    return {**copied, **{kind: [str(folder / name)] for kind, name in own.items()}}


def _library(folder: Path) -> str:
    """A library of one clip, as it is built from files."""
    clip = plain_walk()
    with mute_output():
        bpy.ops.wm.read_homefile(use_empty=True)
        obj = armature_from_skeleton(clip.skeleton, "Walker", bpy.context.scene.collection)
        show_clip(clip, obj)
        bpy.context.view_layer.objects.active = obj
        bpy.ops.export_anim.bvh(filepath=str(folder / "whole.bvh"), frame_start=1, frame_end=len(clip))
    target = folder / "walks.library.npz"
    assert cli.main(["library", "build", str(folder / "whole.bvh"), "--out", str(target)]) == 0
    return str(target)


def _trained(folder: Path, library: Path) -> str:
    """The same library with a policy that asks for nothing, as training leaves it."""
    stored = open_library(library)
    actions, observations = len(find_acting(stored.body)), 40
    layers = [(np.zeros(shape, np.float32), np.zeros(shape[0], np.float32)) for shape in ((8, 40), (actions, 8))]
    normaliser = Normaliser(RunningStatistics.empty(observations))
    policy = Policy(normaliser, layers, "elu", 1.0, np.ones(actions, np.float32))
    about = {"seconds": 60.0, "falls_per_minute": 1.0}
    target = folder / "trained.library.npz"
    DIRECTED.write_content(target, *store_director(stored, TrackingController(policy, 0.4, about=about)))
    return str(target)


def _texts(folder: Path) -> dict[str, list[str]]:
    """Settings of every method, the words of a command line, and a stock clip in pybullet's own form."""
    settings = {name: registry.get_method(name).settings_type().to_mapping() for name in registry.all_method_names()}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    clip = str(folder / "clip.npz")
    lines = [
        ["simulate", clip, "--method", "passthrough", "--fps", "30", "--frames", "1:10", "--scale", "1.0"],
        [
            "simulate",
            clip,
            "--method",
            "passthrough",
            "--cycles",
            "1",
            "--seed",
            "3",
            "--armature",
            "clip",
            "--place",
            "nla",
        ],
        ["simulate", clip, "--method", "passthrough", "--out", "out.blend", "--report", "out.json"],
        ["simulate", clip, "--method", "passthrough", "--set", "chunk_frames=4", "--blend", "0.1", "--frames", "2:8"],
        ["simulate", clip, "--push", "200@0.1:left", "--muscle", "1:1,5:0.5", "--method", "passthrough"],
        ["takes", str(_BEFORE / "character.blend"), "--sort", "time", "--armature", "Mannequin"],
        ["jobs", "show", "2026"],
        ["jobs", "clean", "--older-than", "30"],
        ["graph", "show", str(_BEFORE / "sinew" / "Mannequin.graph.npz")],
        ["medley", "show", str(folder / "walk.medley.npz")],
        ["library", "show", str(folder / "walks.library.npz"), "--sources", str(folder), "--picture", "out.png"],
    ]
    (folder / "arguments.json").write_text(json.dumps(lines), encoding="utf-8")
    row = [0.0333, 0.0, 0.9, 0.0, 1.0] + [0.0] * 39
    for first in (8, 12, 16, 21, 25, 30, 35, 39):
        row[first] = 1.0
    stock = {"Loop": "wrap", "Frames": [row] * 12}
    (folder / "stock.json").write_text(json.dumps(stock), encoding="utf-8")
    found = {name: [str(folder / f"{name}.json")] for name in ("settings", "arguments", "stock")}
    return {**found, **_live(folder)}


def _live(folder: Path) -> dict[str, list[str]]:
    """A recording of a live session, and what Blender and its worker say to each other."""
    commands = (
        PushBone(3, bone="chest", force=(1.0, -2.0, 0.5)),
        DragBone(4, bone="chest", to=(0.0, 1.0, 2.0)),
        ThrowBall(5, at=(1.0, 0.0, 1.0), velocity=(-3.0, 0.0, 1.0)),
        MoveThing(6, thing="Block", by=(1.0, 0.0, 0.0)),
        Steer(7, velocity=(1.0, 0.5), style="run"),
        SetMuscle(8, value=0.5),
        BeginAnew(9),
    )
    text = LiveRecording(commands, 2, 60, "walk", 7).to_text()
    (folder / "live.jsonl").write_text(text, encoding="utf-8")
    told = [{"kind": "ready", "props": ["Ball"]}, {"ask": "recording", "begin": 3}, {"kind": "recording", "text": text}]
    packed = [pack_mapping(one) for one in (*told, *(one.to_mapping() for one in commands))]
    packed.append(pack_pose(3, 1, np.arange(40, dtype=np.float32)))
    (folder / "live.messages").write_bytes(b"".join(packed))
    return {"recording": [str(folder / "live.jsonl")], "messages": [str(folder / "live.messages")]}


def _jobs(folder: Path) -> dict[str, list[str]]:
    """A finished job, one that was killed, and one that learned; each a folder."""
    with tarfile.open(_BEFORE / "jobs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    found = [str(path) for path in sorted((folder / "jobs").iterdir())]
    clip = plain_walk().frames(0, 12)
    small = jobs.create(clip, method="passthrough", settings={"chunk_frames": 3}, folder=folder / "resumed")
    assert jobs.wait(small, jobs.launch(small)).state == "done"
    # As a kill would have left it: no end, no result, its checkpoints.
    lines = small.events.read_bytes().splitlines(keepends=True)
    small.events.write_bytes(b"".join(line for line in lines if b'"kind": "done"' not in line))
    shutil.rmtree(small.take_file.parent)
    return {"job": found, "resumed": [str(small.folder)]}
