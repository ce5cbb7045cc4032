# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of methods in Blender: what a family declares becomes properties, jobs and what operators and panels ask."""
