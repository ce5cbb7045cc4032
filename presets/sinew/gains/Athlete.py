# SPDX-License-Identifier: GPL-3.0-or-later
"""As strong as trained people who run, jump and land."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.gains = "athlete"
body.muscle = 1.0
