# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody runs into the character."""

import bpy

push = bpy.context.active_object.sinew

push.force = 600.0
push.duration = 0.2
