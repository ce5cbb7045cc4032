# SPDX-License-Identifier: GPL-3.0-or-later
"""Live characters in Blender: the session, the pose on the armature, what is done to it, and takes of it."""
