# SPDX-License-Identifier: GPL-3.0-or-later
"""What the verbs about presets have in common: they are Blender's own, with undo, tooltips and reasons."""

import os
from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import BoolProperty, StringProperty

from ...bridge.scene.report_lines import report_line
from ...core.errors import BadFile, SinewError
from ..reporting import SaysWhyNot

_SHIPPED = Path(__file__).resolve().parents[2] / "presets"


def run_preset(filepath: str, menu: str) -> str:
    """Take what a preset's file says; gives the preset's name. Refuses a file that is gone or does not fit."""
    name = bpy.path.display_name(bpy.path.basename(filepath), title_case=False)
    if not os.path.isfile(filepath):
        raise BadFile(f"There is no preset '{name}' any more", "Choose another one")
    try:
        bpy.ops.script.execute_preset(filepath=filepath, menu_idname=menu)
    except RuntimeError as error:
        raise BadFile(f"Preset '{name}' cannot be used: {error}".strip(), "Remove it, and add it again") from error
    return name


class PresetUse(SaysWhyNot):
    """A part of an operator that uses a preset. Blender's own one for that can't be undone.

    preset_menu: the panel that lists the presets. what: the settings that are taken from one, as the report calls them.
    """

    bl_options = {"REGISTER", "UNDO", "INTERNAL"}
    preset_menu = ""
    what = ""

    filepath: StringProperty(
        name="File", description="The preset's file", subtype="FILE_PATH", options={"HIDDEN", "SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Run its file."""
        try:
            name = run_preset(self.filepath, self.preset_menu)
        except SinewError as error:
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        report_line(self, "INFO", f"{self.what}: {name}")
        return {"FINISHED"}


class PresetAdd(SaysWhyNot, AddPresetBase):
    """A part of an operator that keeps settings as a preset of the user's own, or removes one.

    Files are no part of a .blend, so there is nothing to undo.
    """

    bl_options = {"REGISTER", "INTERNAL"}

    # Blender's own, which have no tooltips.
    name: StringProperty(
        name="Name", description="What the preset is called in the menu", maxlen=64, options={"SKIP_SAVE"}
    )
    remove_name: BoolProperty(
        name="Remove", description="Remove the preset of that name instead", options={"HIDDEN", "SKIP_SAVE"}
    )
    remove_active: BoolProperty(
        name="Remove Active",
        description="Remove the preset that was used last instead",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Write or remove the file, unless it is Sinew's own; where Blender would do nothing, say why."""
        reason = self._why_not_name()
        if reason:
            report_line(self, "ERROR", reason)
            return {"CANCELLED"}
        return super().execute(context)

    def _why_not_name(self) -> str:
        removes = self.remove_name or self.remove_active
        name = getattr(bpy.types, self.preset_menu).bl_label if self.remove_active else self.name.strip()
        if not name:
            return "A preset needs a name: type one"
        found = self._found(name)
        if removes and found is None:
            return f"There is no preset '{name}': choose one of the menu"
        if removes and found.is_relative_to(_SHIPPED):
            return f"Preset '{name}' comes with Sinew and stays: only your own can be removed"
        if not removes and found is not None:
            return f"There is a preset '{name}' already: give another name, or remove that one first"
        return ""

    def _found(self, name: str) -> Path | None:
        """The file of the preset with that name, None if there is none."""
        for word, shown in ((self.as_filename(name), False), (name, False), (name, True)):
            if path := bpy.utils.preset_find(word, self.preset_subdir, display_name=shown):
                return Path(path).resolve()
        return None
