# SPDX-License-Identifier: GPL-3.0-or-later
"""Every feature in an installed extension, with only what its zip brings: ``python tools/acceptance ZIP``."""
