# SPDX-License-Identifier: GPL-3.0-or-later
"""Directed motion: a library of clips goes where it is told, by motion matching."""
