# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes and throws of a stage whose strength is to be found, and the stage with a strength for them."""

from dataclasses import dataclass, replace

import numpy as np

from ...sim.stage import Stage


@dataclass(frozen=True)
class Disturbance:
    """What is to bring a reaction about: all stretches of a push, or something thrown.

    thrown: whether it is a thing, whose strength is its mass in kg, and not a push, whose strength is its peak in
    newtons. character: the number of who is to react. start_s, end_s: of the push; of a throw, both when it appears.
    speed_m_s: of what is thrown.
    """

    name: str
    intent: str
    thrown: bool
    character: int
    start_s: float
    end_s: float
    speed_m_s: float = 0.0

    def describe_strength(self, strength: float) -> str:
        """The strength in words."""
        return f"{strength:.2g} kg" if self.thrown else f"{strength:.0f} N"


def find_disturbances(stage: Stage) -> tuple[Disturbance, ...]:
    """Those with an intent, in the order in which they happen."""
    found = []
    for name, intent in dict.fromkeys((push.name, push.intent) for push in stage.pushes if push.intent):
        parts = [push for push in stage.pushes if (push.name, push.intent) == (name, intent)]
        ends_s = max(part.start_s + part.duration_s for part in parts)
        found.append(Disturbance(name, intent, False, parts[0].character, min(part.start_s for part in parts), ends_s))
    for prop in stage.props:
        if prop.intent:
            speed = float(np.linalg.norm(prop.velocity))
            found.append(Disturbance(prop.name, prop.intent, True, 0, prop.appears_s, prop.appears_s, speed))
    return tuple(sorted(found, key=lambda one: (one.start_s, one.name)))


def with_strength(stage: Stage, disturbance: Disturbance, strength: float) -> Stage:
    """The stage with the push or throw as strong as that: a peak in newtons, or kilograms."""
    if disturbance.thrown:
        props = (replace(prop, mass=strength) if prop.name == disturbance.name else prop for prop in stage.props)
        return replace(stage, props=tuple(props))
    own = [push.name == disturbance.name and push.intent == disturbance.intent for push in stage.pushes]
    forces = [np.linalg.norm(push.force) for push, is_own in zip(stage.pushes, own, strict=True) if is_own]
    peak_n = max(forces) or 1.0
    pushes = (
        replace(push, force=np.asarray(push.force) / peak_n * strength) if is_own else push
        for push, is_own in zip(stage.pushes, own, strict=True)
    )
    return replace(stage, pushes=tuple(pushes))
