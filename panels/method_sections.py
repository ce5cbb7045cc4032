# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels of all families of methods draw alike: learning, what was learned, baking from it and testing it."""

from collections.abc import Callable, Sequence

import bpy

from ..bridge.jobs.job_views import JobView
from ..bridge.jobs.scene_request import settings_group_of
from ..bridge.methods.adapter import FamilyAdapter
from ..bridge.methods.declared import Product
from ..bridge.scene.report_lines import fit_line
from ..bridge.setup import readiness
from .advanced import draw_method_settings, draw_rare
from .drawing import folded, message_box, paragraph, progress_bar, write_line
from .job_buttons import draw_doing

Draw = Callable[[bpy.types.UILayout], None]


def draw_settings(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    adapter: FamilyAdapter,
    product: Product,
    without: Sequence[str] = (),
) -> None:
    """The settings of one of the family's methods, in the order in which they were declared."""
    method = adapter.method(product).name
    names = [name for name in adapter.drawn_settings(product) if name not in without]
    draw_method_settings(layout, context.scene, method, settings_group_of(context.scene, method), names)


def draw_learn_settings(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    adapter: FamilyAdapter,
    obj: bpy.types.Object,
    title: str,
    panel: str,
    more: Sequence[tuple[str, str]] = (),
    without: Sequence[str] = (),
) -> None:
    """A closed sub-panel with how it is learned. more: (property, placeholder) of the family's own group."""
    header, body = layout.panel(panel, default_closed=True)
    write_line(header, title)
    if body is None:
        return
    draw_settings(body, context, adapter, Product.LEARNED_FILE, without)
    if adapter.method(Product.LEARNED_FILE).uses_engine:
        draw_rare(body, context.scene, context.scene.sinew, ("engine",))
    own = adapter.group(obj)
    draw_rare(body, context.scene, own, ("seed",))
    for name, placeholder in more:
        body.prop(own, name, placeholder=fit_line(placeholder))


def draw_learn_button(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    adapter: FamilyAdapter,
    obj: bpy.types.Object,
    watching: Draw = lambda _: None,
) -> None:
    """What is missing, then the button, or how far it is. watching: what is drawn besides while it learns."""
    method, scene = adapter.method(Product.LEARNED_FILE), context.scene
    lacking = readiness.lacks_learning() if "torch" in method.packages else None
    if lacking:
        box = layout.box()
        folded(box, context, f"SINEW_PT_{method.name}_lacks", (lacking.message, lacking.hint), icon="INFO", shown=1)
        box.operator("sinew.install_missing", icon="IMPORT")
    view = adapter.learning_view(obj)
    if view is not None and view.alive:
        _draw_progress(layout, context, adapter, view)
        watching(layout)
        return
    if reason := adapter.why_not_learn(scene):
        paragraph(layout, context, reason, icon="INFO")
    button = layout.column(align=True)
    button.scale_y = 1.4
    if method.stops_early and view is not None and view.resumable and view.fraction > 0.0:
        button.operator("sinew.resume", text=fit_line(f"Go On From {view.fraction:.0%}"), icon="PLAY").job = view.id
    button.operator(f"sinew.{method.name}", icon="PLAY")


def _draw_progress(
    layout: bpy.types.UILayout, context: bpy.types.Context, adapter: FamilyAdapter, view: JobView
) -> None:
    progress_bar(layout, view)
    if adapter.method(Product.LEARNED_FILE).stops_early and view.state == "running":
        layout.operator(f"sinew.{adapter.family.name}_finish", icon="CHECKMARK").job = view.id
    draw_doing(layout, context, view)


def draw_problem(
    layout: bpy.types.UILayout, context: bpy.types.Context, adapter: FamilyAdapter, obj: bpy.types.Object
) -> None:
    """What went wrong last."""
    if problem := adapter.problem_of(obj.name):
        message_box(layout, context, problem.message, problem.hint, is_error=True)


def draw_learned(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    adapter: FamilyAdapter,
    obj: bpy.types.Object,
    about: Draw | None = None,
    besides: Draw = lambda _: None,
) -> bool:
    """The learned file, what is in it, and its verbs; True if it can be played.

    about: draws what is in it, else its sentences are drawn. besides: verbs of the family's own.
    """
    layout.separator()
    layout.prop(adapter.group(obj), "file", placeholder="Not learned yet")
    if adapter.file.path_of(obj) is None:
        return False
    view = adapter.file.view_of(obj)
    if view.is_reading:
        paragraph(layout, context, "The file is being read", icon="SORTTIME")
        return False
    if view.problem is not None:
        message_box(layout, context, view.problem.message, view.problem.hint, is_error=True)
        return False
    box = layout.box()
    if about is not None:
        about(box)
    else:
        folded(box, context, f"SINEW_PT_{adapter.family.name}_about", view.sentences, icon="CHECKMARK")
    besides(layout)
    if adapter.family.method(Product.REPORT) is not None:
        layout.operator(f"sinew.{adapter.method(Product.REPORT).name}", icon="VIEWZOOM")
    if adapter.file.is_elsewhere(obj):
        layout.operator(f"sinew.{adapter.family.name}_bring_along", icon="FILE_FOLDER")
    return True


def draw_bake_button(layout: bpy.types.UILayout, context: bpy.types.Context, adapter: FamilyAdapter) -> None:
    """Where the result goes, what is missing, and the button."""
    draw_rare(layout, context.scene, context.scene.sinew, ("place",))
    if reason := adapter.why_not_bake(context.scene):
        paragraph(layout, context, reason, icon="INFO")
    button = layout.column()
    button.scale_y = 1.4
    button.operator(f"sinew.{adapter.method(Product.TAKE).name}", icon="ACTION_TWEAK")
