# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to a character on a stage, in a few words: for the names of takes."""

from collections.abc import Iterable

import numpy as np

from .stage_parts import PropPart, PushPart, StageParts

_NAMED = 2  # so many events by name; of more only how many there are


def describe_events(parts: StageParts) -> tuple[str, ...]:
    """Pushes and thrown things in the order in which they begin: ('push chest 200 N', 'Ball thrown 12 m/s')."""
    pushes = {push.name: _push_words(push.name, parts) for push in parts.pushes}
    starts = {push.name: min(one.start_s for one in parts.pushes if one.name == push.name) for push in parts.pushes}
    events = [(starts[name], words) for name, words in pushes.items()]
    events += [(prop.appears_s, _throw_words(prop)) for prop in parts.props if _comes_flying(prop)]
    words = [text for _, text in sorted(events, key=lambda event: event[0])]
    if len(words) <= _NAMED:
        return tuple(words)
    return (*words[:_NAMED], f"{len(words) - _NAMED} more")


def bone_words(bone: str) -> str:
    """A bone's name without what its exporter put in front: 'mixamorig:Spine2' is 'Spine2'."""
    return bone.rpartition(":")[2].replace("_", " ").strip() or bone


def _push_words(name: str, parts: StageParts) -> str:
    """One push, which may be several parts of different force: by the strongest."""
    own = [push for push in parts.pushes if push.name == name]
    strongest = max(own, key=lambda push: float(np.linalg.norm(push.force)))
    strength = strongest.intent or f"{np.linalg.norm(strongest.force):.0f} N"
    return f"push {_whose(own, parts)}{bone_words(strongest.bone)} {strength}"


def _whose(pushes: Iterable[PushPart], parts: StageParts) -> str:
    others = {push.character for push in pushes} - set(parts.characters[:1])
    return f"{min(others)} " if others and parts.characters else ""


def _comes_flying(prop: PropPart) -> bool:
    return bool(np.any(prop.velocity)) or prop.appears_s > 0.0


def _throw_words(prop: PropPart) -> str:
    speed = float(np.linalg.norm(prop.velocity))
    if prop.intent:
        return f"{prop.name} thrown, {prop.intent}"
    return f"{prop.name} thrown {speed:.0f} m/s" if speed > 0.0 else f"{prop.name} dropped"
