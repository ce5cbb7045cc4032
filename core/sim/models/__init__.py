# SPDX-License-Identifier: GPL-3.0-or-later
"""Robots' model files, URDF and MJCF, as bodies that are given rather than fitted."""
