# SPDX-License-Identifier: GPL-3.0-or-later
"""The learned file that an armature refers to: read, kept, shown and copied, the same for every kind of it."""

import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ...core.control import registry
from ...core.control.learned import Content, LearnedKind
from ...core.control.method import Source
from ...core.errors import NotLearned, SinewError, not_enough_memory
from ...core.files import read_bytes, write_whole
from ...core.jobs import Job
from ...core.paths import is_there
from . import paths
from .file_views import FileViews


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned file as it was read. model: what was learned. content: as a job that plays it wants it attached."""

    path: Path
    model: Any
    content: Content


@dataclass(frozen=True, eq=False)
class LearnedView:
    """What the panel shows of a learned file. problem: why there is nothing else to show.

    model: what was learned, not to be changed. sentences: what it is and how it was learned. is_reading: whether there
    is only nothing to show yet.
    """

    model: Any = None
    sentences: tuple[str, ...] = ()
    problem: SinewError | None = None
    is_reading: bool = False


class LearnedFile:
    """Learned files of one kind; an armature refers to its own by ``object.sinew_<family>.file``.

    A file is beside the .blend, so that both can go elsewhere together, and is never written over another one.
    learned_from: what its method takes. Of a single Action the name is a part of the file's; what is learned from a
    file of the same kind says how in its own.
    """

    def __init__(self, family: str, kind: LearnedKind, learned_from: Source | None = None) -> None:
        self.kind = kind
        self._from = learned_from
        self._group = f"sinew_{family}"
        self._views = FileViews(self._read_view, LearnedView(is_reading=True))

    def path_of(self, obj: bpy.types.Object) -> Path | None:
        """The file that the armature refers to; None where it refers to none."""
        return paths.absolute(obj, getattr(obj, self._group).file)

    def read(self, obj: bpy.types.Object) -> Learned:
        """The armature's own; refuses a file that is missing, torn, or something else."""
        return self.read_file(self.require_path(obj))

    def require_path(self, obj: bpy.types.Object) -> Path:
        """The file that the armature refers to, which there must be."""
        path = self.path_of(obj)
        if path is None:
            label, hint = self.kind.label, self.kind.learn_hint.format(whose="its")
            raise NotLearned(
                f"'{obj.name}' has no {label} yet", f"{hint[:1].upper()}{hint[1:]}, or choose a {label} file"
            )
        return path

    def read_file(self, path: Path) -> Learned:
        """What is in a file."""
        content = self.kind.read_content(path)
        return Learned(path, self.kind.from_content(content, f"'{path}'"), content)

    def view_of(self, obj: bpy.types.Object, *, wait: bool = False) -> LearnedView:
        """What there is to see of the armature's own by now, which is for ``draw``; wait: all of it."""
        path = self.path_of(obj)
        return LearnedView() if path is None else self._views.view(path, wait=wait)

    def _read_view(self, path: Path) -> LearnedView:
        try:
            model = self.read_file(path).model
            return LearnedView(model, self.kind.describe(model))
        except SinewError as error:
            return LearnedView(problem=error)
        except MemoryError:  # it is kept like any other, or every draw would try again
            return LearnedView(problem=not_enough_memory(f"'{path}'"))

    def why_none(self, obj: bpy.types.Object) -> str:
        """Why the armature has none that could be used, with the fix; '' if it has. Cheap enough for ``draw``."""
        if self.path_of(obj) is None:
            label = self.kind.label
            return f"No {label} yet: {self.kind.learn_hint.format(whose='the')}, or choose a {label} file"
        if (problem := self.view_of(obj).problem) is not None:
            return (
                f"{problem.message}: {problem.hint[:1].lower()}{problem.hint[1:]}" if problem.hint else problem.message
            )
        return ""

    def keep(self, job: Job, path: Path | None = None) -> Path | None:
        """Keep what a job has learned in a file; None for a job that has learned nothing of this kind.

        path: where whoever asks wants it, over what is there; None for a file beside the .blend that no other is in.
        What the job's folder says of where it should go is not asked: anybody may have written it.
        """
        plan = self.plan_keep(job, path)
        return None if plan is None else plan()

    def plan_keep(self, job: Job, path: Path | None = None) -> Callable[[], Path] | None:
        """What keeps it so, without Blender: a library of minutes takes longer to write than a click may."""
        if not is_there(job.product_file(self.kind.name)):
            return None
        target, kind = job.spec.target, self.kind
        own = {Source.CLIP: (target.action, target.varied.get("style")), Source.LEARNED_FILE: (target.named,)}
        home, stem = paths.folder(kind.folder), paths.file_stem(target.armature, *own.get(self._from, ()))

        def keep() -> Path:
            data = self._file_bytes(job)
            if path is None:
                return paths.keep_data(home, stem, kind, data)
            write_whole(path, data)
            return path

        return keep

    def _file_bytes(self, job: Job) -> bytes:
        """What a job has learned, whole or refused, as it stands in a file."""
        content = job.product(self.kind.name)
        if self.kind.ending.endswith(job.product_file(self.kind.name).suffix):
            return job.product_bytes(self.kind.name)  # as the worker made it, byte for byte
        with tempfile.TemporaryDirectory(prefix="sinew-") as temporary:
            path = Path(temporary) / f"learned{self.kind.ending}"
            self.kind.write_content(path, *content)
            return path.read_bytes()

    def refer(self, obj: bpy.types.Object, path: Path) -> None:
        """Let the armature have this file."""
        if hasattr(obj, self._group):  # else Sinew is used as a library
            getattr(obj, self._group).file = paths.stored_path(path)

    def is_elsewhere(self, obj: bpy.types.Object) -> bool:
        """Whether the armature's file would stay behind if the .blend's folder went to another machine."""
        return paths.is_elsewhere(self.path_of(obj))

    def plan_copy(self, obj: bpy.types.Object) -> Callable[[], Path]:
        """What copies the armature's file beside the .blend, without Blender; no other is written over."""
        found, home, spare = self.require_path(obj), paths.folder(self.kind.folder), paths.file_stem(obj.name)

        def copy() -> Path:
            self.read_file(found)
            named = found.name.endswith(self.kind.ending)
            stem = found.name.removesuffix(self.kind.ending) if named else spare
            return paths.keep_data(home, stem, self.kind, read_bytes(found, self.kind.most_bytes))

        return copy


@functools.cache
def learned_files() -> tuple[LearnedFile, ...]:
    """Those of every family of methods, in their order."""
    return tuple(learned_file(family.name) for family in registry.families())


@functools.cache
def learned_file(family: str) -> LearnedFile:
    """The learned files of a family of methods."""
    known = registry.get_family(family)
    return LearnedFile(family, known.learned, known.learn.takes if known.learn is not None else None)
