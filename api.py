# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew from Python: what the panels do, for pipelines and scripts (``bridge/api``, docs/python.md)."""

from .bridge import api as _api
from .bridge.api import *  # noqa: F403 - all of it, and nothing else

__doc__ = _api.__doc__
__all__ = _api.__all__
