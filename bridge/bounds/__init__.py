# SPDX-License-Identifier: GPL-3.0-or-later
"""Spacetime bounds in the animator's hands: keyed on the armature, painted, trained within, and baked from."""
