# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a clip's frame rate true, and its scale? Flight, strides and balance tell the one, the size the other.

Everything falls alike: a motion that is played k times too fast falls at k squared times gravity. A false
alarm does more harm than a missed one, so what is not clear is not said.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .clip import Clip
from .flights import GRAVITY_M_S2, BodyPoints, Flight, estimate_body_points, fastest_fall, find_flights
from .gait_rate import is_balanced, is_off_balance, stride_ratio

# Rates that motion is recorded at, and how unlikely each is, in squared standard deviations.
_RATES = {24: 0.0, 30: 0.0, 60: 0.0, 120: 0.0, 25: 3.0, 50: 3.0, 100: 3.0, 48: 6.0, 125: 6.0, 240: 6.0}
_SIMPLE = 4.0  # how much likelier a rate is that is a whole multiple or part of the labelled one
_FAR = 0.12  # logarithm of the measured rate over one that is believed, at most
_APART = 4.0  # squared standard deviations by which it must be better than the next one

_TOO_FAST, _TOO_SLOW = 0.72, 1.6  # measured rate over labelled rate, from which it is worth a word
_HELD_M = 0.05  # what seems to float must not be supported by anything, not even by a rolling foot
_BALLOON = 3.0  # measured over labelled rate from which a body falls as slowly as a balloon

# A body that is carried falls no faster than one that is not. Who falls so fast, so long and so often is played too
# fast, whether or not a flight can be made out.
_PULLED, _PULLED_S, _PULLED_TIMES = 2.0, 0.15, 4

_STRIDE_SPREAD = 0.3  # relative, of what people's strides say of a rate

_SMALLEST_M, _TALLEST_M, _PERSON_M = 0.4, 3.0, 1.6
# Metres a unit: centimetres, millimetres, inches, feet, those of the CMU library, and metres once divided by a hundred.
_UNITS = (0.01, 0.001, 0.0254, 0.3048, 0.0564444, 100.0)
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class FrameRateFinding:
    """A frame rate that does not fit gravity.

    gravity_m_s2: how fast the motion falls at its labelled rate; None where nothing flies, and steps say so.
    flights: how many flights say so.
    factor: the suggested rate over the labelled one; 0.5 for a motion that is played twice too fast.
    suggested_fps: what the clip's rate should be.
    """

    gravity_m_s2: float | None
    flights: int
    factor: float
    suggested_fps: float
    message: str
    hint: str


@dataclass(frozen=True)
class ScaleFinding:
    """A character of no human size, whose units are in doubt.

    height_m: its longest side at rest.
    suggested_scale: what to multiply its units by.
    """

    height_m: float
    suggested_scale: float
    message: str
    hint: str


def check_frame_rate(clip: Clip) -> FrameRateFinding | None:
    """What the clip's flights, or else its steps, say against its frame rate; None where nothing is sure."""
    body = estimate_body_points(clip)
    if not _SMALLEST_M <= body.size_m <= _TALLEST_M:
        return None  # in wrong units gravity is wrong too; check_scale says so
    flights = find_flights(body)
    found = _measured_rate(flights)
    if found is None:
        return _check_falls(body, clip.fps) or (_check_steps(body, clip.fps) if not flights else None)
    measured, spread = found
    if not _clearly_off(measured / clip.fps, body, flights):
        return None
    suggested = _likeliest_rate(measured, spread, clip.fps)
    if suggested is None:
        return None
    gravity = GRAVITY_M_S2 * (clip.fps / measured) ** 2
    said = f"This motion falls at {_short(gravity)} m/s² in the air, {_of_gravity(gravity / GRAVITY_M_S2)}"
    return _finding(said, suggested, clip.fps, gravity, len(flights))


def _check_falls(body: BodyPoints, fps: float) -> FrameRateFinding | None:
    """What is pulled down again and again, by nothing."""
    fall = fastest_fall(body.centre, max(round(_PULLED_S * fps), 5), _PULLED_TIMES) * fps**2
    if fall < _PULLED * GRAVITY_M_S2:
        return None
    most = fps * np.sqrt(GRAVITY_M_S2 / fall)
    suggested = max((rate for rate in _RATES if rate < most * np.exp(_FAR) and _is_part(rate, fps)), default=None)
    if suggested is None:
        return None
    said = f"This motion falls at {_short(fall)} m/s² again and again, {_of_gravity(fall / GRAVITY_M_S2)}"
    return _finding(said, float(suggested), fps, fall)


def _is_part(rate: float, fps: float) -> bool:
    return abs(fps / rate - round(fps / rate)) < 0.005


def _check_steps(body: BodyPoints, fps: float) -> FrameRateFinding | None:
    """What strides and balance say of a motion without flights."""
    slow = stride_ratio(body, fps)
    if slow is not None:
        costs = {rate: _rate_cost(slow * fps, _STRIDE_SPREAD, rate, fps) for rate in _RATES if 1.5 * fps < rate <= 120}
        if not costs:
            return None
        suggested = float(min(costs, key=lambda rate: costs[rate]))
        return _finding(f"Its strides take {slow:.0f} times as long as anybody's of that length", suggested, fps)
    if not is_off_balance(body, fps):
        return None
    slower = [rate for rate in sorted(_RATES, reverse=True) if rate < fps - 0.005 and _is_part(rate, fps)]
    balanced = next((rate for rate in slower if fps / rate > 1.5 and is_balanced(body, rate)), None)
    if balanced is None:
        return None
    return _finding("Nobody could keep their balance at this speed", float(balanced), fps)


def _finding(
    message: str, suggested: float, fps: float, gravity_m_s2: float | None = None, flights: int = 0
) -> FrameRateFinding:
    return FrameRateFinding(
        gravity_m_s2=gravity_m_s2,
        flights=flights,
        factor=suggested / fps,
        suggested_fps=suggested,
        message=f"{message}: it was probably recorded at {suggested:g} frames a second, not {fps:.4g}",
        hint=f"Set the true frame rate to {suggested:g} (--fps {suggested:g})",
    )


def check_scale(clip: Clip) -> ScaleFinding | None:
    """Whether the character is too large or too small to be in metres."""
    height = estimate_body_points(clip).size_m
    if _SMALLEST_M <= height <= _TALLEST_M or height < 1e-6:
        return None
    fitting = [unit for unit in _UNITS if 0.8 < height * unit < 2.4]
    # A unit that people use is a better guess than the average person's height.
    scale = min(fitting, key=lambda unit: abs(np.log(height * unit / _PERSON_M)), default=_PERSON_M / height)
    scale = float(f"{scale:.3g}")
    size = f"{_short(height)} m" if height >= 0.1 else f"{_short(height * 1000.0)} mm"
    return ScaleFinding(
        height_m=height,
        suggested_scale=scale,
        message=f"The character is {size} tall, so physics will not fit it",
        hint=f"Give --scale {scale:g} or so",
    )


def _measured_rate(flights: Sequence[Flight]) -> tuple[float, float] | None:
    """Frames a second at which the flights fall as they should, and its relative standard deviation.

    None where there are no flights or they disagree.
    """
    if not flights:
        return None
    logs = 0.5 * np.log(GRAVITY_M_S2 / np.array([flight.fall for flight in flights]))
    agree = np.abs(logs - np.median(logs)) < 0.15
    if agree.mean() < 2.0 / 3.0:
        return None
    # What clips of known rate show: it is the body's guessed masses that limit us, more so in a part of a flight.
    sigmas = np.array([0.035 + 0.1 * (1.0 - flight.share) for flight in flights])
    weights = agree * sigmas**-2.0
    weights /= weights.sum()
    return float(np.exp(weights @ logs)), float(np.sqrt(0.03**2 + np.sum((weights * sigmas) ** 2)))


def _clearly_off(ratio: float, body: BodyPoints, flights: Sequence[Flight]) -> bool:
    """Whether a measured over a labelled rate cannot be explained but by a wrong label."""
    # A small or large character may be a person whose motion was scaled with the body: let it be off as that, too.
    as_person = ratio * np.sqrt(body.size_m / _PERSON_M)
    if max(ratio, as_person) < _TOO_FAST:
        return True  # nothing on Earth falls faster than it falls
    if min(ratio, as_person) < _TOO_SLOW:
        return False
    # To fall slowly, by contrast, it is enough to be held by what is not in the file: a rope, a partner, a step.
    # Then something else in the clip falls faster, or some point of the body hardly moves; but what falls as slowly
    # as a balloon and still makes a parabola is no body that something half holds.
    if ratio < _BALLOON and any(flight.stillest_m < _HELD_M for flight in flights):
        return False
    return all(fastest_fall(body.centre, flight.stop - flight.start) < 1.5 * flight.fall for flight in flights)


def _likeliest_rate(measured: float, spread: float, labelled: float) -> float | None:
    """The usual rate that the measured one must be, or None if two are about as likely."""
    costs = sorted((_rate_cost(measured, spread, rate, labelled), rate) for rate in _RATES)
    best = costs[0]
    if abs(np.log(measured / best[1])) > _FAR:
        return None
    # Rates that are nearly the same, such as 24 and 25, cannot be told apart, and nothing hangs on it.
    rivals = [cost for cost, rate in costs[1:] if abs(np.log(rate / best[1])) > 0.05]
    if rivals and rivals[0] < best[0] + _APART:
        return None
    return float(best[1])


def _rate_cost(measured: float, spread: float, rate: int, labelled: float) -> float:
    """How unlikely a usual rate is, in squared standard deviations."""
    ratio = max(rate / labelled, labelled / rate)
    simple = abs(ratio - round(ratio)) < 0.005 * ratio
    return float((np.log(measured / rate) / spread) ** 2 + _RATES[rate] - _SIMPLE * simple)


def _of_gravity(ratio: float) -> str:
    """How the fall compares, for people."""
    if ratio < 1.0:
        return f"{ratio:.0%} of gravity"
    whole = round(ratio)
    if whole < len(_WORDS) and abs(ratio - whole) < 0.1 * whole:
        return f"{_WORDS[whole]} times gravity"
    return f"{_short(ratio)} times gravity"


def _short(number: float) -> str:
    """Two digits are all that is known, but nobody reads 2.5e+02."""
    return f"{number:.0f}" if number >= 10.0 else f"{number:.2g}"
