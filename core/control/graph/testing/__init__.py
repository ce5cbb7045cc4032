# SPDX-License-Identifier: GPL-3.0-or-later
"""What a learned graph is worth: the hardest push it takes, endurance, and a random walk with pushes."""
