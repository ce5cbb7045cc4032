# SPDX-License-Identifier: GPL-3.0-or-later
"""Control graphs: clips become skills that keep their balance, and skills link into a graph."""
