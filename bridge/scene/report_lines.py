# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator reports: Blender prints it on the terminal as well, so that names in it must be fit for one."""

import bpy

from ...core.texts import LONGEST, one_line


def report_line(operator: bpy.types.Operator, kind: str, text: str) -> None:
    """Report one line in the status bar and in the Info editor; kind: 'INFO', 'WARNING' or 'ERROR'."""
    operator.report({kind}, one_line(text, LONGEST))
