# SPDX-License-Identifier: GPL-3.0-or-later
"""What a good motion is, as numbers, and the benchmarks."""
