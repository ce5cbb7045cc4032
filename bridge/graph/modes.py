# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be baked from a graph, and what each of it needs."""

# The numbers stand in files.
MODES = (
    ("SEQUENCE", "Sequence", "Skills in an order, each for a while", "SEQUENCE", 0),
    ("WALK", "Random Walk", "From skill to skill as the seed has it, each about equally", "FORCE_TURBULENCE", 1),
    ("PATH", "Along a Curve", "Goes along a curve by turning its gaits", "CURVE_PATH", 2),
    ("PUSHED", "Pushed Run", "Does one skill while the stage's pushes and projectiles come", "EMPTY_SINGLE_ARROW", 3),
    ("MEET", "Collision", "The characters on the stage run into each other, fall and get up", "CON_TRACKTO", 4),
)
