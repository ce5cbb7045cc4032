# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker's Python needs: preferences, readiness and installing."""
