# SPDX-License-Identifier: GPL-3.0-or-later
"""Other characters: one verb a file."""
