# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion graph: skills, distances between their moments, and blended transitions (control graphs, section 4)."""
