# SPDX-License-Identifier: GPL-3.0-or-later
"""What families of methods declare, for operators and panels, which know nothing of core."""

from ...core.control.method import Product, Source
from ...core.control.registry import Family, families

__all__ = ["Family", "Product", "Source", "families"]
