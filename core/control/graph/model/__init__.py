# SPDX-License-Identifier: GPL-3.0-or-later
"""The control graph (section 4): control fragments, state and action features, linear policies, and its file."""
