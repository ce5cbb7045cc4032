# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a job's result goes in Blender: the ``target`` of ``spec.json``, with a type for every key."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import limits
from ..errors import JobError
from ..files import to_jsonable


@dataclass(frozen=True)
class CastTarget:
    """One of the other characters: its armature, the Action that was read from it ('' for none), and its mark."""

    armature: str
    action: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Target:
    """Where a job's result goes. A job that was not started from an armature has the default.

    It names objects of a scene and never a file: where a learned file is kept is up to who collects the result, for
    anybody may have written a spec. ('graph_file' and 'controller_file', in specs from before, are left out.)

    armature, action: the character, and the Action that was read. place: one of ``placing.PLACES``.
    blend: the .blend that it was started from, '' for one that was never saved, None for a job outside Blender.
    cast: the other characters, in the order of the job's inputs.
    named: what the new Action's name says of how it was made; named_after: 'armature' where that begins it, else the
        source's name does.
    words: what happened in it, which is part of the new Action's name instead of ``named``; '' for nothing to say.
    mark: by what the armature is known when it is called otherwise by then; '' for no mark.
    batch, variation, varied: of which batch it is, which one of it, from 1, and how it differs; '', 0 and {} for none.
    """

    armature: str = ""
    action: str = ""
    place: str = "AUTO"
    blend: str | None = None
    cast: tuple[CastTarget, ...] = ()
    named: str = ""
    named_after: str = ""
    batch: str = ""
    variation: int = 0
    varied: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    mark: str = ""

    def to_mapping(self) -> dict[str, Any]:
        """Plain values for ``spec.json``: what is not the default, and for a character always who, what and where."""
        values = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        kept = {"armature", "action", "place"} if self.armature else set[str]()
        default = _DEFAULT_VALUES
        found = {name: value for name, value in values.items() if name in kept or value != default[name]}
        if self.cast:
            found["cast"] = [_cast_values(one) for one in self.cast]
        if self.varied:
            found["varied"] = to_jsonable(self.varied)
        return found

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], where: str = "spec.json") -> "Target":
        """A target from JSON; a key of the wrong type is a ``JobError`` that names it. Unknown keys are left out."""
        found: dict[str, Any] = {}
        for name, kinds in _KINDS.items():
            if name in values:
                if not _fits(values[name], kinds):
                    raise _wrong(where, name)
                found[name] = values[name]
        if "cast" in found:
            found["cast"] = tuple(_cast_target(one, where) for one in found["cast"])
        return cls(**found)


_LONGEST = 2 * limits.TEXT_LETTERS  # letters of a text; the path of a .blend may have 4096 bytes
_DEFAULT_VALUES = {one.name: getattr(Target(), one.name) for one in dataclasses.fields(Target)}
# Key in the file -> what JSON may have there.
_KINDS: dict[str, type | tuple[type, ...]] = {
    "armature": str,
    "action": str,
    "place": str,
    "blend": (str, type(None)),
    "cast": list,
    "named": str,
    "named_after": str,
    "words": str,
    "mark": str,
    "batch": str,
    "variation": int,
    "varied": dict,
}


def _fits(value: Any, kinds: type | tuple[type, ...]) -> bool:
    if not isinstance(value, kinds) or isinstance(value, bool):
        return False
    if isinstance(value, str):
        return len(value) <= _LONGEST
    return 0 <= value <= limits.VARIATIONS if isinstance(value, int) else True


def _cast_target(value: Any, where: str) -> CastTarget:
    if not isinstance(value, Mapping):
        raise _wrong(where, "cast")
    words = tuple(value.get(name, None if name == "armature" else "") for name in ("armature", "action", "mark"))
    if not all(_fits(word, str) for word in words):
        raise _wrong(where, "cast")
    return CastTarget(*words)


def _cast_values(one: CastTarget) -> dict[str, str]:
    values = {"armature": one.armature, "action": one.action}
    return values | {"mark": one.mark} if one.mark else values


def _wrong(where: str, name: str) -> JobError:
    return JobError(f"'{where}' does not describe a job: 'target' has a wrong '{name}'", "Simulate again")
