# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about cues."""
