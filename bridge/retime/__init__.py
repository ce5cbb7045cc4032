# SPDX-License-Identifier: GPL-3.0-or-later
"""Retime and Reach: from what an animator sets to a job that edits the chosen Action."""
