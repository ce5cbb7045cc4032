# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of a clip that are simulated while the rest of it stays: cut out for the method, and faded in again.

The method sees nothing of this: it is given those frames as its clip, with a little before them so that it begins with
the right velocities, and a run in which everything happens that much earlier.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..body.foot_fade import step_through_fade
from ..body.stances import Flags
from ..errors import BadSettings
from ..files import Attachment
from ..motion import Clip, PropMotion, Take
from ..motion.cross_fade import cross_fade, fade_weights
from ..motion.io.npz import clip_from_arrays, clip_to_arrays
from ..motion.take import Measurement
from ..sim.stage_io import stage_from_arrays, stage_to_arrays
from ..sim.stage_parts import StageParts
from ..sim.trace import Trace
from .cast import attachment_name
from .method import Method, Run
from .muscle import MUSCLE
from .staging import STAGE

FRAME_RANGE = "range"
"""Name of the job's attachment, and of the report's detail."""

_RUN_IN_S = 0.5


@dataclass(frozen=True)
class FrameRange:
    """Frames of a clip, both included: ``first`` to ``last`` are simulated, from ``begin`` on; fades of ``fade``."""

    begin: int
    first: int
    last: int
    fade: int
    fps: float

    @property
    def begin_s(self) -> float:
        """When the simulation begins."""
        return self.begin / self.fps


def make_range_attachment(first_s: float, last_s: float, fade_s: float) -> dict[str, Attachment]:
    """What travels with a job of which only these seconds are simulated, with a fade inside of either end."""
    if not (np.isfinite(fade_s) and fade_s >= 0.0):
        raise BadSettings(f"The fade lasts {fade_s} s", "Give seconds, such as 0.25")
    return {FRAME_RANGE: ({}, {"first_s": float(first_s), "last_s": float(last_s), "fade_s": float(fade_s)})}


def load_range(run: Run, clip: Clip) -> FrameRange | None:
    """The frames that the job is about; None where it is about all of them."""
    attached = run.attachment(FRAME_RANGE)
    if attached is None:
        return None
    first, last = (round(float(attached[1][name]) * clip.fps) for name in ("first_s", "last_s"))
    first, last = max(first, 0), min(last, len(clip) - 1)
    if last - first < 1:
        raise BadSettings(
            "The frame range has nothing of the motion in it", f"Choose frames within its {clip.duration_s:.1f} s"
        )
    begin = max(first - round(_RUN_IN_S * clip.fps), 0)
    return FrameRange(begin, first, last, round(float(attached[1]["fade_s"]) * clip.fps), clip.fps)


def run_in_range(method: Method, clip: Clip, settings: Any, run: Run) -> Take | None:
    """Let the method do its work on the frames that the job is about, and give the take of the whole clip."""
    where = load_range(run, clip)
    if where is None:
        return method.run(clip, settings, run)
    inner = RangeRun(run, where)
    take = method.run(clip.frames(where.begin, where.last + 1), settings, inner)
    if take is None:
        return None
    kept = {"first_s": where.first / clip.fps, "last_s": where.last / clip.fps, "fade_s": where.fade / clip.fps}
    run.add_detail(FRAME_RANGE, kept)
    run.add_finding(
        FRAME_RANGE,
        f"Simulated from {kept['first_s']:.2f} to {kept['last_s']:.2f} s; before and after it is the source",
        "",
    )
    sources = [clip, *inner.member_clips(len(take.others))]
    traces: list[Trace | None] = [*inner.traces, *[None] * len(sources)]
    takes = (replace(take, others=(), props=()), *take.others)
    main, *others = (fade_take(*one, where) for one in zip(takes, sources, traces, strict=False))
    props = tuple(_extend_prop(prop, where, len(clip)) for prop in take.props)
    return replace(main, others=tuple(others), props=props)


def fade_take(take: Take, clip: Clip, trace: Trace | None, where: FrameRange) -> Take:
    """The clip with a take of its frames from ``where.begin`` on, which is faded in and out."""
    frames = np.clip(np.arange(len(clip)) - where.begin, 0, len(take.motion) - 1)
    pos, quat = take.motion.local_pos[frames], take.motion.local_quat_wxyz[frames]
    simulated = replace(clip, local_pos=pos, local_quat_wxyz=quat)
    weights = fade_weights(len(clip), where.first, where.last, where.fade)
    motion = cross_fade(clip, simulated, weights)
    contacts = None if take.contacts is None else take.contacts[frames] & (weights > 0.0)[:, None]
    if trace is not None and take.contacts is not None:
        stands = _on_links(take.contacts[frames], trace, clip)
        motion = step_through_fade(trace.body, motion, clip, simulated, weights, stands)
    fell_at_s, lost_at_s = (
        None if time_s is None else time_s + where.begin_s for time_s in (take.fell_at_s, take.lost_at_s)
    )
    return replace(
        take, motion=motion, contacts=contacts, fell_at_s=fell_at_s, lost_at_s=lost_at_s, source_times_s=None
    )


def _on_links(contacts: Flags, trace: Trace, clip: Clip) -> Flags:
    """(T, L) contacts of bones (T, B) as those of links."""
    return contacts[:, [clip.skeleton.index(link.bone) for link in trace.body.links]]


def _extend_prop(prop: PropMotion, where: FrameRange, count: int) -> PropMotion:
    frames = np.clip(np.arange(count) - where.begin, 0, len(prop) - 1)
    return PropMotion(prop.name, prop.pos[frames], prop.quat_wxyz[frames])


class RangeRun:
    """A run as a method sees it that is given some frames of a clip: implements ``core.control.method.Run``."""

    def __init__(self, run: Run, where: FrameRange) -> None:
        self._run, self._where = run, where
        self.engine, self.rng = run.engine, run.rng
        self.shards = getattr(run, "shards", None)
        self.traces: list[Trace] = []

    @property
    def seed(self) -> int:
        """As the job's own."""
        return self._run.seed

    def attachment(self, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """What the job was made with, as far as it is about those frames."""
        attached = self._run.attachment(name)
        if attached is None:
            return None
        arrays, meta = attached
        if name == MUSCLE:
            begin = round(self._where.begin_s * float(meta["fps"]))
            return {"muscle": arrays["muscle"][min(begin, len(arrays["muscle"]) - 1) :]}, meta
        if name == STAGE:
            return stage_to_arrays(_begin_later(stage_from_arrays(arrays, meta), self._where))
        if name.startswith("cast") and name.endswith("_clip"):
            cut, plain = clip_to_arrays(clip_from_arrays(arrays, meta).frames(self._where.begin, self._where.last + 1))
            return cut, {**meta, **plain}
        return attached

    def member_clips(self, count: int) -> list[Clip]:
        """The whole clips of so many other characters."""
        attached = (self._run.attachment(attachment_name("clip", number)) for number in range(1, count + 1))
        return [clip_from_arrays(*one) for one in attached if one is not None]

    def add_trace(self, trace: Trace) -> None:
        """Hand over what physics saw; the fades need to know where it touched the ground."""
        self.traces.append(replace(trace, begin_s=trace.begin_s + self._where.begin_s))
        self._run.add_trace(self.traces[-1])

    def progress(self, step: int, total: int, /, **measurements: Measurement) -> None:
        """As the job's own."""
        self._run.progress(step, total, **measurements)

    def save_checkpoint(self, step: int, /, **arrays: np.ndarray) -> None:
        """As the job's own."""
        self._run.save_checkpoint(step, **arrays)

    def load_checkpoint(self) -> tuple[int, dict[str, np.ndarray]] | None:
        """As the job's own."""
        return self._run.load_checkpoint()

    def add_finding(self, kind: str, message: str, hint: str) -> None:
        """As the job's own."""
        self._run.add_finding(kind, message, hint)

    def add_detail(self, name: str, value: Mapping[str, Any]) -> None:
        """As the job's own."""
        self._run.add_detail(name, value)

    def is_enough(self) -> bool:
        """As the job's own."""
        return self._run.is_enough()

    def show(self, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """As the job's own."""
        self._run.show(arrays, meta)

    def add_product(self, name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """As the job's own."""
        self._run.add_product(name, arrays, meta)


def _begin_later(parts: StageParts, where: FrameRange) -> StageParts:
    """The stage by the clock of frames that begin later; a push that is over before the range is none."""
    first_s = where.first / where.fps
    pushes = tuple(
        replace(push, start_s=push.start_s - where.begin_s)
        for push in parts.pushes
        if push.start_s + push.duration_s > first_s
    )
    props = tuple(replace(prop, appears_s=max(prop.appears_s - where.begin_s, 0.0)) for prop in parts.props)
    return replace(parts, pushes=pushes, props=props)
