# SPDX-License-Identifier: GPL-3.0-or-later
"""For flips, kicks and landings."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.gains = "stunts"
body.muscle = 1.0
