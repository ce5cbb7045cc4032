# SPDX-License-Identifier: GPL-3.0-or-later
"""The control graph: fragments on a track, features, policies, and its file."""
