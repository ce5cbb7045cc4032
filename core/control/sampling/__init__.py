# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling-based control: the motion found again by many trials of a simulated body, without any training."""
