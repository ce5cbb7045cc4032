# SPDX-License-Identifier: GPL-3.0-or-later
"""Between a scene and what improvises."""
