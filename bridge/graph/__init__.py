# SPDX-License-Identifier: GPL-3.0-or-later
"""Control graphs in Blender: Actions become skills, skills link into a graph, and a graph bakes new motion."""
