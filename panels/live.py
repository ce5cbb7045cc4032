# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: the buttons of a running session, and how it stands."""

import bpy

from ..bridge.jobs.scene_request import settings_group_of
from ..bridge.live.running import running
from ..bridge.live.verbs import name_speed
from ..bridge.scene.report_lines import fit_line
from .drawing import SidebarPanel, write_line


class SINEW_PT_live(SidebarPanel, bpy.types.Panel):
    """Take hold of the character while it is simulated: push it, drag it, throw things, record it."""

    bl_idname = "SINEW_PT_live"
    bl_parent_id = "SINEW_PT_happens"
    bl_label = "Live"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw settings and the one button, or what can be done while it runs."""
        layout, session = self.layout, running()
        layout.use_property_split = True
        layout.use_property_decorate = False
        if session is None:
            settings = settings_group_of(context.scene, "live")
            for name in ("plays", *(("quality", "at_end") if settings.plays == "action" else ())):
                layout.prop(settings, name)
            if settings.plays != "action":
                layout.prop(context.scene.sinew, "live_goal")
            button = layout.column()
            button.scale_y = 1.3
            button.operator("sinew.live", icon="HAND")
            layout.operator("sinew.live_again", icon="FILE_REFRESH")
            return
        view = session.view
        write_line(layout, f"Live: {view.frame / 60.0:.1f} s" if view.ready else view.said)
        layout.operator("sinew.live_do", text="Stop", icon="X").what = "STOP"
        if not view.ready:
            return
        row = layout.row(align=True)
        pause = row.operator("sinew.live_do", text="Go On" if view.paused else "Pause", icon="PAUSE")
        pause.what = "PAUSE"
        row.operator("sinew.live_do", text="Back", icon="REW").what = "BACK"
        row.operator("sinew.live_do", text="Forth", icon="FF").what = "FORTH"
        row.operator("sinew.live_do", text="Reset", icon="LOOP_BACK").what = "RESET"
        layout.prop(context.window_manager, "sinew_live_second")
        row = layout.row(align=True)
        row.operator("sinew.live_do", text="Slower", icon="REMOVE").what = "SLOWER"
        row.operator("sinew.live_do", text="Faster", icon="ADD").what = "FASTER"
        if view.speed != 1.0:
            write_line(layout, f"Time goes: {name_speed(view.speed)}")
        layout.operator(
            "sinew.live_do", text="View Stays" if view.follows else "View Follows", icon="VIEW_PAN"
        ).what = "FOLLOW"
        row = layout.row(align=True)
        for what, text in (("PUSH", "Push"), ("BALL", "Ball"), ("BOX", "Box"), ("LIMP", "Limp")):
            row.operator("sinew.live_do", text=fit_line(text)).what = what
        recording = "Stop Recording" if view.recording else "Record"
        layout.operator("sinew.live_do", text=fit_line(recording), icon="REC").what = "RECORD"
        if view.recorded:
            layout.operator("sinew.live_bake", icon="ACTION")
