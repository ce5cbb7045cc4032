# SPDX-License-Identifier: GPL-3.0-or-later
"""What a verb gives: work that is ready to be done, and the take that comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import bpy

from ...core import jobs
from ...core.control import registry
from ...core.errors import JobError, SinewError
from ...core.jobs import Where, parse_where
from .. import preview
from ..jobs import requests
from ..learned.learned_file import Learned, learned_file
from ..rig import actions
from ..rig.rig_writer import WrittenAction
from ..takes import list_owner, take_operations
from .running import Progress, complete_job


class WorkCancelled(SinewError):
    """Work was stopped before it was done; to go on, ask for the same again."""


@dataclass(frozen=True, eq=False)
class BakedTake:
    """A take that was baked: a new Action beside the source, in the armature's list of takes.

    report: what was done and measured, as ``--report`` writes it. written: the Actions of everybody and everything.
    """

    report: Mapping[str, Any]
    written: WrittenAction

    @property
    def action(self) -> bpy.types.Action:
        """The Action that was baked."""
        return self.written.action

    @property
    def armature(self) -> bpy.types.Object:
        """The armature that it moves; a baked copy's where the take went to one."""
        return self.written.obj

    @property
    def sentences(self) -> tuple[str, ...]:
        """How it went, in plain words."""
        return tuple(self.report.get("summary", ()))

    def show(self) -> str:
        """Let the armature play the take."""
        return take_operations.show_take(*self._place())

    def show_source(self) -> str:
        """Let the armature play again what the take was made of."""
        return take_operations.show_take_source(*self._place())

    def keep(self) -> str:
        """Give it a star: it survives Delete All Not Kept. Once more takes the star off."""
        return take_operations.toggle_keep(*self._place())

    def to_nla(self) -> str:
        """Put the take into a track of the NLA."""
        return take_operations.send_take_to_nla(*self._place())

    def delete(self) -> str:
        """Take it off the list, with its Action unless something else uses that."""
        return take_operations.delete_take(*self._place())

    def render(self, path: str | Path) -> Path:
        """Render a contact sheet (.png) or a film (.mp4) of it; gives where it is."""
        first, last = (int(frame) for frame in self.action.frame_range)
        everybody = [one.obj for one in (self.written, *self.written.others)]
        with actions.play_temporarily(self.armature, self.action):
            preview.render(bpy.context.scene, Path(path).resolve(), first, last, everybody, "AUTO")
        return Path(path)

    def _place(self) -> tuple[bpy.types.Object, int]:
        """The armature whose list it is in, and its place there."""
        owner = list_owner(self.armature)
        for index, row in enumerate(owner.sinew_takes):
            if row.action == self.action:
                return owner, index
        raise JobError(f"The take '{self.action.name}' is no longer in the list of '{owner.name}'", "Bake it again")


@dataclass(frozen=True, eq=False)
class Work:
    """Something to be done in a process of its own: a job whose inputs were read and whose folder is made.

    It is done by ``run``, or by whatever first asks for what comes of it.
    """

    job: jobs.Job

    def run(self, where: str | Where = "here", progress: Progress | None = None) -> Self:
        """Do it, from where it stopped if it was begun before; waits until it is done.

        where: 'here', 'ray' or 'ray:HOST:PORT'. progress: a function that is given the job's status now and then, with
        its ``fraction``, ``eta_s`` and ``message``.
        """
        status = complete_job(self.job, parse_where(where) if isinstance(where, str) else where, progress)
        if status.state == "cancelled":
            raise WorkCancelled(f"'{self.job.spec.title}' was cancelled", "Ask for the same again to go on")
        if status.state != "done":
            raise SinewError(status.message or f"The job was {status.state}", status.hint)
        return self

    def take(self) -> BakedTake:
        """Do it and bake its take: a new Action beside the source, with everybody else's and those of props."""
        return bake_result(self.run().job)

    def learned(self, out: str | Path) -> Learned:
        """Do it and keep what was learned in this file, over what is there; gives what is in it."""
        job, path = self.run().job, Path(out).resolve()
        family = family_of_job(job)
        file = learned_file(family)
        if file.keep(job, path) is None:
            raise JobError(f"Job '{job.spec.title}' has learned nothing", "Let it learn again in another folder")
        job.mark_collected({"file": path.name})
        return file.read_file(path)

    def report(self) -> Mapping[str, Any]:
        """Do it and give its report: what was done, measured and found."""
        return self.run().job.report()


def family_of_job(job: jobs.Job) -> str:
    """The family of methods that a job's method is one of."""
    family = registry.family_of(job.spec.method)
    if family is None:
        raise JobError(f"Job '{job.spec.title}' has learned nothing", "Only what trains or learns leaves a file")
    return family.name


def bake_result(job: jobs.Job, files: Mapping[str, Path] | None = None) -> BakedTake:
    """Bake a done job's take, with everybody else's and those of props; gives it with its report.

    files: where learned files go, as in ``requests.collect``.
    """
    written = requests.collect(job, files=files)
    widen_scene(written)
    report = {**job.result().report, "armature": written.obj.name}
    report |= {"action": written.action.name, "place": written.where.lower()}
    if written.match is not None:
        report["controls"] = written.match.to_mapping()
        finding = {"kind": "controls", "message": written.match.sentence, "hint": ""}
        report["findings"] = [*report.get("findings", ()), finding]
        report["summary"] = [*report.get("summary", ()), written.match.sentence]
    for row, one in zip(report.get("characters", ()), (written, *written.others), strict=False):
        row |= {"armature": one.obj.name, "action": one.action.name}
    report["props"] = [{"object": one.obj.name, "action": one.action.name} for one in written.props]
    return BakedTake(report, written)


def widen_scene(written: WrittenAction) -> None:
    """Let the scene's frames take in the Action's."""
    scene = bpy.context.scene
    first, last = (int(frame) for frame in written.action.frame_range)
    scene.frame_start, scene.frame_end = min(scene.frame_start, first), max(scene.frame_end, last)
