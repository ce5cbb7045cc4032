# SPDX-License-Identifier: GPL-3.0-or-later
"""Spacetime bounds: policies learned within keyframed tolerances (Learning and Exploring Motor Skills, Ma et al.)."""
