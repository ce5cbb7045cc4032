# SPDX-License-Identifier: GPL-3.0-or-later
"""Time-critical responses: a library of clips does what a list of cues asks for, on time."""
