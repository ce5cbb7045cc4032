# SPDX-License-Identifier: GPL-3.0-or-later
"""A heavy person who flips, kicks and lands."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.preset = "heavy"
body.gains = "stunts"
body.mass_kg = 0.0
