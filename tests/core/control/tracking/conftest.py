# SPDX-License-Identifier: GPL-3.0-or-later
"""The stock clips' body, for everything that follows a motion."""

import pytest

from sinew.core.body import BodyModel
from sinew.core.body.build import build_body
from sinew.core.motion.io import stock


@pytest.fixture(scope="session")
def body() -> BodyModel:
    """The body of the stock clips."""
    clip = stock.load_stock("walk")
    return build_body(clip.skeleton, clip=clip)[0]
