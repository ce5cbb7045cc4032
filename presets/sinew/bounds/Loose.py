# SPDX-License-Identifier: GPL-3.0-or-later
"""The paper's one set for all skills: the pose may look different, the skill may not."""

import bpy

obj = bpy.context.scene.sinew.armature
bounds = obj.sinew_bounds
parts = obj.sinew_bound_parts

bounds.use_com = (True, True, True)
bounds.com = (0.2, 0.2, 0.2)
bounds.use_root = True
bounds.root = 0.7
bounds.use_joints = True
bounds.joints = 0.7
bounds.use_effectors = True
bounds.effectors = 0.5
parts.clear()
