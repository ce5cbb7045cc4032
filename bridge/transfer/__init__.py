# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions put on other characters, and models imported as characters."""
