# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes that several modules of tests look at."""

import pytest

from .killed_rollouts import HARD, Scene
from .toys import waving


@pytest.fixture(scope="session")
def hard() -> Scene:
    """Five fragments, in two sections, of which the search believes that all is lost as long as it may go back.

    Some are dear, so that their models are fitted anew; those of the others are learned from samples.
    """
    return Scene([waving(0.5)], constants=HARD, refits_above=0.05)
