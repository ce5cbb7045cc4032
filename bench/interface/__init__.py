# SPDX-License-Identifier: GPL-3.0-or-later
"""How long each click, timer and redraw of Sinew's keeps Blender from listening to its user."""
