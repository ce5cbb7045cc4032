# SPDX-License-Identifier: GPL-3.0-or-later
"""A second take of the same source, with another seed or a push: what is known from the first is not found again."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...core.control import registry
from ...core.control.method import Method
from ...core.control.staging import STAGE
from ...core.motion import Take
from ...core.motion.io import stock
from ...core.settings import Settings
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import PushPart, StageParts
from ..run import Case, Row, simulate_case
from .cases import PUSH_N, PUSH_S, TRUNK, long_enough, push_directions

_PUSHED_AT = 0.4  # of the clip
_FROM_BEHIND = 4


def again_cases(names: Sequence[str], seeds: Sequence[int], engine: str) -> Iterator[Case]:
    """Stock clips by name, each with another seed, and pushed from behind; the first take has the seed itself."""
    for name in names:
        clip = long_enough(stock.load_stock(name))
        for seed in seeds:
            case = Case("again", name, clip, seed, engine)
            yield replace(case, seed=seed + 1, words={"again": "another seed", "first_seed": seed})
            push = PushPart(
                "Push", name, TRUNK, PUSH_N * push_directions(clip)[_FROM_BEHIND], _PUSHED_AT * clip.duration_s, PUSH_S
            )
            stage = {STAGE: stage_to_arrays(StageParts(characters=(name,), pushes=(push,)))}
            yield replace(case, attachments=stage, words={"again": "a push", "first_seed": seed})


def simulate_again(case: Case, method: Method, settings: Settings) -> tuple[Row, Take | None]:
    """The row of a second take and that take, after a first one of the same source that is not measured."""
    first = replace(case, seed=case.words["first_seed"], attachments={})
    with tempfile.TemporaryDirectory(prefix="sinew-again-") as folder, cache_in(Path(folder)):
        simulate_case(first, method, settings)
        return simulate_case(case, method, settings)


def simulate_as_first(case: Case, method: str, settings: Mapping[str, Any], twice: bool) -> tuple[Row, Take | None]:
    """A case as if it were the first that this machine sees of its source, but for those that come again.

    settings: values of the method's. twice: the row says whether it came out the same again.
    """
    own = registry.get_method(method)
    wanted = own.settings_type.from_mapping(settings)

    def simulate() -> tuple[Row, Take | None]:
        if case.group == "again":
            return simulate_again(case, own, wanted)
        with cache_in(None):
            return simulate_case(case, own, wanted)

    row, take = simulate()
    if twice:
        row["same_again"] = row.get("sha256") == simulate()[0].get("sha256")
    return row, take


@contextmanager
def cache_in(folder: Path | None) -> Iterator[None]:
    """Keep what takes of the same source share in a folder for a while, or nowhere."""
    before = os.environ.get("SINEW_CACHE")
    os.environ["SINEW_CACHE"] = str(folder) if folder is not None else ""
    try:
        yield
    finally:
        os.environ.pop("SINEW_CACHE")
        if before is not None:
            os.environ["SINEW_CACHE"] = before
