# SPDX-License-Identifier: GPL-3.0-or-later
"""What every method needs to follow a motion: reference, tracking error, linear dynamics, LQR, facing frame, film."""
