# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job's take will be called besides its source: what happens in it, and what else is unusual about it."""

from collections.abc import Mapping
from typing import Any

from ...core.control import registry
from ...core.sim.engines import ENGINES
from ...core.sim.stage_parts import StageParts
from ...core.sim.stage_words import describe_events

_PLAIN = "simulated"
_TELLING = ("quality",)  # settings that a name tells where they are not as usual


def describe_take(
    method: str, settings: Mapping[str, Any], engine: str, parts: StageParts | None, variation: int = 0
) -> str:
    """'push chest 200 N, draft'; '' where nothing is simulated: such takes are named by their method.

    parts: the stage, None for a method without physics. variation: its number in a batch, 0 for none.
    """
    if parts is None or registry.family_of(method) is not None:
        return ""
    usual = registry.get_method(method).settings_type()
    words = list(describe_events(parts)) or [_PLAIN]
    for name in _TELLING:
        value = settings.get(name)
        if value is not None and value != getattr(usual, name, value):
            words.append(str(value))
    if engine in ENGINES and engine != next(iter(ENGINES)):
        words.append(ENGINES[engine].label)
    if variation:
        words.append(f"variation {variation}")
    return ", ".join(words)
