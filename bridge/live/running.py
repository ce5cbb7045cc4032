# SPDX-License-Identifier: GPL-3.0-or-later
"""The live session of this Blender: heard on a timer, shown on the armatures, and ended with the file.

A timer, for threads may not touch Blender's data, and an operator that waits for keys dies when a file is loaded.
There is one session at a time. Nothing of Blender's is kept over a tick; names and numbers are.
"""

import logging
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent
from mathutils import Matrix, Quaternion

from ...core import jobs
from ...core.control.live.commands import LiveRecording, parse_recording
from ...core.errors import JobError, SinewError
from ...core.jobs.live.link import SESSION_FOLDER, LiveLink
from ...core.jobs.live.wire import PoseLayout, PoseMessage
from ..jobs import reports
from ..rig.rig_reader import RigMotion
from ..scene.viewport import redraw_viewports, redraw_views, shift_views, view_heading
from .moving import MovedThings, towards_goal
from .posing import ArmaturePoser
from .things import ensure_thing, is_thing, remove_things

PERIOD_S = 1.0 / 60.0
_OTHER_M_S = 0.1  # from one wish to another
_PANEL_S = 0.25  # between two looks of the sidebar, which takes longer to draw than a pose
_log = logging.getLogger(__name__)


@dataclass
class LiveView:
    """What there is to see of the session, in words and numbers. recorded: whether there is a recording to bake.

    follows: whether 3D views go along with who is led. speed: session seconds a second, 0 for as fast as it can.
    """

    said: str = "Getting ready"
    ready: bool = False
    paused: bool = False
    recording: bool = False
    recorded: bool = False
    frame: int = 0
    limp: bool = False
    follows: bool = True
    speed: float = 1.0


@dataclass(eq=False)
class RunningSession:
    """The session. style: what a character was told to go in, by its number.

    spent_s: Sinew's own time on Blender's main thread in the last ticks that showed a pose, which began at shown_s.
    late_s: from the command that was given last to the pose that shows it, and drawn_s: to when that was drawn.
    undrawn: when it was given, of one that is not yet. drawn: the pose that is on the screen, which is what the mouse
    points at. panel_s: when the sidebar was last let be drawn.
    """

    link: LiveLink
    job: jobs.Job
    scene: str
    armatures: tuple[str, ...]
    rigs: tuple[RigMotion, ...]
    view: LiveView = field(default_factory=LiveView)
    layout: PoseLayout | None = None
    posers: list[ArmaturePoser] = field(default_factory=list)
    props: tuple[str, ...] = ()
    links: tuple[tuple[str, ...], ...] = ()
    masses: tuple[float, ...] = ()
    pose: PoseMessage | None = None
    drawn: PoseMessage | None = None
    panel_s: float = 0.0
    spent_s: deque[float] = field(default_factory=lambda: deque(maxlen=36_000))
    shown_s: deque[float] = field(default_factory=lambda: deque(maxlen=36_000))
    late_s: deque[float] = field(default_factory=lambda: deque(maxlen=1000))
    drawn_s: deque[float] = field(default_factory=lambda: deque(maxlen=1000))
    given: tuple[int, float] | None = None
    undrawn: float | None = None
    begin: int = 0
    recording: LiveRecording | None = None
    recorded_state: str = ""
    saved_props: dict[str, Matrix] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    pull: np.ndarray | None = None
    steered: tuple[bool, ...] = ()
    styles: tuple[tuple[str, ...], ...] = ()
    style: dict[int, str] = field(default_factory=dict)
    seen_at: np.ndarray | None = None
    hands: MovedThings | None = None
    heading: tuple[float, float] = (0.0, 0.0)
    gamepad: str = ""
    looks: tuple[float, int] = (0.0, -1)

    @property
    def led(self) -> int:
        """Who hears the keys: the active object, if it is one of the characters, else the first."""
        active = bpy.context.view_layer.objects.active if bpy.context.view_layer else None
        return self.armatures.index(active.name) if active is not None and active.name in self.armatures else 0

    def send(self, values: Mapping[str, Any]) -> None:
        """Say something to the worker."""
        self.link.send(values)
        if "do" in values:
            self.given = (self.link.sent, time.perf_counter())

    def look_at(self, frame: int) -> None:
        """Be at a frame of the last minute, and wait there; what was after it is forgotten when it goes on."""
        self.send({"ask": "back", "value": max(frame, 0)})
        self.view.paused = True


_running: list[RunningSession] = []
_expected: list[float] = []
"""When a session was asked for that is still being prepared; empty for none."""


def running() -> RunningSession | None:
    """The session, if there is one."""
    return _running[0] if _running else None


def require_running() -> RunningSession:
    """The session; without one, a message that says so."""
    if not _running:
        raise JobError("Nobody is live", "Start Live first")
    return _running[0]


def expect_session() -> None:
    """A session is being prepared, for an operator that waits for it."""
    _expected[:] = [time.monotonic()]


def expect_no_session() -> None:
    """It is not wanted any more, or will not come."""
    _expected.clear()


def is_expected() -> bool:
    """Whether a session is being prepared."""
    return bool(_expected)


def note_failure(why: str) -> None:
    """It will not come."""
    expect_no_session()
    _log.warning("%s", why)


def make_session_folder() -> Path:
    """A folder for a session's job that only this user may open; it goes with the session."""
    return Path(tempfile.mkdtemp(prefix=SESSION_FOLDER)) / "job"


def begin_session(
    job: jobs.Job, scene: bpy.types.Scene, armatures: Sequence[str], rigs: Sequence[RigMotion], python: str | None
) -> None:
    """Start the worker of a session's job, and listen to it."""
    end_session()
    expect_no_session()
    link = LiveLink(job, python)
    _running.append(RunningSession(link, job, scene.name, tuple(armatures), tuple(rigs)))
    if not bpy.app.timers.is_registered(tick_live):
        bpy.app.timers.register(tick_live, first_interval=PERIOD_S, persistent=True)
    reports.redraw()


def end_session(why: str = "") -> None:
    """End the worker, and put back what was shown; why: said to the user where it was not asked for."""
    if not _running:
        return
    session = _running.pop()
    session.link.close()
    for poser in session.posers:
        poser.restore()
    for name, matrix in session.saved_props.items():
        obj = bpy.data.objects.get(name)
        if obj is not None:
            obj.matrix_world = matrix
    if session.recording is None:
        remove_things(session.made)
    shutil.rmtree(session.job.folder.parent, ignore_errors=True)
    if why:
        reports.report_to_user(why, "WARNING")
    reports.redraw()
    redraw_viewports()


def tick_live() -> float | None:
    """Hear what the worker has said, and show the newest pose; seconds until the next look, None for no more."""
    session = running()
    if session is None:
        return None
    began_s = time.perf_counter()
    try:
        for told in session.link.read():
            _hear(session, told)
        if session.link.ended:
            end_session(session.link.ended)
            return None
        if not _is_shown(session):
            end_session("Live has ended: its scene is not shown any more")
            return None
        newest = session.link.newest
        if newest is not None and newest is not session.pose and session.layout is not None:
            session.pose = newest
            _tell_moved(session)
            if not _show(session, newest):
                end_session("Live has ended: the armature is gone")
                return None
            _lead_to_goal(session)
            _tell_view(session)
            session.shown_s.append(began_s)
            session.spent_s.append(time.perf_counter() - began_s)
    except SinewError as error:
        end_session(str(error))
        return None
    except Exception:
        end_session("Live has ended: Sinew met a bug")
        raise
    return max(0.0, PERIOD_S - (time.perf_counter() - began_s))


def _tell_moved(session: RunningSession) -> None:
    """Tell the worker what of the stage was moved with Blender's own tools."""
    if session.hands is None:
        return
    own = [name for name in session.props if not is_thing(name)]
    for name in (*own, *session.hands.obstacles):
        command = session.hands.find_moved(name)
        if command is not None:
            session.send(command)
            session.hands.tell(name, session.link.sent)


def _tell_view(session: RunningSession) -> None:
    """Tell a worker that has a gamepad where the view looks, and who is led."""
    if not session.gamepad:
        return
    looks = round(view_heading(session.scene), 2), session.led
    if looks != session.looks:
        session.looks = looks
        session.send({"ask": "view", "value": looks[0], "character": looks[1]})


def _lead_to_goal(session: RunningSession) -> None:
    """Steer who is led to the object that it is to go after, wherever that is moved."""
    scene, led = bpy.data.scenes[session.scene], session.led
    goal = scene.sinew.live_goal
    if goal is None or session.pose is None or session.layout is None or not session.steered[led]:
        return
    place = session.layout.split(session.pose.numbers)[0][led][0][0]
    velocity = towards_goal(place, goal, session.rigs[0].metres_per_unit)
    if np.abs(np.subtract(velocity, session.heading)).max() > _OTHER_M_S:
        session.heading = velocity
        command = {"do": "steer", "character": led, "velocity": list(velocity)}
        session.send(command | ({"style": session.style[led]} if session.style.get(led) else {}))


def _is_shown(session: RunningSession) -> bool:
    """Whether the session's scene is there and a window shows it."""
    if session.scene not in bpy.data.scenes:
        return False
    windows = bpy.context.window_manager.windows
    if bpy.app.background or not len(windows):
        return bpy.context.scene.name == session.scene
    return any(window.scene.name == session.scene for window in windows)


def _hear(session: RunningSession, told: Mapping[str, Any]) -> None:
    """Take what the worker says; what it says wrong is an error that ends the session."""
    kind, view = told.get("kind"), session.view
    if kind == "preparing":
        step, total = told.get("step"), told.get("total")
        if isinstance(step, int) and isinstance(total, int) and total > 0:
            view.said = f"Getting ready: {min(100 * step // total, 100)} %"
            reports.redraw()
    elif kind == "ready":
        _begin_to_show(session, told)
    elif kind == "refused":
        reports.report_to_user(f"{told.get('message')}. {told.get('hint')}", "WARNING")
    elif kind == "failed":
        raise JobError(str(told.get("message"))[:500], str(told.get("hint"))[:500])
    elif kind == "recording" and isinstance(told.get("text"), str):
        session.recording = parse_recording(told["text"], "The recording")
        session.recorded_state = str(told.get("state_sha256"))
        view.recorded = True
        reports.redraw()


def _begin_to_show(session: RunningSession, told: Mapping[str, Any]) -> None:
    """Everything is ready: from now on poses are shown."""
    try:
        bones = [tuple(map(str, one["bones"])) for one in told["characters"]]
        session.links = tuple(tuple(map(str, one["links"])) for one in told["characters"])
        session.masses = tuple(float(one["mass"]) for one in told["characters"])
        session.steered = tuple(bool(one["steered"]) for one in told["characters"])
        session.styles = tuple(tuple(map(str, one["styles"])) for one in told["characters"])
        session.props = tuple(map(str, told["props"]))
        obstacles = tuple(map(str, told["obstacles"]))
        session.gamepad = str(told.get("gamepad", ""))
    except (KeyError, TypeError, ValueError) as error:
        raise JobError(f"The live worker says nothing of {error}", "Start it again") from error
    if len(bones) != len(session.armatures):
        raise JobError(f"The live worker has {len(bones)} characters", "Start it again")
    session.layout = PoseLayout(tuple(map(len, bones)), len(session.props))
    for name, names, rig in zip(session.armatures, bones, session.rigs, strict=True):
        obj = bpy.data.objects.get(name)
        if obj is None:
            raise JobError(f"There is no armature '{name}' any more", "Choose another one")
        session.posers.append(ArmaturePoser(obj, names, rig.metres_per_unit))
    session.hands = MovedThings(obstacles, session.rigs[0].metres_per_unit)
    session.view.ready, session.view.said = True, "Live"
    reports.redraw()


def _show(session: RunningSession, pose: PoseMessage) -> bool:
    """Show a pose; False if an armature is not there."""
    assert session.layout is not None
    if len(pose.numbers) != session.layout.size:
        raise JobError("A live pose has another size than was agreed upon", "Start the live session again")
    characters, props, muscle, pull = session.layout.split(pose.numbers)
    if not all(poser.apply(*one) for poser, one in zip(session.posers, characters, strict=True)):
        return False
    assert session.hands is not None
    for name, row in zip(session.props, props, strict=True):
        if row[7] > 0.5:
            if not session.hands.is_held(name, pose.seen):
                _place(session, name, row)
                session.hands.note(name)
        elif name in session.made:  # begun anew: it waits again until it is asked for
            session.made = tuple(one for one in session.made if one != name)
            remove_things((name,))
    _follow(session, characters[session.led][0][0])
    session.view.frame, session.pull = pose.frame, pull
    session.view.limp = bool(muscle[session.led] < 0.5)
    if session.given is not None and pose.seen >= session.given[0]:
        session.late_s.append(time.perf_counter() - session.given[1])
        session.undrawn, session.given = session.given[1], None
    if time.monotonic() - session.panel_s > _PANEL_S:
        session.panel_s = time.monotonic()
        redraw_viewports()
    else:
        redraw_views()
    return True


def _follow(session: RunningSession, root: np.ndarray) -> None:
    """Let 3D views go along with somebody's first bone (3,), in metres; level, for steps would shake them."""
    place = root.astype(float) * (1.0, 1.0, 0.0) / session.rigs[0].metres_per_unit
    before, session.seen_at = session.seen_at, place
    if before is not None and session.view.follows and np.linalg.norm(place - before) > 0.0:
        shift_views(session.scene, place - before)


def _place(session: RunningSession, name: str, row: np.ndarray) -> None:
    """Show a prop where it is; the balls and boxes of the session are made when they are first seen."""
    metres = session.rigs[0].metres_per_unit
    obj = bpy.data.objects.get(name)
    if obj is None:
        obj = ensure_thing(name, metres)
        if obj is None:
            return
        session.made = (*session.made, name)
    elif name not in session.saved_props and name not in session.made:
        session.saved_props[name] = obj.matrix_world.copy()
    place = (row[:3].astype(float) / metres).tolist()
    obj.matrix_world = Matrix.LocRotScale(
        place, Quaternion(row[3:7].astype(float).tolist()), obj.matrix_world.to_scale()
    )


@persistent
def _on_load(_path: str) -> None:
    expect_no_session()
    end_session()


@persistent
def _on_save(_path: str) -> None:
    """What is saved is as it was before, not a moment of the session; the next tick shows that again."""
    session = running()
    if session is not None:
        for poser in session.posers:
            poser.restore_pose()


def register() -> None:
    """End sessions with the file."""
    bpy.app.handlers.load_pre.append(_on_load)
    bpy.app.handlers.save_pre.append(_on_save)


def unregister() -> None:
    """End the session."""
    expect_no_session()
    end_session()
    if bpy.app.timers.is_registered(tick_live):
        bpy.app.timers.unregister(tick_live)
    bpy.app.handlers.load_pre.remove(_on_load)
    bpy.app.handlers.save_pre.remove(_on_save)
