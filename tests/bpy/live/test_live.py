# SPDX-License-Identifier: GPL-3.0-or-later
"""A live session in Blender: shown without keys, and ended cleanly by all that may happen to the file it is about."""

import math
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from sinew.bridge.jobs import monitor
from sinew.bridge.live import hands, moving, posing, running, shortcut, verbs
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.jobs.live.wire import PoseMessage

from ..helpers.rigs import arm, digest, wave

OPS = bpy.ops.sinew


class TellingLink:
    """A worker's end that says what it is given, for what Blender makes of it."""

    def __init__(self):
        self.told, self.asked, self.sent, self.ended = [], [], 0, ""
        self.newest, self.closed = None, False

    def read(self):
        told, self.told = self.told, []
        return told

    def send(self, values):
        self.asked.append(values)
        self.sent += 1

    def close(self):
        self.closed = True


def pose_at(rig, place, turn, frame=1):
    """A pose in which everything is lifted and turned, and the first ball is shown."""
    pos, quat = rig.clip.world()
    pos, quat = np.array(pos[0]), np.array(quat[0])
    half = 0.5 * turn
    cosine, sine = math.cos(turn), math.sin(turn)
    pos = (pos - pos[0]) @ np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]]) + pos[0] + place
    spin = np.array([math.cos(half), 0.0, 0.0, math.sin(half)])
    w, x, y, z = quat.T
    a, d = spin[0], spin[3]
    quat = np.stack([a * w - d * z, a * x - d * y, a * y + d * x, a * z + d * w], axis=-1)
    ball = np.array([1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    numbers = np.concatenate([pos.ravel(), quat.ravel(), ball, [1.0], [0.0, 0.0, 5.0]])
    return PoseMessage(frame, 0, numbers.astype(np.float32)), pos, quat


@pytest.fixture
def live(addon, reported, tmp_path):
    """An armature with an Action that is live: (its name, its motion, the other end)."""
    obj = arm("Hero")
    action = wave(obj)
    bpy.context.scene.sinew.armature = obj
    rig = read_rig(obj)

    class Folder:
        folder = tmp_path / "session" / "job"

    Folder.folder.mkdir(parents=True)
    link = TellingLink()
    session = running.RunningSession(link, Folder, bpy.context.scene.name, ("Hero",), (rig,))
    running._running.append(session)
    bpy.app.timers.register(running.tick_live, persistent=True)
    names = list(rig.clip.skeleton.names)
    character = {"name": "Hero", "bones": names, "links": names, "mass": 60.0, "steered": True, "styles": ["walk"]}
    link.told.append({"kind": "ready", "fps": 60, "characters": [character], "props": ["Live Ball 1"], "obstacles": []})
    running.tick_live()
    yield obj.name, rig, link, digest(action)
    running.end_session()


def show(live, place=(0.0, 0.0, 1.0), turn=0.7, frame=1):
    _, rig, link, _ = live
    link.newest, pos, quat = pose_at(rig, np.array(place), turn, frame)
    running.tick_live()
    return pos, quat


def is_as_before(live):
    """Whether nothing of a session is left."""
    name, _, link, keys = live
    assert running.running() is None
    assert link.closed
    assert not [obj for obj in bpy.data.objects if obj.name.startswith("Live ")]
    obj = bpy.data.objects.get(name)
    if obj is not None:
        assert digest(obj.animation_data.action) == keys
    return True


def values(obj):
    return [(*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.scale) for bone in obj.pose.bones]


def test_a_pose_is_shown_on_the_armature_and_nothing_is_keyed(live):
    name, rig, _, keys = live
    obj = bpy.data.objects[name]
    pos, quat = show(live)
    bpy.context.view_layer.update()
    for index, bone in enumerate(rig.clip.skeleton.names):
        matrix = np.array(obj.matrix_world @ obj.pose.bones[bone].matrix)
        np.testing.assert_allclose(matrix[:3, 3], pos[index], atol=1e-5)
        turned = np.array((obj.matrix_world @ obj.pose.bones[bone].matrix).to_quaternion())
        assert abs(turned @ quat[index]) == pytest.approx(1.0, abs=1e-5)
    assert tuple(bpy.data.objects["Live Ball 1"].location) == pytest.approx((1.0, 2.0, 3.0))
    assert digest(obj.animation_data.action) == keys


def test_stopping_puts_everything_back(live):
    obj = bpy.data.objects[live[0]]
    before = values(obj)
    show(live)
    assert values(obj) != before
    assert OPS.live_do(what="STOP") == {"FINISHED"}
    assert values(obj) == before
    assert is_as_before(live)


def test_loading_a_file_ends_it(live, tmp_path):
    show(live)
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert running.running() is None
    assert live[2].closed
    assert running.tick_live() is None


def test_what_is_saved_is_no_moment_of_it(live, tmp_path):
    obj = bpy.data.objects[live[0]]
    before = values(obj)
    show(live)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
    assert values(obj) == before
    show(live, frame=2)
    assert values(obj) != before


def test_undo_while_it_runs(live):
    name = live[0]
    bpy.ops.ed.undo_push(message="before")
    show(live)
    bpy.data.objects[name].location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].location.x == 0.0
    show(live, frame=2)
    assert running.running() is not None
    bpy.ops.ed.redo()
    show(live, frame=3)
    running.end_session()
    assert is_as_before(live)


def test_another_scene_ends_it(live, reported):
    show(live)
    bpy.context.window.scene = bpy.data.scenes.new("Other")
    running.tick_live()
    assert is_as_before(live)
    assert "scene is not shown" in reported[-1][1]


def test_deleting_the_armature_ends_it(live, reported):
    show(live)
    bpy.data.objects.remove(bpy.data.objects[live[0]])
    show(live, frame=2)
    assert is_as_before(live)
    assert "armature is gone" in reported[-1][1]


def test_a_worker_that_is_gone_ends_it(live, reported):
    obj = bpy.data.objects[live[0]]
    before = values(obj)
    show(live)
    live[2].ended = "The live worker has ended"
    running.tick_live()
    assert values(obj) == before
    assert is_as_before(live)
    assert reported[-1] == ("WARNING", "The live worker has ended")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"kind": "failed", "message": "It blew up", "hint": "Again"}, "It blew up"),
        ({"kind": "ready", "characters": [], "props": [], "obstacles": []}, "has 0 characters"),
        ({"kind": "ready", "characters": 3}, "says nothing of"),
        ({"kind": "recording", "text": "nonsense"}, "no JSON"),
    ],
)
def test_what_the_worker_says_wrong_ends_it(live, reported, told, words):
    show(live)
    live[2].told.append(told)
    running.tick_live()
    assert is_as_before(live)
    assert words in reported[-1][1]


def test_a_pose_of_another_size_ends_it(live, reported):
    live[2].newest = PoseMessage(1, 0, np.zeros(5, dtype=np.float32))
    running.tick_live()
    assert is_as_before(live)


def test_disabling_the_extension_ends_it(live, addon):
    obj = bpy.data.objects[live[0]]
    before = values(obj)
    show(live)
    addon.unregister()
    try:
        assert values(obj) == before
        assert running.running() is None
        assert not bpy.app.timers.is_registered(running.tick_live)
    finally:
        addon.register()


def test_constraints_rest_while_it_runs(live):
    running.end_session()
    obj = bpy.data.objects[live[0]]
    constraint = obj.pose.bones[-1].constraints.new("LIMIT_ROTATION")
    poser = posing.ArmaturePoser(obj, tuple(live[1].clip.skeleton.names), 1.0)
    assert constraint.mute
    poser.restore()
    assert not constraint.mute


def test_every_button_says_what_it_does_and_tells_the_worker(live):
    show(live)
    session, link = running.require_running(), live[2]
    for what, *_ in verbs.VERBS[1:]:
        assert OPS.live_do(what=what) == {"FINISHED"}
    asked = [values.get("ask") or values.get("do") for values in link.asked]
    assert asked == ["pause", "muscle", "reset", "push", "throw", "drop", "back", "back", "speed", "speed"]
    assert session.view.recording
    OPS.live_do(what="RECORD")
    assert link.asked[-1] == {"ask": "recording", "begin": 1}
    assert set(hands.link_places(session)) == set(session.links[0])


def test_it_is_made_for_real(addon, reported):
    """The one test with a worker: live from the click on, recorded, baked, and made again with the same keys."""
    from sinew.bridge.importing.importers import open_input

    open_input("walk", 1.0)
    scene = bpy.context.scene
    obj = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    scene.sinew.armature = obj
    scene.sinew.methods.live.quality = "draft"
    before, keys = values(obj), digest(obj.animation_data.action)

    def tick(until):
        until_s = time.monotonic() + 120.0
        while not until():
            assert time.monotonic() < until_s, reported
            running.tick_live()
            monitor.tick_monitor()
            time.sleep(0.01)

    assert OPS.live() == {"FINISHED"}
    session = running.require_running()
    tick(lambda: session.pose is not None)
    OPS.live_do(what="RECORD")
    OPS.live_do(what="BOX")
    tick(lambda: session.view.frame >= 20)
    OPS.live_do(what="RECORD")
    tick(lambda: session.recording is not None)
    assert OPS.live_bake() == {"FINISHED"}
    OPS.live_do(what="STOP")
    assert values(obj) == before
    assert digest(bpy.data.actions["walk"]) == keys
    tick(lambda: len(obj.sinew_takes) == 1)
    assert bpy.data.objects["Live Box 1"].animation_data.action is not None
    assert OPS.live_again() == {"FINISHED"}
    tick(lambda: len(obj.sinew_takes) == 2)
    first, second = (digest(take.action) for take in obj.sinew_takes)
    assert first[1:] == second[1:] or first == second
    assert monitor.watched_jobs() is not None


def test_what_is_moved_by_hand_is_told_and_not_put_back_meanwhile(live):
    block = bpy.data.objects.new("Block", None)
    bpy.context.scene.collection.objects.link(block)
    block.location.x = 1.0
    bpy.context.view_layer.update()
    session, link = running.require_running(), live[2]
    session.hands = moving.MovedThings(("Block",), 2.0)
    show(live)
    assert not any(values.get("do") == "move" for values in link.asked)
    block.location = (1.0, 3.0, 0.0)
    bpy.context.view_layer.update()
    show(live, frame=2)
    (told,) = [values for values in link.asked if values.get("do") == "move"]
    assert told["thing"] == "Block"
    assert told["by"] == pytest.approx([0.0, 6.0, 0.0]) and told["turn"] == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert session.hands.is_held("Block", 0) and not session.hands.is_held("Block", link.sent)
    show(live, frame=3)
    assert sum(values.get("do") == "move" for values in link.asked) == 1


def test_who_can_be_steered_goes_after_the_goal_wherever_it_is_moved(live):
    goal = bpy.data.objects.new("Goal", None)
    bpy.context.scene.collection.objects.link(goal)
    bpy.context.scene.sinew.live_goal = goal
    ways = []
    for frame, place in enumerate(((0.0, 50.0, 0.0), (-50.0, 0.0, 0.0)), start=1):
        goal.location = place
        bpy.context.view_layer.update()
        show(live, frame=frame)
        ways.append([values["velocity"] for values in live[2].asked if values.get("do") == "steer"][-1])
    assert ways[0][1] > 1.0 > abs(ways[0][0]) and ways[1][0] < -1.0
    show(live, frame=3)
    assert sum(values.get("do") == "steer" for values in live[2].asked) == 2


def test_keys_choose_styles_and_steer_who_is_led(live):
    show(live)
    session = running.require_running()
    assert hands.choose_style(session, "ONE") == "walk" and hands.choose_style(session, "NINE") == ""
    view = SimpleNamespace(view_rotation=Quaternion((0.7071068, 0.7071068, 0.0, 0.0)))  # seen along +Y
    command = hands.steer_command(session, view, frozenset({"UP_ARROW"}), fast=False)
    assert command["style"] == "walk" and command["velocity"] == pytest.approx([0.0, 1.3], abs=1e-6)
    assert hands.choose_style(session, "ONE") == ""
    assert "style" not in hands.steer_command(session, view, frozenset(), fast=False)


def test_time_goes_slower_and_faster_and_no_further_than_that(live):
    show(live)
    session, link = running.require_running(), live[2]
    for _ in range(5):
        verbs.do_verb(session, "SLOWER")
    assert link.asked[-1] == {"ask": "speed", "value": 0.1}
    for _ in range(6):
        verbs.do_verb(session, "FASTER")
    assert link.asked[-1] == {"ask": "speed", "value": 0.0} and "as fast" in verbs.name_speed(session.view.speed)


def test_the_last_minute_is_scrubbed_through_and_no_undo_step_is_made(live):
    show(live, frame=300)
    manager, link = bpy.context.window_manager, live[2]
    assert manager.sinew_live_second == pytest.approx(5.0)
    manager.sinew_live_second = 3.5
    assert link.asked[-1] == {"ask": "back", "value": 210} and running.require_running().view.paused
    running.end_session()
    assert manager.sinew_live_second == 0.0
    manager.sinew_live_second = 2.0
    assert link.asked[-1] == {"ask": "back", "value": 210}


class Hand:
    """An operator's ``self`` with a mouse, over a view in which the root is in the middle."""

    def __init__(self, monkeypatch):
        from sinew.operators.live.drive import SINEW_OT_live

        self._held, self._pressed, self._arrows = None, (0.0, 0.0, 0.0), frozenset()
        self._drag, self._let_go = SINEW_OT_live._drag.__get__(self), SINEW_OT_live._let_go.__get__(self)
        monkeypatch.setattr(hands, "find_bone", lambda session, region, view, mouse: (0, session.links[0][0]))
        drag = {"do": "drag", "character": 0, "to": [0.0, 0.0, 0.0]}
        monkeypatch.setattr(hands, "drag_command", lambda *_: dict(drag))
        for name in ("ball_command", "box_command"):
            monkeypatch.setattr(hands, name, lambda *_, does=name[:-8]: {"do": does})
        self.view = SimpleNamespace(view_rotation=Quaternion((0.7071068, 0.7071068, 0.0, 0.0)))

    def mouse(self, session, kind, value, at=(5, 5), shift=False, ctrl=False):
        event = SimpleNamespace(type=kind, value=value, shift=shift, ctrl=ctrl)
        return self._drag(session, None, self.view, at, event)


def test_the_mouse_finds_what_is_drawn_and_not_what_comes_next(live):
    show(live)
    session, region = running.require_running(), SimpleNamespace(width=1000, height=1000)
    view = SimpleNamespace(perspective_matrix=Matrix.Diagonal((0.1, 0.1, 0.1, 1.0)), is_perspective=False)
    name, place = next(iter(hands.link_places(session).items()))
    mouse = (500.0 + 50.0 * place[0], 500.0 + 50.0 * place[1])
    assert hands.find_bone(session, region, view, mouse) == (0, name)
    session.drawn = session.pose
    show(live, place=(10.0, 0.0, 1.0), frame=2)
    assert hands.find_bone(session, region, view, mouse) == (0, name)
    session.drawn = session.pose
    assert hands.find_bone(session, region, view, mouse) is None


def test_a_click_pushes_throws_and_drops_and_a_drag_only_drags(live, monkeypatch):
    show(live)
    hand, session, link = Hand(monkeypatch), running.require_running(), live[2]

    def done():
        told = [values["do"] for values in link.asked]
        link.asked.clear()
        return told

    hand.mouse(session, "LEFTMOUSE", "PRESS")
    hand.mouse(session, "LEFTMOUSE", "RELEASE")
    assert done() == ["drag", "release", "push"]
    hand.mouse(session, "LEFTMOUSE", "PRESS")
    hand.mouse(session, "MOUSEMOVE", "NOTHING", at=(40, 5))
    hand.mouse(session, "LEFTMOUSE", "RELEASE", at=(40, 5))
    assert done() == ["drag", "drag", "release"]
    hand.mouse(session, "LEFTMOUSE", "PRESS", shift=True)
    hand.mouse(session, "LEFTMOUSE", "PRESS", ctrl=True)
    assert done() == ["ball", "box"]


def test_the_key_that_starts_stops_as_it_is_set(monkeypatch):
    item = SimpleNamespace(type="F7", shift=False, ctrl=True, alt=False)
    keymap = SimpleNamespace(keymap_items={"sinew.live": item})
    manager = SimpleNamespace(keyconfigs=SimpleNamespace(user=SimpleNamespace(keymaps={shortcut._KEYMAP: keymap})))
    monkeypatch.setattr(shortcut.bpy, "context", SimpleNamespace(window_manager=manager), raising=False)

    def press(kind, ctrl, value="PRESS", is_repeat=False):
        return SimpleNamespace(type=kind, value=value, shift=False, ctrl=ctrl, alt=False, is_repeat=is_repeat)

    assert shortcut.is_stop(press("F7", True))
    others = press("F6", False), press("F7", False), press("F7", True, "RELEASE"), press("F7", True, is_repeat=True)
    assert not any(map(shortcut.is_stop, others))


KILLED = """
import sys, tempfile, time, runpy
runpy.run_path(sys.argv[1])["load_package"]()
import bpy, sinew
from sinew.bridge.importing.importers import open_input
from sinew.bridge.live import running
tempfile.tempdir = sys.argv[2]
sinew.register()
open_input("walk", 1.0)
scene = bpy.context.scene
scene.sinew.armature = next(obj for obj in scene.objects if obj.type == "ARMATURE")
scene.sinew.methods.live.quality = "draft"
bpy.ops.sinew.live()
session = running.require_running()
while session.pose is None:
    running.tick_live()
    time.sleep(0.01)
print("worker", session.link.process.pid, flush=True)
while True:
    running.tick_live()
    time.sleep(0.01)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="looks into a POSIX process")
def test_when_blender_is_killed_the_worker_ends_and_takes_its_folder_along(root, tmp_path):
    command = [sys.executable, "-c", KILLED, str(root / "core" / "entry.py"), str(tmp_path)]
    blender = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    worker = next(int(line.split()[1]) for line in blender.stdout if line.startswith("worker"))
    assert is_running(worker) and list(tmp_path.iterdir())
    blender.kill()
    blender.wait()
    until_s = time.monotonic() + 60.0
    while is_running(worker) or list(tmp_path.iterdir()):
        assert time.monotonic() < until_s, "an orphan"
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX rights")
def test_the_folder_of_a_session_is_its_users_alone_and_has_another_name_each_time(addon):
    folders = [running.make_session_folder().parent for _ in range(2)]
    for folder in folders:
        assert folder.stat().st_mode & 0o777 == 0o700 and folder.stat().st_uid == os.getuid()
        folder.rmdir()
    assert folders[0] != folders[1]


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
