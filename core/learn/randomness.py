# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a random generator as a plain array, so that it can be kept with other arrays and put back."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile


def generator_state(rng: np.random.Generator) -> NDArray[np.uint8]:
    """(bytes,) everything that decides what the generator gives next."""
    return np.frombuffer(json.dumps(rng.bit_generator.state).encode(), dtype=np.uint8)


def restore_generator(rng: np.random.Generator, state: NDArray[Any]) -> None:
    """Put the generator where it was when ``generator_state`` gave this."""
    try:
        rng.bit_generator.state = json.loads(np.asarray(state, dtype=np.uint8).tobytes().decode())
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise BadFile(
            f"The state of a random generator is damaged: {error}", "Go on from another checkpoint, or begin anew"
        ) from error
