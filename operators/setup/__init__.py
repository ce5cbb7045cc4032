# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing what the worker needs: one verb a file."""
