# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures and their Actions: read out as clips, written back as new Actions."""
