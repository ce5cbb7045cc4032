# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries and style tags: one verb a file."""
