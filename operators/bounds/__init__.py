# SPDX-License-Identifier: GPL-3.0-or-later
"""Spacetime bounds: one verb a file."""
