# SPDX-License-Identifier: GPL-3.0-or-later
"""The open file: looking at other frames and leaving it as it was, work in slices of time, saving, overrides."""
