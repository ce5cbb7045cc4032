# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking hold of a character while it is simulated: one verb a file."""
