# SPDX-License-Identifier: GPL-3.0-or-later
"""Half of the loose ones: the motion looks like its source. Hard motions may not be possible within them."""

import bpy

obj = bpy.context.scene.sinew.armature
bounds = obj.sinew_bounds
parts = obj.sinew_bound_parts

bounds.use_com = (True, True, True)
bounds.com = (0.1, 0.1, 0.1)
bounds.use_root = True
bounds.root = 0.35
bounds.use_joints = True
bounds.joints = 0.35
bounds.use_effectors = True
bounds.effectors = 0.25
parts.clear()
