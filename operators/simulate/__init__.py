# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulating the chosen Action: one verb a file."""
