# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand on the shoulder."""

import bpy

push = bpy.context.active_object.sinew

push.force = 60.0
push.duration = 0.2
