# SPDX-License-Identifier: GPL-3.0-or-later
"""Two hands, in earnest."""

import bpy

push = bpy.context.active_object.sinew

push.force = 200.0
push.duration = 0.2
