# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion matching: a library of clips goes where it is told (DReCon, section 5)."""
