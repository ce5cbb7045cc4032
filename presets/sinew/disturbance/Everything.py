# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes, weight, friction and gravity, all a little."""

import bpy

variations = bpy.context.scene.sinew.variations

variations.least_n = 50.0
variations.most_n = 200.0
variations.side = "any"
variations.duration_s = 0.2
variations.earliest = 0.1
variations.latest = 0.6
variations.throw = False
variations.mass = 0.1
variations.friction = 0.3
variations.gravity = 0.05
