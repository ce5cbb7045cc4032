# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes, motion files and stock clips opened in Blender."""
