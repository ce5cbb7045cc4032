# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles within bounds: the same skill with more or less energy or volume, or in the manner of another motion."""
