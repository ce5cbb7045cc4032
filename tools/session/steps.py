# SPDX-License-Identifier: GPL-3.0-or-later
"""The session itself: what an animator does from the zip to the end, a function each. With a window or without."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .desk import Desk

PUSHED = "chest"
Facts = dict  # as inside.facts() gives them


def install(desk: Desk) -> None:
    """Install the zip and enable it."""
    desk.check(not desk.facts()["package"], "This Blender knows nothing of Sinew yet")
    desk.install()
    desk.check(desk.facts()["package"].endswith(".sinew"), "Sinew is enabled")


def sidebar(desk: Desk) -> None:
    """Open the sidebar's tab; it says that simulating works."""
    desk.open_tab()
    desk.wait(lambda found: found["known"], "it is known what is ready", 30.0)
    desk.check(desk.facts()["simulates"], "Simulating is ready")
    desk.look("ready")


def mannequin(desk: Desk) -> None:
    """Try it on the mannequin: one press, and it walks and is being simulated."""
    desk.press("Try It on the Mannequin", "sinew.try_mannequin")
    desk.wait(_is_running, "a job is running", 30.0)
    desk.stop_playing()  # without a graphics card, showing it takes what simulating it needs
    desk.look("mannequin")
    if desk.light:
        _cancel_newest(desk)
        desk.ask("put", "scene.sinew", "method", "passthrough")
        desk.ask("put", "scene.sinew.methods.passthrough", "chunk_frames", 20)
        desk.press("Simulate Selected Action", "sinew.simulate")


def first_take(desk: Desk) -> None:
    """The first take is there: it walks with weight."""
    found = desk.wait(lambda found: len(found["takes"]) == 1, "the first take is there", 180.0)
    desk.check(found["moved_by"] == found["takes"][0]["name"] != found["source"], "The take moves the mannequin")
    desk.check(found["source"] in found["actions"] and not found["heavy"], "The source is kept")
    desk.check(not found["takes"][0]["fell"], "It stays on its feet")
    desk.look("first_take", at="Takes")


def check_motion(desk: Desk) -> None:
    """Check a motion in wrong units that begins with a calibration pose: one box says so, and one press mends it."""
    method = desk.ask("get", "scene.sinew", "method")
    desk.ask("put", "scene.sinew", "method", "sampling")
    desk.ask("put", "scene.sinew.methods.sampling", "trim", "off")
    desk.ask("put", "scene.sinew", "scale", 100.0)
    source = desk.ask("begin_at_rest")
    desk.press("Check Motion", "sinew.check_source")
    found = desk.wait(lambda found: len(found["fixes"]) == 2, "the box offers to mend two things", 30.0)
    desk.check(found["fixes"] == ["scale", "trim"], "It is a giant's, and begins with a pose")
    desk.expected += found["doubts"]
    desk.look("checked", at="Check Motion")
    # Once it is no giant's any more, and before the pose is left out.
    desk.expected.append("The first frame is an A-pose, no part of the motion, 2.3 m away")
    desk.press("Fix All", "sinew.fix_source")
    found = desk.wait(lambda found: not found["fixes"], "nothing is left to mend", 30.0)
    desk.expected += found["doubts"]  # that the pose is left out
    desk.check(desk.ask("get", "scene.sinew", "scale") == 1.0, "A unit is a metre again")
    desk.check(desk.ask("get", "scene.sinew.methods.sampling", "trim") == "auto", "The pose is left out")
    desk.look("fixed", at="Check Motion")
    desk.ask("choose_source", source)
    desk.ask("put", "scene.sinew", "method", method)


def watch(desk: Desk) -> None:
    """Simulate with another seed, and watch how far it is."""
    desk.ask("put", "scene.sinew", "seed", 3)
    _last_for_a_while(desk)
    desk.press("Simulate Selected Action", "sinew.simulate")
    desk.wait(lambda found: _is_running(found) and found["jobs"][0]["fraction"] > 0.05, "it goes on", 60.0)
    desk.look("progress", at="Jobs")


def cancel(desk: Desk) -> None:
    """Cancel it: nothing of it is baked."""
    before = desk.facts()
    _cancel_newest(desk)
    found = desk.facts()
    desk.check(found["actions"] == before["actions"] and len(found["takes"]) == 1, "Nothing came of what was cancelled")
    desk.look("cancelled", at="Jobs")


def simulate(desk: Desk) -> None:
    """Simulate again."""
    _quickly(desk)
    desk.press("Simulate Selected Action", "sinew.simulate")


def second_take(desk: Desk) -> None:
    """The second take is there, beside the first."""
    found = desk.wait(lambda found: len(found["takes"]) == 2, "the second take is there", 180.0)
    desk.check(found["moved_by"] == found["takes"][1]["name"], "The second take moves the mannequin")
    desk.look("second_take", at="Takes")


def scrub(desk: Desk) -> None:
    """Drag the playhead: the character goes where the frame says."""
    desk.scrub(10, 20, 35)
    one, here = desk.facts()["frame"], desk.ask("pose", "pelvis")
    desk.scrub(40, 60, 80)
    other, there = desk.facts()["frame"], desk.ask("pose", "pelvis")
    desk.check(abs(one - 35) <= 2 and abs(other - 80) <= 2, "The playhead is where it was dragged to")
    desk.check(abs(there[1] - here[1]) > 0.5, "The mannequin has walked on")
    desk.look("scrubbed")


def to_nla(desk: Desk) -> None:
    """Send the take to the NLA, undo that, do it again, and undo it for good."""
    before = desk.facts()
    desk.press("Send to NLA", "sinew.take_to_nla")
    sent = desk.facts()
    desk.check(sent["tracks"] == [[before["moved_by"]]] and not sent["moved_by"], "The NLA plays the take")
    desk.look("nla", at="Takes")
    desk.undo()
    undone = desk.facts()
    desk.check(not undone["tracks"] and undone["moved_by"] == before["moved_by"], "Undo takes it back")
    desk.redo()
    desk.check(desk.facts()["tracks"] == sent["tracks"], "Redo does it again")
    desk.undo()
    desk.check(desk.facts()["actions"] == before["actions"], "Nothing was lost on the way")


def push(desk: Desk) -> None:
    """Add a push to the chest at frame 40."""
    desk.ask("set_frame", 40)
    desk.ask("pick_bone", PUSHED)
    desk.fold("Stage")
    desk.press("Add Push", "sinew.stage_add_push")
    desk.check(len(desk.facts()["pushes"]) == 1, "There is a push")
    desk.look("push", at="Stage")
    desk.undo()
    desk.check(not desk.facts()["pushes"], "Undo takes the push away")
    desk.redo()
    desk.check(len(desk.facts()["pushes"]) == 1, "Redo brings it back")
    desk.ask("set_intent", "STAGGER")
    desk.check(desk.facts()["intents"] == ["STAGGER"], "The push is to make it stagger")
    desk.ask("pick_armature")
    desk.fold("Stage")


def simulate_pushed(desk: Desk) -> None:
    """Simulate once more, with the push."""
    desk.press("Simulate Selected Action", "sinew.simulate")


def pushed_take(desk: Desk) -> None:
    """The push is felt."""
    found = desk.wait(lambda found: len(found["takes"]) == 3, "the pushed take is there", 180.0)
    desk.check(found["moved_by"] == found["takes"][2]["name"], "The pushed take moves the mannequin")
    desk.check(not found["takes"][2]["fell"], "It staggers and stays up")
    desk.ask("set_frame", 50)
    desk.look("pushed", at="Takes")


def compare(desk: Desk) -> None:
    """Show the takes in turn, and the source; they are not the same."""
    places: dict[str, Any] = {}
    for number, take in enumerate(desk.facts()["takes"]):
        desk.press_row(number)
        desk.check(desk.facts()["moved_by"] == take["name"], "A click on its row shows '%s'" % take["name"])
        places[take["name"]] = tuple(round(value, 4) for value in desk.ask("pose", "head"))
    desk.check(desk.light or len(set(places.values())) == len(places), "The takes differ: %s" % places)
    desk.press_icon("sinew.take_compare", "Takes")
    found = desk.facts()
    desk.check(found["moved_by"] == found["source"], "One click leads from the take to its source")
    desk.press_icon("sinew.take_compare", "Takes")
    desk.check(desk.facts()["moved_by"] == found["takes"][-1]["name"], "The same click leads back")
    desk.ask("put", "scene.sinew_overlay", "show", True)
    desk.ask("put", "scene.sinew_overlay", "ghost", True)
    desk.ask("set_frame", 70)  # by then the push has led it far from its source
    if desk.has_window:  # where there is none, nobody draws it
        desk.wait(lambda _: desk.ask("is_fitted"), "the body is fitted and drawn", 90.0)
    desk.look("compared", at="Takes")


def part(desk: Desk) -> None:
    """Simulate some frames and the arms alone: the rest stays as it was keyed."""
    before = desk.facts()
    desk.ask("put", "scene.sinew", "use_range", True)
    desk.ask("put", "scene.sinew", "keep_rest", True)
    desk.ask("put", "scene.sinew", "frame_start", 20)
    desk.ask("put", "scene.sinew", "frame_end", 60)
    if not desk.light:
        desk.ask("put", "scene.sinew.methods.sampling", "bones", "arms")
    desk.fold("Part of It")
    desk.look("part", at="Part of It")
    desk.fold("Part of It")
    _take_number(desk, len(before["takes"]) + 1)
    taken = [_pose_at(desk, frame, "head") for frame in (5, 90)]
    desk.press_icon("sinew.take_compare", "Takes")
    source = [_pose_at(desk, frame, "head") for frame in (5, 90)]
    apart = max(abs(a - b) for one, other in zip(taken, source) for a, b in zip(one, other))
    desk.check(apart < 1e-3, "Outside of those frames it is as it was keyed (%.4f)" % apart)
    desk.press_icon("sinew.take_compare", "Takes")
    desk.look("part_taken", at="Takes")
    desk.ask("put", "scene.sinew", "use_range", False)
    if not desk.light:
        desk.ask("put", "scene.sinew.methods.sampling", "bones", "")


def rig_with_controls(desk: Desk) -> None:
    """Two takes of a rig with inverse kinematics: one baked copy and one list; deleting them leaves nothing behind."""
    before = desk.facts()
    mannequin = desk.ask("walk_in_rig")
    desk.ask("put", "scene.sinew", "place", "COPY")
    for count in (1, 2):
        desk.ask("put", "scene.sinew", "seed", count)
        found = _take_number(desk, count)
    desk.expected += [text for text in found["doubts"] if text not in desk.expected]
    copies = [name for name in found["objects"] if name not in before["objects"] and name != "Puppet"]
    desk.check(len(copies) == 1 and "Puppet" in found["hidden"], "One copy shows both takes: %s" % copies)
    desk.look("one_copy", at="Takes")
    desk.ask("call", "sinew.take_delete_unkept")
    found = desk.facts()
    desk.check(not found["takes"] and not found["hidden"], "The takes are gone, and the rig shows again")
    desk.check(not [name for name in copies if name in found["objects"]], "The copy is gone with them")
    desk.ask("put", "scene.sinew", "place", "AUTO")
    desk.ask("put", "scene.sinew", "seed", 3)
    desk.ask("choose_armature", mannequin, before["source"])
    desk.look("copy_gone", at="Takes")


def leave_scene(desk: Desk) -> None:
    """Go to another scene while a simulation runs: its take waits, and comes in when its scene shows again."""
    before = desk.facts()
    desk.press("Simulate Selected Action", "sinew.simulate")
    desk.wait(_is_running, "a job is running", 30.0)
    home = desk.ask("show_scene", "Elsewhere")
    found = desk.wait(lambda found: found["jobs"][0]["state"] == "done", "the job is done meanwhile", 180.0)
    if desk.has_window:  # where there is none, no scene is hidden
        time.sleep(1.0)
        desk.check(desk.facts()["actions"] == before["actions"], "Its take waits")
        desk.look("other_scene", at="Jobs")
    desk.ask("show_scene", home)
    count = len(before["takes"]) + 1
    found = desk.wait(lambda found: len(found["takes"]) == count, "the take has come in", 60.0)
    desk.check(found["moved_by"] == found["takes"][-1]["name"], "It moves the mannequin")
    desk.look("home_again", at="Takes")


def quit_running(desk: Desk) -> None:
    """Start a job, save, and quit while it is running."""
    desk.save()
    _last_for_a_while(desk)
    desk.press("Simulate Selected Action", "sinew.simulate")
    found = desk.wait(_is_running, "the last job is running", 30.0)
    desk.kept["left"], desk.kept["takes"] = found["jobs"][0]["id"], len(found["takes"])
    desk.save()
    desk.look("saved", at="Jobs")
    desk.quit()


def open_again(desk: Desk) -> None:
    """Open the file again: the job is there, and its take comes in."""
    desk.start(desk.blend)
    desk.open_tab()
    found = desk.wait(lambda found: desk.kept["left"] in [job["id"] for job in found["jobs"]], "the job is found", 30.0)
    job = next(job for job in found["jobs"] if job["id"] == desk.kept["left"])
    desk.check(job["state"] in ("running", "starting", "done"), "The job went on without Blender")
    desk.look("found", at="Jobs")
    count = desk.kept["takes"] + 1
    found = desk.wait(lambda found: len(found["takes"]) == count, "its take has come in", 400.0)
    desk.check(found["moved_by"] == found["takes"][-1]["name"], "It moves the mannequin")
    desk.look("collected", at="Takes")


def disable(desk: Desk) -> None:
    """Disable the extension: what it made stays."""
    before = desk.facts()
    desk.ask("disable")
    found = desk.facts()
    desk.check(not found["package"] and found["actions"] == before["actions"], "The Actions stay without Sinew")
    desk.look("disabled")


# From nothing to the first simulated Action; then all the rest.
FIRST = (install, sidebar, mannequin, first_take)
STEPS: tuple[Callable[[Desk], None], ...] = (
    *FIRST,
    check_motion,
    watch,
    cancel,
    simulate,
    second_take,
    scrub,
    to_nla,
    push,
    simulate_pushed,
    pushed_take,
    compare,
    part,
    rig_with_controls,
    leave_scene,
    quit_running,
    open_again,
    disable,
)


def _take_number(desk: Desk, count: int) -> Facts:
    """Simulate, and wait until there are so many takes."""
    desk.press("Simulate Selected Action", "sinew.simulate")
    return desk.wait(lambda found: len(found["takes"]) == count, "take %d is there" % count, 180.0)


def _pose_at(desk: Desk, frame: int, bone: str) -> list[float]:
    desk.ask("set_frame", frame)
    return desk.ask("pose", bone)


def _is_running(found: Facts) -> bool:
    return bool(found["jobs"]) and found["jobs"][0]["state"] in ("starting", "running")


def _cancel_newest(desk: Desk) -> None:
    job = desk.facts()["jobs"][0]["id"]
    desk.press_icon("sinew.cancel", "Simulate Selected Action", job=job)
    desk.wait(lambda found: found["jobs"][0]["state"] == "cancelled", "the job has stopped", 30.0)


def _last_for_a_while(desk: Desk) -> None:
    if desk.light:
        desk.ask("put", "scene.sinew.methods.passthrough", "pause_s", 1.0)
    else:
        desk.ask("put", "scene.sinew.methods.sampling", "quality", "high")


def _quickly(desk: Desk) -> None:
    if desk.light:
        desk.ask("put", "scene.sinew.methods.passthrough", "pause_s", 0.0)
    else:
        desk.ask("put", "scene.sinew.methods.sampling", "quality", "draft")
