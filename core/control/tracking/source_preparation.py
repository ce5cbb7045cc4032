# SPDX-License-Identifier: GPL-3.0-or-later
"""One way for every method to prepare a source: repair, jitter filter, ground, foot plant, flight times, in this order.

Captures have dropouts, tremble, float or sink, slide and fly at odd speeds. A body that had to track that would fail
or look odd, and whoever asked for it should know what was wrong with the source: every step that changes something
visible is a finding.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...body import BodyModel
from ...body.clearance import GroundingReport
from ...body.flight_retiming import RetimeReport, retime_flights
from ...body.foot_plant import FootPlantReport, plant_feet
from ...body.frozen_limbs import find_frozen_limbs
from ...body.missing_support import find_missing_support
from ...body.rigid_limbs import fix_limbs_to_body
from ...body.supported_motion import support_trunk
from ...body.terrain_adaptation import GroundSurface, adapt_to_ground
from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.flights import GRAVITY_M_S2
from ...motion.jitter_filter import JitterReport, filter_jitter
from ...motion.loops import loop_clip
from ...motion.repair import RepairReport, repair_clip
from ...sim.stage_parts import Finding
from ..method import Run

CYCLES = 5
"""A cycle is prepared among others like it and taken from the middle: its surroundings are as they will be."""

_VISIBLE_M = 0.02  # a smaller change of height is not worth a finding


@dataclass(frozen=True, eq=False)
class PreparationReport:
    """What was found and done.

    jittery: whether the source trembled. times_s: (T,) seconds in the source for every frame of the prepared clip;
    None where flights kept their times. begin_s: seconds at which the cycle in the middle begins, 0 for a single one.
    source_skate_m_s: foot skate before feet were planted; None where no foot stands.
    """

    findings: tuple[Finding, ...] = ()
    jittery: bool = False
    times_s: Array | None = None
    begin_s: float = 0.0
    source_skate_m_s: float | None = None


def clean_source(clip: Clip, *, cycles: int = 1, name: str = "") -> tuple[Clip, PreparationReport]:
    """The clip without dropouts, spikes and tremble: all that can be done before there is a body.

    cycles: how many times over the clip is played, for one that is a cycle. name: whose findings these are.
    """
    whole = loop_clip(clip, cycles)
    repaired, repair = repair_clip(whole)
    filtered, jitter = filter_jitter(repaired)
    first = (cycles // 2) * (len(clip) - 1)
    findings = _cleaning_findings(_repairs_in(repair, first, first + len(clip)), _per_cycle(jitter, cycles), name)
    return filtered, PreparationReport(findings, jitter.touched, begin_s=(cycles // 2) * clip.duration_s)


def prepare_source(
    body: BodyModel,
    clip: Clip,
    *,
    ground: GroundSurface | None = None,
    gravity_m_s2: float | None = GRAVITY_M_S2,
    fixed_time: str = "",
    can_keep_times: bool = False,
    cycles: int = 1,
    cleaned: PreparationReport | None = None,
    name: str = "",
    alone: bool = True,
) -> tuple[Clip, PreparationReport]:
    """A clip that the body can track, and what was found; a sound clip comes back as it is.

    ground: what it stands on; None is a flat floor at 0. gravity_m_s2: what flights are to fall at; None leaves their
    times. fixed_time: what else happens at its moment, so that wrong flights are found and left. can_keep_times:
    whether the animator may ask for the source's times, which a hint then says.
    cycles: as for ``clean_source``. cleaned: the report of ``clean_source`` for a clip that went through it already,
    because the body was built of it; its findings are not repeated. name: whose findings these are.
    alone: nobody else and nothing loose is on the stage that could hold it or be held.
    """
    findings: list[Finding] = []
    if cleaned is None:
        clip, cleaned = clean_source(clip, cycles=cycles, name=name)
        findings += cleaned.findings
    frozen = find_frozen_limbs(clip, body)
    findings += [Finding("needs_motion", _named(name, limb.message), limb.hint) for limb in frozen]
    clip, limbs = fix_limbs_to_body(body, clip)
    if limbs.touched:
        findings.append(Finding("limbs", _named(name, limbs.message), ""))
    clip, grounding = adapt_to_ground(body, clip, ground)
    if cycles == 1 and not frozen:  # who stands on a leg that is not where it was needs everything
        missing = find_missing_support(body, clip, ground, alone)
        findings += [Finding(one.kind, _named(name, one.message), one.hint) for one in missing]
    clip, planting = plant_feet(body, clip, ground, cleaned.jittery)
    findings += _contact_findings(grounding, planting, cycles, name)
    if ground is None:
        clip, support = support_trunk(body, clip)
        if support.touched:
            findings.append(Finding("support", _named(name, support.message), ""))
    report = replace(cleaned, findings=tuple(findings), source_skate_m_s=planting.slid)
    if gravity_m_s2 is None:
        return clip, report
    retimed, timing = retime_flights(body, clip, gravity_m_s2, ground)
    if not timing.touched:
        return clip, report
    seen = _flights_in(timing, report.begin_s, cycles)
    finding = _flight_finding(seen, fixed_time, can_keep_times, name)
    report = replace(report, findings=(*findings, finding))
    return (clip, report) if fixed_time else (retimed, replace(report, times_s=timing.times_s))


def add_findings(run: Run, findings: Iterable[Finding]) -> None:
    """Tell the user what was found."""
    for finding in findings:
        run.add_finding(finding.kind, finding.message, finding.hint)


def _cleaning_findings(repair: RepairReport, jitter: JitterReport, name: str) -> tuple[Finding, ...]:
    found = []
    if repair.touched:
        hint = "Look at those frames in the source if the take looks odd there"
        found.append(Finding("repair", _named(name, repair.message), hint))
    if jitter.touched:
        hint = "A recording with more frames a second or a better view keeps more of the motion"
        found.append(Finding("tremble", _named(name, jitter.message), hint))
    return tuple(found)


def _contact_findings(grounding: GroundingReport, planting: FootPlantReport, cycles: int, name: str) -> list[Finding]:
    found = []
    if max(abs(grounding.shift), grounding.lift, grounding.drop, grounding.rise) > _VISIBLE_M:
        frames = grounding.lifted_frames // cycles, grounding.lowered_frames // cycles
        one = replace(grounding, lifted_frames=frames[0], lowered_frames=frames[1])
        found.append(Finding("ground", _named(name, one.message), ""))
    if planting.touched:
        found.append(Finding("feet", _named(name, replace(planting, kept=planting.kept // cycles).message), ""))
    return found


def _flight_finding(timing: RetimeReport, fixed_time: str, can_keep_times: bool, name: str) -> Finding:
    if fixed_time:
        message = f"{timing.seen}, which nobody can do here; its time was left because of {fixed_time}"
        return Finding("flight", _named(name, message), "Simulate it without them to have it fixed")
    limited = any(flight.factor != flight.wanted for flight in timing.flights)
    return Finding("flight", _named(name, timing.message), timing.hint if limited or can_keep_times else "")


def _repairs_in(report: RepairReport, first: int, stop: int) -> RepairReport:
    """What was repaired in frames ``first`` to ``stop``, counted from the first of them."""
    return RepairReport(
        tuple(frame - first for frame in report.lost_frames if first <= frame < stop),
        *(
            tuple((bone, frame - first) for bone, frame in pairs if first <= frame < stop)
            for pairs in (report.spikes, report.jumps)
        ),
    )


def _per_cycle(report: JitterReport, cycles: int) -> JitterReport:
    return replace(report, held=report.held // cycles)


def _flights_in(report: RetimeReport, begin_s: float, cycles: int) -> RetimeReport:
    """The flights of the cycle that begins at ``begin_s``, and how much longer one cycle is."""
    if cycles == 1:
        return report
    lasts_s = 2.0 * begin_s / (cycles - 1)
    flights = tuple(
        replace(flight, start_s=flight.start_s - begin_s, stop_s=flight.stop_s - begin_s)
        for flight in report.flights
        if begin_s <= flight.start_s < begin_s + lasts_s
    )
    return replace(report, flights=flights or report.flights, longer_s=report.longer_s / cycles)


def _named(name: str, message: str) -> str:
    return f"{name}: {message}" if name else message
