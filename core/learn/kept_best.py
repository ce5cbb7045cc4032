# SPDX-License-Identifier: GPL-3.0-or-later
"""The best policy so far and the tests that say so, as arrays of a checkpoint beside a trainer's own."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile
from .policy import Policy
from .rollout import arrays_under

_TESTS, _BEST = "tests", "best."


def keep_best(tests: Sequence[object], best: Policy | None) -> dict[str, NDArray[Any]]:
    """Arrays of tests, whose fields are plain values, and of the policy that did best in them."""
    arrays: dict[str, NDArray[Any]] = {}
    about: dict[str, Any] = {"tests": [vars(test) for test in tests], "best": None}
    if best is not None:
        own, about["best"] = best.to_arrays()
        arrays = {f"{_BEST}{name}": array for name, array in own.items()}
    arrays[_TESTS] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    return arrays


def read_best(arrays: Mapping[str, NDArray[Any]]) -> tuple[list[dict[str, Any]], Policy | None]:
    """The tests' fields and the policy; what ``keep_best`` did not give is a ``BadFile``."""
    try:
        about = json.loads(np.asarray(arrays[_TESTS], dtype=np.uint8).tobytes().decode())
        tests, best = [dict(test) for test in about["tests"]], about["best"]
        return tests, None if best is None else Policy.from_arrays(arrays_under(_BEST, arrays), best)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error
