# SPDX-License-Identifier: GPL-3.0-or-later
"""All real bpy work."""
