# SPDX-License-Identifier: GPL-3.0-or-later
"""What learning within spacetime bounds costs and gives (Ma et al. 2021)."""
