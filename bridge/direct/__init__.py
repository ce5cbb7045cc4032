# SPDX-License-Identifier: GPL-3.0-or-later
"""Directing in Blender: a curve or an object to go after, speed, facing and style become a wish."""
