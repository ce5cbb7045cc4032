# SPDX-License-Identifier: GPL-3.0-or-later
"""``--push`` of what is played rather than followed."""

import argparse

from ...core.sim.trunk_push import PUSH_S


def add_trunk_pushes(parser: argparse.ArgumentParser) -> None:
    """Declare ``--push``."""
    parser.add_argument(
        "--push",
        action="append",
        default=[],
        metavar="N@S[:SIDE]",
        help=f"push the trunk with N newtons at S seconds for {PUSH_S:g} s, from front, back, left or right as it "
        "stands when it begins (default back); repeatable",
    )
