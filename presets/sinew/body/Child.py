# SPDX-License-Identifier: GPL-3.0-or-later
"""A child who walks, runs and dances."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.preset = "child"
body.gains = "athlete"
body.mass_kg = 0.0
