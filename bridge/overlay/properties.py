# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown over the scene, kept in the scene as ``scene.sinew_overlay``."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty

from ..scene.viewport import redraw_viewports

# The numbers stand in files.
_TINTS = (
    ("MASS", "Mass", "Light parts are blue, heavy ones orange", 0),
    ("PLAIN", "Plain", "All parts in one colour", 1),
)


class SINEW_PG_overlay(bpy.types.PropertyGroup):
    """What Sinew draws over the scene in every viewport that shows overlays."""

    show: BoolProperty(
        name="Overlay",
        description="Show bodies, balance, contacts and more over the scene",
        options=set(),
        update=redraw_viewports,
    )
    body: BoolProperty(
        name="Body",
        description="Show the shapes that collide, of the chosen armature and of the others marked as characters",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    tint: EnumProperty(
        items=_TINTS, name="Colour", description="What the parts' colours mean", options=set(), update=redraw_viewports
    )
    opacity: FloatProperty(
        name="Opacity",
        description="How much of the scene the body hides",
        default=0.5,
        min=0.05,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        update=redraw_viewports,
    )
    in_front: BoolProperty(
        name="In Front",
        description="Show it through the character's skin and everything else",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    joint: BoolProperty(
        name="Active Joint",
        description="Show the axis of the active bone's joint, how far it goes and where it is; in Pose Mode",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    handles: BoolProperty(
        name="Handles",
        description="Show arrows to pull on at the active bone's part, where it has a shape by hand; in Pose Mode",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    balance: BoolProperty(
        name="Centre of Mass",
        description="Show the body's centre of mass, and where it is above the ground",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    contacts: BoolProperty(
        name="Contacts",
        description="Show what touches the ground or something else in a simulated take",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    bounds: BoolProperty(
        name="Bounds",
        description="Show how far the chosen character may be from its motion at this frame, when it is trained",
        options=set(),
        update=redraw_viewports,
    )
    pushes: BoolProperty(
        name="Pushes",
        description="Show pushes on the bones that they act on, faint before and after they do",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    ghost: BoolProperty(
        name="Source as Ghost",
        description="Show the motion that a take was made from beside the take",
        options=set(),
        update=redraw_viewports,
    )
    rehearsal: BoolProperty(
        name="What It Learns",
        description="While a motion is trained, show what the policy does by now, beside the character; and what a "
        "simulation has found by now, also where the overlay is off",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    cues: BoolProperty(
        name="Cues",
        description="Show the key poses of a character with cues: as its take does them, or as its library has them",
        default=True,
        options=set(),
        update=redraw_viewports,
    )
    ghost_distance: FloatProperty(
        name="Distance (m)",
        description="How far to the character's side the ghost stands, in metres, and what it learns to the other; 0 "
        "for the same place",
        default=1.0,
        soft_min=-3.0,
        soft_max=3.0,
        min=-100.0,
        max=100.0,
        options=set(),
        update=redraw_viewports,
    )


def register() -> None:
    """Give every scene its ``sinew_overlay``."""
    bpy.utils.register_class(SINEW_PG_overlay)
    bpy.types.Scene.sinew_overlay = PointerProperty(
        type=SINEW_PG_overlay, name="Overlay", description="What Sinew draws over the scene"
    )


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    del bpy.types.Scene.sinew_overlay
    bpy.utils.unregister_class(SINEW_PG_overlay)
