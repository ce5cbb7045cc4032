# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew fuzz``: every kind of file that Sinew reads, damaged in thousands of ways that must not surprise it."""
