# SPDX-License-Identifier: GPL-3.0-or-later
"""Do something to who is live."""

import bpy
from bpy.props import EnumProperty

from ...bridge.live import hints, running, verbs
from ...bridge.scene.report_lines import report_line


class SINEW_OT_live_do(bpy.types.Operator):
    """Do this to the live character."""

    bl_idname = "sinew.live_do"
    bl_label = "Do Live"
    bl_options = {"REGISTER", "INTERNAL"}

    what: EnumProperty(name="What", description="What is done to who is live", items=verbs.VERBS, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Somebody is live."""
        session = running.running()
        if session is None:
            cls.poll_message_set("Nobody is live: Start Live first")
        return session is not None

    @classmethod
    def description(cls, context: bpy.types.Context, properties: "SINEW_OT_live_do") -> str:
        """Its own for each."""
        return next(verb[2] for verb in verbs.VERBS if verb[0] == properties.what)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Tell the worker."""
        session = running.running()
        if session is None:
            return {"CANCELLED"}
        if self.what == "STOP":
            hints.hide_hints()
            running.end_session()
            return {"FINISHED"}
        report_line(self, "INFO", verbs.do_verb(session, self.what))
        return {"FINISHED"}
