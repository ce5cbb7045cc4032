# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command line says about the body, the same for every verb that simulates."""

import argparse

from ...core.body.presets import body_presets, gain_presets
from ..body.body_inputs import BodyRequest
from .bone_texts import read_bones


def add_body(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that are about the body."""
    add = parser.add_argument
    add("--body", metavar="PRESET", help=f"one of: {', '.join(body_presets())}; the armature's own if left out")
    add("--gains", metavar="NAME", help=f"muscles: one of: {', '.join(gain_presets())}; the armature's own if left out")
    add("--mass", type=float, metavar="KG", help="what the body weighs; what its mesh or preset says if left out")
    add("--no-mesh", action="store_true", help="make the body from bones and tables, not from the mesh")
    add(
        "--bone",
        action="append",
        default=[],
        metavar="NAME=WORDS",
        help="what a bone is, such as Hips=pelvis, LeftUpLeg=thigh.L, Cape=ride or Twist=merge; and what its part is "
        "like: shape:box, size:0.1x0.2x0.1 (m), offset:0x0.02x0 (m), mass:4 (kg), limits:-5:140 (degrees), "
        "stiffness:0.5, several with commas: Shin=shin.L,mass:4; may be repeated",
    )


def body_of(arguments: argparse.Namespace) -> BodyRequest:
    """What was asked of the body, checked before anything is opened."""
    body = BodyRequest(
        arguments.body,
        arguments.gains,
        arguments.mass,
        False if arguments.no_mesh else None,
        *read_bones(arguments.bone),
    )
    body.checked()  # now, before anything is opened
    return body
