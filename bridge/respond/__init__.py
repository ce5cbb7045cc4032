# SPDX-License-Identifier: GPL-3.0-or-later
"""Responding in Blender: a list of cues on the armature becomes a take that does them on time."""
