# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: one verb a file."""
