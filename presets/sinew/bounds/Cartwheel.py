# SPDX-License-Identifier: GPL-3.0-or-later
"""Centre of mass and root alone: a motion that is nearly impossible in any other way needs no more."""

import bpy

obj = bpy.context.scene.sinew.armature
bounds = obj.sinew_bounds
parts = obj.sinew_bound_parts

bounds.use_com = (True, True, True)
bounds.com = (0.3, 0.3, 0.3)
bounds.use_root = True
bounds.root = 0.7
bounds.use_joints = False
bounds.joints = 0.7
bounds.use_effectors = False
bounds.effectors = 0.5
parts.clear()
