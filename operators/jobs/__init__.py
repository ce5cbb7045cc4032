# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: one verb a file."""
