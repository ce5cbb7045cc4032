# SPDX-License-Identifier: GPL-3.0-or-later
"""The physical body: one verb a file."""
