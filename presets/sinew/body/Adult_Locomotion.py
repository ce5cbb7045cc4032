# SPDX-License-Identifier: GPL-3.0-or-later
"""A grown person with no more strength than DeepMimic's humanoid has, for calm motions."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.preset = "adult"
body.gains = "locomotion"
body.mass_kg = 0.0
