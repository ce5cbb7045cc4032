# SPDX-License-Identifier: GPL-3.0-or-later
"""What learned control graphs are worth (Liu et al. 2016)."""
