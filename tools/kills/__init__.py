# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that Sinew runs, killed at random moments: nothing lost, nothing doubled, the same bits in the end."""
