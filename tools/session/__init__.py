# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole session with Sinew, from the zip to quitting, by mouse and keyboard or without a window; see __main__.py."""
