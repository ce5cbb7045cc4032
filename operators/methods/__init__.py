# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning, baking and testing: one verb a file, made for every family of methods from what it declares."""
