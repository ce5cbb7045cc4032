# SPDX-License-Identifier: GPL-3.0-or-later
"""Style exploration (section 3.3): more or less energy or volume, or the style of another motion."""
