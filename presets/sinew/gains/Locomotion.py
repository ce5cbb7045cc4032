# SPDX-License-Identifier: GPL-3.0-or-later
"""No stronger than calm walking and running need."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.gains = "locomotion"
body.muscle = 1.0
