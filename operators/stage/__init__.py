# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: one verb a file."""
