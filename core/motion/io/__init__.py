# SPDX-License-Identifier: GPL-3.0-or-later
"""File formats: the only place where a file's own axes, units and joint order are known."""
