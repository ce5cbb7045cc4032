# SPDX-License-Identifier: GPL-3.0-or-later
"""Laplacian motion editing: a motion at a wanted place, direction and moment, with its key poses kept."""
