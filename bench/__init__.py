# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmarks: ``./sinew bench NAME`` prints figures as JSON. None of it is shipped."""
