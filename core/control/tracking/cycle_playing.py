# SPDX-License-Identifier: GPL-3.0-or-later
"""A cycle on the spot, as physics needs it and as the animator wants it back.

No body can glide, so the cycle gets the travel that its stance feet ask for, and is played several times over: the
first cycles settle, and a later one is between two like it. That one comes back, as a loop of as many frames as the
source has, on the spot again or travelling.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.in_place import describe_travel, find_in_place
from ...body.travel_estimation import estimate_travel, measure_slides, standing_height
from ...errors import BadMotion
from ...geometry.quaternions import Array, angle_between
from ...motion import Clip, Take
from ...motion.loops import close_cycle, count_repeats, is_cyclic, loop_clip, seam_angle
from ...motion.losing import LostMotionDetector
from ...motion.seamless_loop import LOOP_BLEND_S, make_loop, measure_seam, narrow_seam
from ...motion.time_warp import warp_clip
from ...motion.travel import Travel, apply_travel, remove_travel
from ...sim.stage_parts import Finding
from ...sim.trace import Trace

Numbers = dict[str, float | int | str | None]

KIND = "in_place"
"""The kind of finding that tells of a cycle on the spot."""

_LEAST_STEP = 0.05  # of the height: what travels less in a cycle has nothing to be given
_LEAVE = "Leave it as it is with Travel: Off (--travel off)"


@dataclass(frozen=True, eq=False)
class PlayedCycle:
    """A source on the spot and how it is played.

    source: as the animator has it. cycle: one of its cycles, which ends exactly as it begins. repeats: how many of them
    the source has. cycles: how often the cycle is played.
    """

    source: Clip
    cycle: Clip
    travel: Travel
    repeats: int
    cycles: int

    @property
    def frames(self) -> int:
        """Frames of the source that one cycle has, its last among them."""
        return (len(self.source) - 1) // self.repeats + 1

    @property
    def duration_s(self) -> float:
        """Seconds that all cycles last."""
        return self.cycles * self.cycle.duration_s

    def play(self) -> Clip:
        """All cycles, one after the other, travelling."""
        return self.play_at(self.cycle.fps)

    def play_at(self, fps: float) -> Clip:
        """All cycles, travelling, at any frame rate."""
        looped = loop_clip(self.cycle, self.cycles)
        own_s = np.arange(int(np.floor(self.duration_s * fps + 1e-6)) + 1) / fps
        at_rate = looped if fps == looped.fps else replace(warp_clip(looped, own_s), fps=fps)
        return apply_travel(at_rate, self.travel, own_s)

    def play_once(self) -> Clip:
        """The source frame by frame, travelling."""
        return apply_travel(self.source, self.travel, np.arange(len(self.source)) / self.source.fps)


def plan_cycle(clip: Clip, body: BodyModel, wanted: str, cycles: int) -> PlayedCycle | None:
    """How to play a clip that is on the spot; None where it is to be left as it is.

    wanted: 'auto' for what is surely on the spot, 'on' for whatever is a cycle, 'off' for nothing.
    """
    if wanted == "off" or (wanted == "auto" and not is_cyclic(clip)):
        return None
    repeats = count_repeats(clip)
    single = clip.frames(0, (len(clip) - 1) // repeats + 1)
    if wanted == "on":
        travel = _force_travel(single, body)
    else:
        found = find_in_place(single, body)
        travel = found.travel if found is not None else None
    if travel is None:
        return None
    return PlayedCycle(clip, close_cycle(single), travel, repeats, max(cycles, repeats))


def _force_travel(clip: Clip, body: BodyModel) -> Travel | None:
    """What the feet of a cycle ask for, whatever else speaks against it; None where they stand already."""
    if not is_cyclic(clip):
        raise BadMotion(
            f"'{clip.name}' is not a cycle, so it cannot be given travel: its end is "
            f"{np.degrees(seam_angle(clip)):.0f}° a joint away from its beginning",
            f"Choose a frame range that ends as it begins. {_LEAVE}",
        )
    cycle = close_cycle(clip)
    slides = measure_slides(body, cycle)
    travel = estimate_travel(slides, cycle.duration_s) if slides is not None else None
    return travel if travel is not None and travel.step_m > _LEAST_STEP * standing_height(body, clip) else None


@dataclass(frozen=True, eq=False)
class SimulatedCycles:
    """A take of all cycles at any frame rate, with the clock that it was played at.

    times_s: (N,) seconds of the played cycles at equal times ``1 / fps`` of the take, where flights were retimed.
    lost_at_s: when the body was first where its source never is, None if it never was.
    """

    played: PlayedCycle
    take: Take
    times_s: Array | None
    fps: float
    lost_at_s: float | None = None

    @property
    def sound(self) -> list[int]:
        """The cycles that a loop can be made of: over, with the blend after them, before the body was lost."""
        last = max(self.played.cycles - 1, 1)
        if self.lost_at_s is None:
            return list(range(min(1, last - 1), last))
        ends_s = self.take_times((np.arange(last) + 1) * self.played.cycle.duration_s) + LOOP_BLEND_S
        return [index for index in range(last) if ends_s[index] < self.lost_at_s]

    def take_times(self, played_s: Array) -> Array:
        """(N,) seconds of the take at seconds (N,) of the played cycles."""
        if self.times_s is None:
            return played_s
        return np.interp(played_s, self.times_s, np.arange(len(self.times_s)) / self.fps)

    def sample(self, played_s: Array) -> Clip:
        """The take's poses at seconds (N,) of the played cycles, at the source's frame rate."""
        poses = warp_clip(self.take.motion, self.take_times(played_s))
        return replace(poses, fps=self.played.source.fps, tags=())

    def sample_contacts(self, played_s: Array) -> NDArray[np.bool_] | None:
        """(N, B) the take's contacts at those times."""
        if self.take.contacts is None:
            return None
        at = np.rint(self.take_times(played_s) * self.take.motion.fps).astype(int)
        return np.asarray(self.take.contacts[np.clip(at, 0, len(self.take.contacts) - 1)])

    def all_cycles(self) -> Take:
        """Everything that was simulated, at the source's frame rate."""
        fps = self.played.source.fps
        motion = replace(self.take.motion, tags=()).resample(fps)
        own_s = np.arange(len(motion)) / fps
        played_s = own_s
        if self.times_s is not None:
            played_s = np.interp(own_s, np.arange(len(self.times_s)) / self.fps, self.times_s)
        at = np.clip(np.rint(own_s * self.take.motion.fps).astype(int), 0, len(self.take.motion) - 1)
        return replace(
            self.take,
            motion=motion,
            contacts=None if self.take.contacts is None else self.take.contacts[at],
            source_times_s=None if self.times_s is None else played_s,
            period_s=self.played.cycle.duration_s,
        )

    def loop(self, root: int, travelling: bool) -> Take:
        """The best cycle as a loop of the source's frames, on the spot or travelling; root: the body's first bone."""
        played = self.played
        index, loop = self._best_loop(root)
        single = played.source.frames(0, played.frames)
        loop = loop_clip(narrow_seam(loop, measure_seam(single)), played.repeats)
        own_s = np.arange(len(loop)) / loop.fps
        begin_s = index * played.cycle.duration_s
        contacts = self.sample_contacts(begin_s + own_s[: played.frames])
        if contacts is not None:
            places = np.arange(len(loop)) % (played.frames - 1)
            contacts = contacts[np.where(np.arange(len(loop)) == len(loop) - 1, played.frames - 1, places)]
        loop = replace(loop, name=played.source.name)
        motion = apply_travel(loop, played.travel, own_s) if travelling else loop
        return replace(self.take, motion=motion, contacts=contacts)

    def _best_loop(self, root: int) -> tuple[int, Clip]:
        """Which cycle it is, and the loop: the one that is nearest to the source and to what follows it."""
        played = self.played
        period_s, fps = played.cycle.duration_s, played.source.fps
        own_s = np.arange(played.frames) / fps
        if played.cycles == 1:  # nothing follows it; its own ends are drawn together
            return 0, self._on_the_spot(own_s)
        found = []
        wanted = played.source.local_quat_wxyz[: played.frames]
        for index in self.sound:
            cycle, following = (self._on_the_spot(begin * period_s + own_s) for begin in (index, index + 1))
            gap = angle_between(cycle.local_quat_wxyz[0], following.local_quat_wxyz[0]).mean()
            away = angle_between(cycle.local_quat_wxyz, wanted).mean()
            found.append((float(gap + away), index, cycle, following))
        _, index, cycle, following = min(found, key=lambda one: one[:2])
        period = period_s * fps
        period = float(round(period)) if abs(period - round(period)) < 1e-6 else period
        return index, make_loop(cycle, following, period, root)

    def _on_the_spot(self, played_s: Array) -> Clip:
        return remove_travel(self.sample(played_s), self.played.travel, played_s)


def find_lost_time(trace: Trace) -> float | None:
    """Seconds after which a body that nothing disturbs was where its source never is; None if it never was."""
    detector = LostMotionDetector(trace.wanted_pos, trace.wanted_quat_wxyz, trace.body.trunk, trace.fps)
    spans = detector.lost_spans(trace.seen_pos, trace.seen_quat_wxyz, place_counts=True)
    return spans[0][0] * trace.dt_s if spans else None


def hand_back(cycles: SimulatedCycles, root: int, wanted: str, why: str) -> tuple[Take, Finding, Numbers]:
    """The take that the animator gets of the simulated cycles, what to say of it, and numbers for the report.

    wanted: 'on_spot', 'travelling' or 'all'. why: what happens on the stage that would make no loop; '' for nothing.
    """
    played = cycles.played
    if not cycles.sound and not why:
        why = "the fall"
    handed_back = "all" if why else wanted
    take = cycles.all_cycles() if handed_back == "all" else cycles.loop(root, handed_back == "travelling")
    finding = describe_outcome(played, handed_back, why)
    if handed_back != "all" and cycles.lost_at_s is not None:
        when = (
            f"it was lost {cycles.lost_at_s:.1f} s into {played.duration_s:.1f} s, and this cycle is from before that"
        )
        finding = replace(finding, message=f"{finding.message}; {when}")
    return take, finding, _describe_numbers(played, take, handed_back)


def describe_outcome(played: PlayedCycle, handed_back: str, why: str = "") -> Finding:
    """What was found and done, and why it is not what was asked for, if it is not."""
    travel, frames = played.travel, len(played.source)
    given = f"On the spot, {describe_travel(travel)}: it was given that travel"
    times = f", played {played.cycles} times" if played.cycles > played.repeats else ""
    back = {
        "on_spot": f"handed back as a loop of {frames} frames, on the spot again",
        "travelling": f"handed back as a loop of {frames} frames that travels {travel.step_m * played.repeats:.2g} m",
        "all": "handed back as it travels",
    }[handed_back]
    return Finding(KIND, f"{given}{times}, and {back}{f', because of {why}' if why else ''}", _LEAVE)


def _describe_numbers(played: PlayedCycle, take: Take, handed_back: str) -> Numbers:
    """Plain values for the report; the loop's seam is measured on the spot."""
    source = measure_seam(played.source)
    numbers: Numbers = {
        "speed_m_s": played.travel.speed_m_s,
        "step_m": played.travel.step_m,
        "turn_rad": played.travel.turn_rad,
        "cycles": played.cycles,
        "cycle_s": played.cycle.duration_s,
        "handed_back": handed_back,
        "source_seam_rad": source.angle_rad,
        "source_seam_m": source.distance_m,
    }
    if handed_back != "all":
        motion = take.motion
        if handed_back == "travelling":
            motion = remove_travel(motion, played.travel, np.arange(len(motion)) / motion.fps)
        seam = measure_seam(motion)
        numbers |= {"seam_rad": seam.angle_rad, "seam_m": seam.distance_m}
    return numbers
