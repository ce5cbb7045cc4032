# SPDX-License-Identifier: GPL-3.0-or-later
"""Guided learning of a graph's policies (control graphs, section 5)."""
