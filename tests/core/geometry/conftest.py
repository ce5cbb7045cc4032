# SPDX-License-Identifier: GPL-3.0-or-later
"""How the property tests of this room are run."""

from hypothesis import settings

# The same examples every time and no deadline: a test fails for what it tests, not for a busy machine.
settings.register_profile("sinew", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("sinew")
