# SPDX-License-Identifier: GPL-3.0-or-later
"""A grown person who is equally stiff everywhere, for motions that fit neither."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.preset = "adult"
body.gains = "uniform"
body.mass_kg = 0.0
