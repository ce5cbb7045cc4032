# SPDX-License-Identifier: GPL-3.0-or-later
"""Control graphs (Liu, van de Panne, Yin: Guided Learning of Control Graphs for Physics-Based Characters, 2016)."""
