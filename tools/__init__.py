# SPDX-License-Identifier: GPL-3.0-or-later
"""For people who work on Sinew: the launcher's environments, tests and build. Never part of the extension."""
