# SPDX-License-Identifier: GPL-3.0-or-later
"""``spec.json``: what a job is to do. Written once, never changed."""

import dataclasses
import re
import secrets
import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import limits
from ..errors import BadFile, JobError
from ..files import read_json
from .target import Target

SCHEMA = 1


@dataclass(frozen=True)
class JobSpec:
    """Everything the worker needs to know, besides the inputs' content.

    engine: 'auto', 'mujoco' or 'bullet'; the worker resolves 'auto'.
    target: where the result goes in Blender.
    inputs: file name in ``inputs/`` -> sha256.
    created: ISO 8601, UTC.
    """

    id: str
    title: str
    method: str
    engine: str
    settings: dict[str, Any]
    seed: int
    target: Target
    inputs: dict[str, str]
    created: str
    sinew_version: str
    schema: int = SCHEMA

    def to_mapping(self) -> dict[str, Any]:
        """Plain values for ``spec.json``."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return values | {"target": self.target.to_mapping()}

    @classmethod
    def from_mapping(cls, values: Any, where: str = "spec.json") -> "JobSpec":
        """A spec from JSON; one of a newer version or with something missing is a ``JobError``."""
        if not isinstance(values, Mapping):
            raise JobError(f"'{where}' does not describe a job", "Simulate again")
        schema = values.get("schema")
        if isinstance(schema, int) and schema > SCHEMA:
            version = values.get("sinew_version", "unknown")
            raise JobError(
                f"'{where}' was made by a newer Sinew ({version}, job format {schema}; this one knows {SCHEMA})",
                "Update Sinew",
            )
        for field in dataclasses.fields(cls):
            kind: Any = field.type if field.type in (str, int) else dict
            value = values.get(field.name)
            if not isinstance(value, kind) or isinstance(value, bool) or not _CHECKS[field.name](value):
                missing = f"'{field.name}' is missing or wrong"
                raise JobError(f"'{where}' does not describe a job: {missing}", "Simulate again")
        known = {field.name: values[field.name] for field in dataclasses.fields(cls)}
        return cls(**known | {"target": Target.from_mapping(values["target"], where)})

    @property
    def content(self) -> tuple[Any, ...]:
        """What decides the result: two jobs with the same content are the same job."""
        return self.method, self.engine, self.settings, self.seed, self.inputs


def read_spec(path: Path) -> JobSpec:
    """The spec in the file; a ``JobError`` says what is wrong with it."""
    try:
        values = read_json(path, limits.SPEC_BYTES)
    except BadFile as error:
        raise JobError(error.message, "Simulate again") from error
    return JobSpec.from_mapping(values, str(path))


def now_text() -> str:
    """This moment for ``created``: exact enough to tell which of two clicks came first."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def new_id(title: str) -> str:
    """A name that sorts by time and reads well: 20261116-015500-walk-3f9a."""
    text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", text)[:32].strip("-") or "job"
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{slug}-{secrets.token_hex(2)}"


ID_PATTERN = re.compile(r"\d{8}-\d{6}-[a-z0-9-]+-[0-9a-f]{4}")
_INPUT = re.compile(r"[a-z][a-z0-9_]*\.npz")


def is_plain_id(text: str) -> bool:
    """Whether it may be a job's id, and so a folder's name: nothing that leads elsewhere on any system."""
    return len(text) <= limits.NAME_LETTERS and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", text) is not None


def _is_short(text: str) -> bool:
    return len(text) <= limits.TEXT_LETTERS


def _are_inputs(values: dict[str, Any]) -> bool:
    return all(isinstance(value, str) and _INPUT.fullmatch(name) for name, value in values.items())


# What must be so of a value besides its type: other parts of Sinew make file names of some, and show others.
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "id": is_plain_id,
    "title": _is_short,
    "method": _is_short,
    "engine": _is_short,
    "settings": lambda value: True,
    "seed": lambda value: value >= 0,
    "target": lambda value: True,
    "inputs": _are_inputs,
    "created": _is_short,
    "sinew_version": _is_short,
    "schema": lambda value: value >= 1,
}
