# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes from behind alone."""

import bpy

variations = bpy.context.scene.sinew.variations

variations.least_n = 50.0
variations.most_n = 200.0
variations.side = "back"
variations.duration_s = 0.2
variations.earliest = 0.1
variations.latest = 0.6
variations.throw = False
variations.mass = 0.0
variations.friction = 0.0
variations.gravity = 0.0
