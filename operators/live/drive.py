# SPDX-License-Identifier: GPL-3.0-or-later
"""Take hold of the chosen character while it is simulated."""

import time

import bpy

from ...bridge.jobs import preparing
from ...bridge.live import hands, hints, running, shortcut, verbs
from ...bridge.live.recipes import session_recipe, why_not_live
from ...bridge.scene.report_lines import fit_line, report_line
from ...bridge.scene.viewport import redraw_viewports
from ...core.errors import SinewError
from ..reporting import report_outcome, waiting

_KEYS = {
    "SPACE": "PAUSE",
    "L": "LIMP",
    "R": "RESET",
    "J": "BACK",
    "MINUS": "SLOWER",
    "NUMPAD_MINUS": "SLOWER",
    "EQUAL": "FASTER",
    "PLUS": "FASTER",
    "NUMPAD_PLUS": "FASTER",
    "C": "FOLLOW",
    "RET": "RECORD",
    "NUMPAD_ENTER": "RECORD",
}
_REPEATED = ("J",)
_CLICK_PIXELS, _CLICK_S = 4, 0.4  # a press that goes no further and lasts no longer is a click


class SINEW_OT_live(bpy.types.Operator):
    """Let the chosen Action run as a simulation that can be pushed, dragged and thrown at while it plays."""

    bl_idname = "sinew.live"
    bl_label = "Start Live"
    bl_options = {"REGISTER", "INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something is chosen, and nobody is live yet."""
        why = "Somebody is live already: stop that first" if running.running() else why_not_live(context.scene)
        if why:
            cls.poll_message_set(fit_line(why))
        return not why

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: get ready in slices of time, and listen to keys and mouse from now on."""
        try:
            recipe = session_recipe(context.scene)
            preparing.begin_preparation(recipe, context.scene, lambda error: running.note_failure(str(error)))
        except SinewError as error:
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        running.expect_session()
        hints.show_hints()
        self._held: tuple[int, str] | None = None
        self._pressed = (0.0, 0.0, 0.0)
        self._arrows: frozenset[str] = frozenset()
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Get ready here and now, for a script: it drives with ``sinew.live_do``."""
        try:
            with waiting(context):
                outcome = preparing.do_at_once(session_recipe(context.scene), context.scene)
        except SinewError as error:
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        report_outcome(self, outcome)
        return {"FINISHED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Keys and mouse of the session; everything else is Blender's."""
        session = running.running()
        if session is None:
            if running.is_expected():
                return self._stop() if event.type == "ESC" or shortcut.is_stop(event) else {"PASS_THROUGH"}
            return self._stop()
        if (event.type == "ESC" and event.value == "PRESS") or shortcut.is_stop(event):
            return self._stop()
        region, view = _view_under(context, event)
        if region is None or not session.view.ready:
            return {"PASS_THROUGH"}
        mouse = (event.mouse_x - region.x, event.mouse_y - region.y)
        if event.type in ("LEFTMOUSE", "MOUSEMOVE"):
            return self._drag(session, region, view, mouse, event)
        if session.steered[session.led] and self._steer(session, view, event):
            return {"RUNNING_MODAL"}
        if event.value != "PRESS" or event.ctrl or event.alt or event.oskey:
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"} if _press(session, region, view, mouse, event) else {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator, as with its file."""
        self._stop()

    def _steer(self, session: running.RunningSession, view: bpy.types.RegionView3D, event: bpy.types.Event) -> bool:
        """Arrows, Shift and the numbers of styles; whether it was one of them."""
        is_down, chosen = event.value == "PRESS", event.type in hands.STYLE_KEYS and event.value == "PRESS"
        if event.type in hands.ARROWS:
            self._arrows = hands.press_arrow(self._arrows, event.type, is_down)
        elif chosen and not event.is_repeat:
            hands.choose_style(session, event.type)
        elif event.type not in ("LEFT_SHIFT", "RIGHT_SHIFT") or not self._arrows:
            return False
        if not event.is_repeat:
            session.send(hands.steer_command(session, view, self._arrows, event.shift))
        return True

    def _drag(
        self,
        session: running.RunningSession,
        region: bpy.types.Region,
        view: bpy.types.RegionView3D,
        mouse: tuple[float, float],
        event: bpy.types.Event,
    ) -> set[str]:
        """Press near a bone, move, let go; or click on it: that pushes, with Shift throws and with Ctrl drops."""
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            held = hands.find_bone(session, region, view, mouse)
            if held is not None and (event.shift or event.ctrl):
                command = hands.ball_command if event.shift else hands.box_command
                session.send(command(session, region, view, mouse))
                return {"RUNNING_MODAL"}
            self._held, self._pressed = held, (*mouse, time.monotonic())
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE" and self._held is not None:
            return self._let_go(session, view, mouse, self._held)
        if self._held is None:
            return {"PASS_THROUGH"}
        command = hands.drag_command(session, region, view, mouse, self._held)
        metres = session.rigs[0].metres_per_unit
        to = [part / metres for part in command["to"]]
        hints.held.update(character=self._held[0], bone=self._held[1], to=to)
        session.send(command)
        return {"RUNNING_MODAL"}

    def _let_go(
        self,
        session: running.RunningSession,
        view: bpy.types.RegionView3D,
        mouse: tuple[float, float],
        held: tuple[int, str],
    ) -> set[str]:
        """Nothing is dragged any more; what was only clicked at is pushed."""
        session.send({"do": "release", "character": held[0]})
        x, y, pressed_s = self._pressed
        far = max(abs(mouse[0] - x), abs(mouse[1] - y))
        if far <= _CLICK_PIXELS and time.monotonic() - pressed_s < _CLICK_S:
            session.send(hands.push_command(session, view, held))
        self._held = None
        hints.held.clear()
        return {"RUNNING_MODAL"}

    def _stop(self) -> set[str]:
        hints.hide_hints()
        running.expect_no_session()
        running.end_session()
        return {"FINISHED"}


def _press(
    session: running.RunningSession,
    region: bpy.types.Region,
    view: bpy.types.RegionView3D,
    mouse: tuple[float, float],
    event: bpy.types.Event,
) -> bool:
    """Do what a key says; whether it says anything."""
    if event.type in _KEYS:
        if not event.is_repeat or event.type in _REPEATED:
            verbs.do_verb(session, "FORTH" if event.type == "J" and event.shift else _KEYS[event.type])
    elif event.type == "F":
        held = hands.find_bone(session, region, view, mouse)
        if held is not None:
            session.send(hands.push_command(session, view, held, 2.0 if event.shift else 1.0))
    elif event.type in ("B", "V"):
        command = hands.ball_command if event.type == "B" else hands.box_command
        if not event.is_repeat:
            session.send(command(session, region, view, mouse))
    else:
        return False
    redraw_viewports()  # the sidebar says how it stands, also where no pose comes any more
    return True


def _view_under(
    context: bpy.types.Context, event: bpy.types.Event
) -> tuple[bpy.types.Region | None, bpy.types.RegionView3D | None]:
    """The 3D view under the mouse."""
    for area in context.window.screen.areas if context.window else ():
        if area.type != "VIEW_3D":
            continue
        for region in area.regions:
            inside = 0 <= event.mouse_x - region.x < region.width and 0 <= event.mouse_y - region.y < region.height
            if inside and region.type in ("UI", "HEADER", "TOOLS", "TOOL_HEADER") and region.width > 1:
                return None, None
        for region in area.regions:
            inside = 0 <= event.mouse_x - region.x < region.width and 0 <= event.mouse_y - region.y < region.height
            if inside and region.type == "WINDOW":
                return region, area.spaces.active.region_3d
    return None, None
