# SPDX-License-Identifier: GPL-3.0-or-later
"""Ray is in the project's environment on Linux. Elsewhere the tests that need it skip."""

import importlib.util

import pytest

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
