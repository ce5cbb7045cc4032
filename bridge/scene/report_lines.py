# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator reports and a panel shows: names in it are fit for a line, and for the terminal that has reports."""

import bpy

from ...core.texts import LONGEST, one_line


def fit_line(text: str) -> str:
    """A text as panels, tooltips and reports show it: one line, whatever the names in it hold."""
    return one_line(text, LONGEST)


def report_line(operator: bpy.types.Operator, kind: str, text: str) -> None:
    """Report one line in the status bar and in the Info editor; kind: 'INFO', 'WARNING' or 'ERROR'."""
    operator.report({kind}, fit_line(text))
