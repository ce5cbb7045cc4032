# SPDX-License-Identifier: GPL-3.0-or-later
"""A grown person who walks, runs and dances."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.preset = "adult"
body.gains = "athlete"
body.mass_kg = 0.0
