# SPDX-License-Identifier: GPL-3.0-or-later
"""Live sessions: a worker that holds a stage and steps it, and what it and Blender say to each other."""
