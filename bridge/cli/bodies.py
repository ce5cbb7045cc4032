# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command line says about the body, the same for every verb that simulates."""

import argparse
from collections.abc import Sequence

from ...core.body.presets import body_presets, gain_presets
from ...core.errors import BadSettings
from ..bodies import BodyRequest


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
        metavar="NAME=ROLE",
        help="what a bone is, such as Hips=pelvis, LeftUpLeg=thigh.L, Cape=ride or Twist=merge; may be repeated",
    )


def body_of(arguments: argparse.Namespace) -> BodyRequest:
    """What was asked of the body, checked before anything is opened."""
    body = BodyRequest(
        arguments.body,
        arguments.gains,
        arguments.mass,
        False if arguments.no_mesh else None,
        _overrides(arguments.bone),
    )
    body.checked()  # now, before anything is opened
    return body


def _overrides(texts: Sequence[str]) -> dict[str, str]:
    """Bone -> role; a bone's name may hold anything, a role no '='."""
    found = {}
    for text in texts:
        bone, _, role = text.rpartition("=")
        if not (bone and role):
            raise BadSettings(f"'{text}' says not which bone is what", "Write --bone NAME=ROLE, such as Hips=pelvis")
        found[bone] = role
    return found
