# SPDX-License-Identifier: GPL-3.0-or-later
"""Executing a control graph: simulation of fragments, planners, falls, push tests, and takes (section 6)."""
