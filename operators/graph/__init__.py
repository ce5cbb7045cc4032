# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills: one verb a file."""
