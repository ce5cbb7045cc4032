# SPDX-License-Identifier: GPL-3.0-or-later
"""Read about it."""

import bpy

from ...bridge.setup import help_pages


class SINEW_OT_open_help(bpy.types.Operator):
    """Open the pages about Sinew in your browser. They came with it: no network is needed."""

    bl_idname = "sinew.open_help"
    bl_label = "Help"
    bl_options = {"REGISTER"}

    page: bpy.props.StringProperty(
        name="Page", description="Which page to open; empty for the first", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be pages."""
        if not help_pages.has_pages():
            cls.poll_message_set("The pages come with the zip; in a checkout read those in docs/")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave it to the browser."""
        bpy.ops.wm.url_open(url=help_pages.page_address(self.page))
        return {"FINISHED"}
