# SPDX-License-Identifier: GPL-3.0-or-later
"""Equally stiff everywhere, for motions that fit nothing else."""

import bpy

body = bpy.context.scene.sinew.armature.sinew_body

body.gains = "uniform"
body.muscle = 1.0
