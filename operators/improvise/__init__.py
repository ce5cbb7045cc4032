# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs of what improvises that its methods do not declare by themselves."""
