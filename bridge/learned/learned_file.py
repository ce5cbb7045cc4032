# SPDX-License-Identifier: GPL-3.0-or-later
"""The learned file that an armature refers to: read, kept, shown and copied, the same for every kind of it."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ...core.control import registry
from ...core.control.learned import Content, LearnedKind
from ...core.control.method import Source
from ...core.errors import NotLearned, SinewError
from ...core.files import write_whole
from ...core.jobs import Job
from . import paths


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned file as it was read. model: what was learned. content: as a job that plays it wants it attached."""

    path: Path
    model: Any
    content: Content


@dataclass(frozen=True, eq=False)
class LearnedView:
    """What the panel shows of a learned file. problem: why there is nothing else to show.

    model: what was learned, not to be changed. sentences: what it is and how it was learned.
    """

    model: Any = None
    sentences: tuple[str, ...] = ()
    problem: SinewError | None = None


class LearnedFile:
    """Learned files of one kind; an armature refers to its own by ``object.sinew_<family>.file``.

    A file is beside the .blend, so that both can go elsewhere together, and is never written over another one.
    of_one_clip: whether it is learned from a single Action, whose name then is a part of the file's.
    """

    def __init__(self, family: str, kind: LearnedKind, *, of_one_clip: bool = False) -> None:
        self.kind = kind
        self._of_one_clip = of_one_clip
        self._group = f"sinew_{family}"
        self._view = paths.once(self._read_view)

    def path_of(self, obj: bpy.types.Object) -> Path | None:
        """The file that the armature refers to; None where it refers to none."""
        return paths.absolute(obj, getattr(obj, self._group).file)

    def read(self, obj: bpy.types.Object) -> Learned:
        """The armature's own; refuses a file that is missing, torn, or something else."""
        path = self.path_of(obj)
        if path is None:
            label, hint = self.kind.label, self.kind.learn_hint.format(whose="its")
            raise NotLearned(
                f"'{obj.name}' has no {label} yet", f"{hint[:1].upper()}{hint[1:]}, or choose a {label} file"
            )
        return self.read_file(path)

    def read_file(self, path: Path) -> Learned:
        """What is in a file."""
        content = self.kind.read_content(path)
        return Learned(path, self.kind.from_content(content, f"'{path}'"), content)

    def view_of(self, obj: bpy.types.Object) -> LearnedView:
        """What there is to see of the armature's own. The file is read once, and again when it changes."""
        path = self.path_of(obj)
        return LearnedView() if path is None else self._view(path)

    def _read_view(self, path: Path) -> LearnedView:
        try:
            model = self.read_file(path).model
        except SinewError as error:
            return LearnedView(problem=error)
        return LearnedView(model, self.kind.describe(model))

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

    def keep(self, job: Job) -> Path | None:
        """Keep what a job has learned in a file; None for a job that has learned nothing of this kind.

        The file is the one that the job names, which is overwritten; else one beside the .blend that no other is in.
        """
        source = job.product_file(self.kind.name)
        if not source.is_file():
            return None
        content, target = job.product(self.kind.name), job.spec.target  # whole, or refused
        asked = target.files.get(self.kind.name)
        if asked:
            self._write(Path(asked), content, source)
            return Path(asked)
        own = (target.action, target.varied.get("style")) if self._of_one_clip else ()
        name = "-".join(bpy.path.clean_name(str(word)) for word in (target.armature, *own) if word)
        path = paths.folder(self.kind.folder) / f"{name}{self.kind.ending}"
        # WrittenAction once beside its place: only then are its bytes known, which may be there already.
        part = path.with_name(f".{job.spec.id}{self.kind.ending}")
        self._write(part, content, source)
        path = paths.free(path, self.kind.ending, part.read_bytes())
        part.replace(path)
        return path

    def _write(self, path: Path, content: Content, product: Path) -> None:
        if self.kind.ending.endswith(product.suffix):
            write_whole(path, product.read_bytes())  # as the worker made it, byte for byte
        else:
            self.kind.write_content(path, *content)

    def refer(self, obj: bpy.types.Object, path: Path) -> None:
        """Let the armature have this file."""
        if hasattr(obj, self._group):  # else Sinew is used as a library
            getattr(obj, self._group).file = paths.referred(path)

    def is_elsewhere(self, obj: bpy.types.Object) -> bool:
        """Whether the armature's file would stay behind if the .blend's folder went to another machine."""
        return paths.is_elsewhere(self.path_of(obj))

    def copy_beside(self, obj: bpy.types.Object) -> Path:
        """Copy the armature's file beside the .blend and refer to the copy; no other is written over."""
        found = self.read(obj).path
        data = found.read_bytes()
        named = found.name.endswith(self.kind.ending)
        name = found.name.removesuffix(self.kind.ending) if named else bpy.path.clean_name(obj.name)
        path = paths.free(paths.folder(self.kind.folder) / f"{name}{self.kind.ending}", self.kind.ending, data)
        write_whole(path, data)
        self.refer(obj, path)
        return path


@functools.cache
def learned_files() -> tuple[LearnedFile, ...]:
    """Those of every family of methods, in their order."""
    return tuple(learned_file(family.name) for family in registry.families())


@functools.cache
def learned_file(family: str) -> LearnedFile:
    """The learned files of a family of methods."""
    learn = registry.get_family(family).learn
    assert learn.learned is not None
    return LearnedFile(family, learn.learned, of_one_clip=learn.takes is Source.CLIP)
