# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes of 50 to 200 N from anywhere, as the panel has them at first."""

import bpy

variations = bpy.context.scene.sinew.variations

variations.least_n = 50.0
variations.most_n = 200.0
variations.side = "any"
variations.duration_s = 0.2
variations.earliest = 0.1
variations.latest = 0.6
variations.throw = False
variations.mass = 0.0
variations.friction = 0.0
variations.gravity = 0.0
