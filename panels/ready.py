# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sinew is ready for, and the one button for what it is not."""

import bpy

from ..bridge.methods.declared import Source, families
from ..bridge.scene.report_lines import fit_line
from ..bridge.setup import installing, readiness
from ..bridge.setup.installing import InstallationView
from ..bridge.setup.preferences import ROOT_PACKAGE
from ..bridge.setup.readiness import Readiness
from .drawing import SidebarPanel, paragraph, write_line

_NAMES = {"mujoco": "MuJoCo", "torch": "PyTorch", "numpy": "NumPy", "scipy": "SciPy", "ray": "Ray"}
_SIZE = {"torch": 200, "mujoco": 10, "scipy": 36, "ray": 80}  # megabytes to download, about


class SINEW_PT_ready(SidebarPanel, bpy.types.Panel):
    """Say what can be done on this machine, and offer what is missing."""

    bl_idname = "SINEW_PT_ready"
    bl_label = "Ready"
    bl_options = {"HIDE_HEADER"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw one line where all is ready, else what is and what is not."""
        layout, known, install = self.layout, readiness.current_readiness(), installing.current_installation()
        if known is None:
            layout.label(text="Looking at what is ready...", icon="TIME")
        elif known.learns and not installing.is_installing() and "ray" not in known.missing:
            row = layout.row()
            on = f" on {known.cluster}" if known.cluster else ""
            write_line(row, f"Ready to simulate and to learn{on}", icon="CHECKMARK")
            row.operator("sinew.try_mannequin", text="", icon="ARMATURE_DATA")
            _draw_switch(layout, context)
            return
        elif known.simulates:
            write_line(layout, f"Simulate: ready, with {known.engine}", icon="CHECKMARK")
        else:
            layout.label(text="Simulate: needs MuJoCo", icon="X")
        if known is None or known.simulates:  # the first thing to press; what is missing can wait
            button = layout.column()
            button.scale_y = 1.3
            button.operator("sinew.try_mannequin", icon="ARMATURE_DATA")
        if known is not None:
            _draw_learning(layout, context, known)
            _draw_cluster(layout, known)
            _draw_missing(layout, context, known, install)
        _draw_switch(layout, context)


def _draw_switch(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """What is for the whole tab."""
    row = layout.row(align=True)
    row.prop(context.scene.sinew, "show_advanced", toggle=True, icon="OPTIONS")
    row.operator("sinew.add_street", text="", icon="WORLD")
    row.operator("sinew.open_help", text="", icon="HELP")


def _draw_learning(layout: bpy.types.UILayout, context: bpy.types.Context, known: Readiness) -> None:
    """What learns with the engine alone, and whose training needs more: not all that is learned needs PyTorch."""
    if known.learns:  # and something else is being installed
        write_line(layout, f"Learn: ready, with {known.learner}", icon="CHECKMARK")
    elif known.simulates:
        ready, lacking = _learners()
        write_line(layout, f"{', '.join(ready)}: ready", icon="CHECKMARK")
        paragraph(layout, context, f"{', '.join(lacking)}: needs PyTorch", icon="RADIOBUT_OFF")


def _draw_cluster(layout: bpy.types.UILayout, known: Readiness) -> None:
    """Where jobs go to a cluster: whether they can."""
    if known.cluster:
        write_line(layout, f"On a cluster: ready, with {known.cluster}", icon="CHECKMARK")
    elif "ray" in known.missing:
        layout.label(text="On a cluster: needs Ray", icon="X")


def _learners() -> tuple[list[str], list[str]]:
    """Panels that work without PyTorch, and what does not: a panel, or the training of a file that plays untrained."""
    ready, lacking = [], []
    for family in families():
        if family.is_example:
            continue
        trains = family.learn is not None and "torch" in family.learn.packages
        plays_untrained = trains and family.learn.takes is Source.LEARNED_FILE
        if not trains or plays_untrained:
            ready.append(family.label)
        if trains:
            lacking.append(f"training in {family.label}" if plays_untrained else family.label)
    return ready, lacking


def _draw_missing(
    layout: bpy.types.UILayout, context: bpy.types.Context, known: Readiness, install: InstallationView | None
) -> None:
    if install is not None and install.state == "running":
        _draw_progress(layout, install)
        return
    if install is not None and install.state in ("failed", "cancelled"):
        paragraph(layout, context, install.doing, icon="ERROR", alert=install.state == "failed")
        if install.fix:
            paragraph(layout, context, install.fix, icon="BLANK1")
        if install.state == "failed":
            layout.operator("wm.path_open", text="Open the Log", icon="TEXT").filepath = str(installing.log_path())
    if known.problem:
        paragraph(layout, context, known.problem, icon="ERROR", alert=True)
    if known.missing and not installing.may_go_online():
        said = f"To install {_names(known.missing)}, Blender must be allowed to go online"
        paragraph(layout, context, said, icon="INTERNET_OFFLINE")
    row = layout.row(align=True)
    if known.missing and installing.may_go_online():
        row.operator("sinew.install_missing", text=fit_line(_offer(known.missing)), icon="IMPORT")
    elif known.missing:
        row.operator("extensions.userpref_allow_online", text="Allow Online Access", icon="INTERNET")
    words = "" if known.missing else "Use Another Python"
    row.operator("preferences.addon_show", text=fit_line(words), icon="PREFERENCES").module = ROOT_PACKAGE
    row.operator("sinew.check_ready", text="", icon="FILE_REFRESH")


def _draw_progress(layout: bpy.types.UILayout, install: InstallationView) -> None:
    row = layout.row(align=True)
    if install.part is None:
        write_line(row, install.doing, icon="IMPORT")
    else:
        row.progress(factor=install.part, text=fit_line(install.doing))
    row.operator("sinew.install_cancel", text="", icon="X")
    layout.operator("wm.path_open", text="Open the Log", icon="TEXT").filepath = str(installing.log_path())


def _offer(missing: tuple[str, ...]) -> str:
    size = sum(_SIZE.get(name, 1) for name in missing)
    return f"Install {_names(missing)} (about {size} MB)"


def _names(missing: tuple[str, ...]) -> str:
    """The large ones by name; the small ones come with them unless they are all there is."""
    shown = [_NAMES[name] for name in missing if name in ("mujoco", "torch", "ray")]
    return " and ".join(shown or [_NAMES.get(name, name) for name in missing])
