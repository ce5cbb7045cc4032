# SPDX-License-Identifier: GPL-3.0-or-later
"""Centre of mass, root, ankles and neck: the rest is free to find a style of its own."""

import bpy

obj = bpy.context.scene.sinew.armature
bounds = obj.sinew_bounds
parts = obj.sinew_bound_parts

bounds.use_com = (True, True, True)
bounds.com = (0.3, 0.3, 0.2)
bounds.use_root = True
bounds.root = 0.7
bounds.use_joints = False
bounds.joints = 0.7
bounds.use_effectors = False
bounds.effectors = 0.5
parts.clear()
part = parts.add()
part.kind = "JOINT"
part.part = "foot"
part.use = True
part.angle = 0.7
part = parts.add()
part.kind = "JOINT"
part.part = "head"
part.use = True
part.angle = 0.7
part = parts.add()
part.kind = "JOINT"
part.part = "neck"
part.use = True
part.angle = 0.7
