# SPDX-License-Identifier: GPL-3.0-or-later
"""A steady wind for five seconds."""

import bpy

push = bpy.context.active_object.sinew

push.force = 30.0
push.duration = 5.0
