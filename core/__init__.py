# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything between the two bridge doors: plain Python on NumPy arrays, no bpy.

Metres, seconds, radians, Z up, quaternions ``wxyz``, arrays shaped ``(frames, bones, ...)``.
"""

__version__ = "0.1.0"
