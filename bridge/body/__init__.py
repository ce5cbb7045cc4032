# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator says about a character's body, and the mesh that it is fitted to."""
