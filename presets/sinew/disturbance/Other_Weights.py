# SPDX-License-Identifier: GPL-3.0-or-later
"""No pushes: the character is up to a fifth heavier or lighter, but no stronger."""

import bpy

variations = bpy.context.scene.sinew.variations

variations.least_n = 0.0
variations.most_n = 0.0
variations.side = "any"
variations.duration_s = 0.2
variations.earliest = 0.1
variations.latest = 0.6
variations.throw = False
variations.mass = 0.2
variations.friction = 0.0
variations.gravity = 0.0
