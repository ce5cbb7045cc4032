# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries of motion: made of files or of an armature's Actions, with style tags as pose markers."""
