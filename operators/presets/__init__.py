# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender presets: one verb a file."""
