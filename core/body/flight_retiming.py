# SPDX-License-Identifier: GPL-3.0-or-later
"""Flight phases that do not fall as gravity has it are played slower or faster until they do.

In the air the centre of mass follows a parabola. Where it clearly does, but falls at another rate than the stage's
gravity, the flight was captured at another speed, or on another planet: it is stretched by sqrt(fall / gravity), and so
is a moment before and after it, for the speed of take-off and landing changes with it. What is not clearly a free
flight is left alone: a body that hangs, sits or climbs on what is not in the file falls slowly too.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..geometry.quaternions import Array, rotate
from ..motion import Clip
from ..motion.flights import GRAVITY_M_S2
from ..motion.time_warp import TimeStretch, compute_time_warp, warp_clip
from .hovering import centre_of_mass
from .model import BodyModel
from .stances import ground_height_under, lowest_points
from .terrain_adaptation import GroundSurface

_RAMP_S = 0.15
_OFF_GROUND_M = 0.02
_LEAST_S, _FEWEST_FRAMES = 0.18, 5
_RISE_M, _ARC_M = 0.05, 0.06  # of the lowest point, and of the centre of mass
# A body that falls slower than on Earth may hang on something: then only high flights count.
_HIGH_RISE_M, _HIGH_ARC_M = 0.15, 0.1
_HELD_M = 0.05  # a point that moves less than this in a flight is held
_MISFIT = 0.035  # of the arc: how far from a parabola the centre of mass may be
_PUSH = 0.3  # of the fall: sideways acceleration, of which there is none in the air
_OFF = 0.15  # of gravity: a fall that is off by less is let be; guessed masses are no better
_MOST_OFF = 1.6  # more than this is no matter of speed alone
_LEAST_STAGE, _MOST_STAGE = 0.5, 2.5  # what another gravity than the Earth's may add: 2.5 is the Moon
_WEIGHTLESS_M_S2 = 0.5


@dataclass(frozen=True)
class RetimedFlight:
    """Seconds ``start_s`` to ``stop_s`` of a clip in free flight, falling at ``fall_m_s2``; to last ``factor`` times.

    wanted: what the factor would be without a limit.
    """

    start_s: float
    stop_s: float
    fall_m_s2: float
    factor: float
    wanted: float


@dataclass(frozen=True, eq=False)
class RetimeReport:
    """What was done: the flights that do not fall as they should.

    times_s: (N,) seconds in the clip for every frame of the result. longer_s: by how much that is longer; negative
    where it is shorter.
    """

    flights: tuple[RetimedFlight, ...] = ()
    times_s: Array | None = None
    longer_s: float = 0.0

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return self.times_s is not None

    @property
    def seen(self) -> str:
        """What is wrong with the flights, in plain words."""
        falls = _range([flight.fall_m_s2 for flight in self.flights], 2)
        first = self.flights[0].start_s
        if len(self.flights) == 1:
            return f"The flight at {first:.1f} s falls at {falls} m/s²"
        return f"{len(self.flights)} flights, the first at {first:.1f} s, fall at {falls} m/s²"

    @property
    def message(self) -> str:
        """In plain words."""
        if not self.flights:
            return "Flights fall as they should"
        pieces = []
        for slower in (True, False):
            some = [flight.factor for flight in self.flights if (flight.factor > 1.0) == slower]
            if some:
                times = _range([factor if slower else 1.0 / factor for factor in some], 3)
                pieces.append(f"played {times} times as {'slowly' if slower else 'fast'}")
        subject = "it is" if len(self.flights) == 1 else "they are"
        change = f"the take is {abs(self.longer_s):.2f} s {'longer' if self.longer_s > 0 else 'shorter'}"
        return f"{self.seen}: {subject} {' or '.join(pieces)}, and {change}"

    @property
    def hint(self) -> str:
        """What else there is to do."""
        if any(flight.factor != flight.wanted for flight in self.flights):
            return "It would take even more than that: check the clip's frame rate and scale"
        return "Switch Fix Flight Times off to keep the source's timing"


def retime_flights(
    body: BodyModel, clip: Clip, gravity_m_s2: float = GRAVITY_M_S2, ground: GroundSurface | None = None
) -> tuple[Clip, RetimeReport]:
    """The clip with flights that fall at ``gravity_m_s2``, and what was done; the same clip where all do already.

    The clip must be on the ground already (``terrain_adaptation.adapt_to_ground``); None is a flat floor at 0.
    """
    if gravity_m_s2 < _WEIGHTLESS_M_S2 or len(clip) < _FEWEST_FRAMES:
        return clip, RetimeReport()
    flights = _flights(body, clip, gravity_m_s2, ground)
    wrong = tuple(flight for flight in flights if flight.factor != 1.0)
    if not wrong:
        return clip, RetimeReport()
    # The right ones as well: a change of speed must not reach into them.
    stretches = [TimeStretch(flight.start_s, flight.stop_s, flight.factor) for flight in flights]
    times_s = compute_time_warp(clip, stretches, _RAMP_S)
    result = warp_clip(clip, times_s)
    return result, RetimeReport(wrong, times_s, result.duration_s - clip.duration_s)


def _flights(body: BodyModel, clip: Clip, gravity: float, ground: GroundSurface | None) -> list[RetimedFlight]:
    """Clear flights from ground to ground, with what to do about each."""
    height, centre, points = _heights(body, clip, ground), centre_of_mass(body, clip), _ends(body, clip)
    found = []
    landings = np.flatnonzero(height <= _OFF_GROUND_M)
    for before, after in pairwise(landings):
        first, last = int(before) + 1, int(after) - 1
        if last - first + 1 < _FEWEST_FRAMES or (last - first) / clip.fps < _LEAST_S:
            continue
        span = slice(first, last + 1)
        held = np.linalg.norm(np.ptp(points[span], axis=0), axis=-1).min() < _HELD_M
        fall = None if held else _fall(centre[span], clip.fps, float(height[span].max()))
        if fall is not None:
            found.append(RetimedFlight(first / clip.fps, last / clip.fps, fall, *_factors(fall, gravity)))
    return found


def _fall(centre: Array, fps: float, rise: float) -> float | None:
    """m/s² at which a centre of mass (N, 3) falls; None where it is no clear free flight. rise: of the lowest point."""
    time = np.arange(len(centre)) / fps
    time = time - time.mean()
    terms = np.stack([np.ones_like(time), time, time**2], axis=-1)
    found = np.linalg.lstsq(terms, centre, rcond=None)[0]
    rough = float(np.sqrt(np.mean((centre - terms @ found)[:, 2] ** 2)))
    east, north, up = 2.0 * found[2]
    fall, arc = float(-up), float(-up) * float(np.ptp(time)) ** 2 / 8.0
    slow = fall < (1.0 - _OFF) * GRAVITY_M_S2
    if arc < (_HIGH_ARC_M if slow else _ARC_M) or rise < (_HIGH_RISE_M if slow else _RISE_M):
        return None
    return None if rough > _MISFIT * arc or np.hypot(east, north) > _PUSH * fall else fall


def _factors(fall: float, gravity: float) -> tuple[float, float]:
    """How many times as long a flight is to last, and without a limit."""
    if abs(fall / gravity - 1.0) < _OFF:
        return 1.0, 1.0
    own = float(np.clip(np.sqrt(fall / GRAVITY_M_S2), 1.0 / _MOST_OFF, _MOST_OFF))
    stage = float(np.clip(np.sqrt(GRAVITY_M_S2 / gravity), _LEAST_STAGE, _MOST_STAGE))
    wanted = float(np.sqrt(fall / gravity))
    return (wanted if np.isclose(own * stage, wanted) else own * stage), wanted


def _heights(body: BodyModel, clip: Clip, ground: GroundSurface | None) -> Array:
    """(T,) metres from the ground up to the lowest point of the body; very much where there is no ground."""
    pos, quat = clip.world()
    lowest = np.full(len(clip), np.inf)
    for link in body.links:
        bone = clip.skeleton.index(link.bone)
        points = pos[:, None, bone] + rotate(quat[:, None, bone], lowest_points(link, quat[:, bone]))
        lowest = np.minimum(lowest, (points[..., 2] - ground_height_under(points, ground)).min(axis=1))
    return lowest


def _ends(body: BodyModel, clip: Clip) -> Array:
    """(T, 2 L, 3) metres: both ends of the links' bones."""
    pos, quat = clip.world()
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    along = np.zeros((len(bones), 3))
    along[:, 1] = clip.skeleton.lengths[bones]
    tails = pos[:, bones] + rotate(quat[:, bones], np.broadcast_to(along, (len(clip), len(bones), 3)))
    return np.concatenate([pos[:, bones], tails], axis=1)


def _range(values: list[float], digits: int) -> str:
    """From the least to the most, with so many digits."""
    least, most = (f"{value:.{digits}g}" for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"
