# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that nobody here made, through the panels' own operators."""
