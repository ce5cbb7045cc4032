# SPDX-License-Identifier: GPL-3.0-or-later
"""A directed motion from a library and a wish, without physics."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...errors import BadSettings
from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.library import Library
from ...sim.stage_parts import Finding
from .database import MatchingDatabase, MatchingWeights
from .features import FPS, PATH
from .foot_locking import lock_feet_in_contact, read_contacts
from .guides import RootState, WishGuide
from .inertialisation import make_clip
from .matching import BRAKING, BRAKING_ON_A_PATH, MotionMatching, Played
from .stopping import find_stopping_styles
from .wish import Wish

IDLE = "idle"
"""The style that is let in where standing is wished for and the wished style only goes."""
_TOO_FAST = 1.05  # times the fastest that there is
_STANDS_M_S = 0.15
_BEST_BEGINNINGS = 8  # of which the seed chooses one
_ARRIVED_M = 0.4


@dataclass(frozen=True, eq=False)
class DirectedMotion:
    """What was made. motion: at 60 frames a second, feet locked. played: which frames of the library.

    findings: what an animator should know of it.
    """

    motion: Clip
    played: Played
    transitions: int
    findings: tuple[Finding, ...] = ()


class Directing:
    """A library made ready to be directed, on one body; any number of motions can be made with it.

    build: the body that a motion will have, if it is built of that motion: soles lie as they do in it.
    """

    def __init__(
        self,
        body: BodyModel,
        library: Library,
        weights: MatchingWeights | None = None,
        build: Callable[[Clip], BodyModel] | None = None,
    ) -> None:
        self._build = build or (lambda _: body)
        self.database = MatchingDatabase(body, library, weights)
        self.contacts = read_contacts(body, library)

    def make_motion(
        self, wish: Wish, rng: np.random.Generator, *, steering: float = 0.1, lock: bool = True, name: str = ""
    ) -> DirectedMotion:
        """The motion that a wish asks for; what the library cannot do is refused, with what it can."""
        self._require_possible(wish)
        guide = self.make_guide(wish)
        pos, heading = guide.start()
        first = self._find_beginning(wish, guide, pos, heading, rng)
        matching = MotionMatching(
            self.database,
            guide,
            np.array([first]),
            pos[None],
            np.array([heading]),
            steering=steering,
            braking=BRAKING if wish.path is None else BRAKING_ON_A_PATH,
        )
        played = matching.advance(len(wish))
        motion = make_clip(self.database, played.frame[0], played.pos[0], played.yaw[0], name)
        if lock:
            motion = lock_feet_in_contact(self._build(motion), motion, self.contacts[played.frame[0]])
        findings = (*self._library_findings(), *_path_findings(guide, played))
        return DirectedMotion(motion, played, matching.transitions, findings)

    def make_guide(self, wish: Wish) -> WishGuide:
        """Who tells one character the wish."""
        stopping = tuple(find_stopping_styles(self.database, names) for names in wish.styles)
        return WishGuide(wish, self.standing_styles(wish), stopping)

    def _require_possible(self, wish: Wish) -> None:
        for index, names in enumerate(wish.styles):
            asked = wish.speed_m_s[wish.style == index]
            if not len(asked):
                continue
            most, fastest = float(asked.max()), self.database.candidates(names).fastest_m_s
            if most > _TOO_FAST * fastest:
                of = f" of style {' and '.join(repr(name) for name in names)}" if names else ""
                raise BadSettings(
                    f"{most:g} m/s were asked for, and the library's fastest motion{of} goes {fastest:.1f} m/s",
                    f"Ask for at most {fastest:.1f} m/s, for another style, or add faster clips",
                )

    def standing_styles(self, wish: Wish) -> tuple[tuple[str, ...], ...]:
        """For each of the wish's styles those to stand in: idle comes to one in which nobody stands.

        Without a style who stands is idle, if there is that: any stillness would do, also one in a crouch.
        """
        if IDLE not in self.database.library.tag_names():
            return wish.styles
        return tuple(self._standing_style(names) for names in wish.styles)

    def _standing_style(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            return (IDLE,)
        can_stand = self.database.candidates(names).slowest_m_s < _STANDS_M_S
        return names if can_stand or IDLE in names else (*names, IDLE)

    def _find_beginning(
        self, wish: Wish, guide: WishGuide, pos: Array, heading: float, rng: np.random.Generator
    ) -> int:
        """The frame to begin with: one that already goes as it is wished; which of the best, the seed says."""
        database = self.database
        candidates = database.candidates(guide.styles(0)[0])
        ahead = np.array([np.cos(heading), np.sin(heading)])
        state = RootState(pos[None], np.array([heading]), wish.speed_m_s[:1, None] * ahead)
        places, facing = guide.predict(0, state)
        away = np.concatenate([places[0] - pos, facing[0]])
        local = np.stack([away @ ahead, away @ [-ahead[1], ahead[0]]], axis=-1).reshape(-1)
        wanted = (local - database.mean[PATH.start :]) * database.scale[PATH.start :]
        far = ((database.features[candidates.frames, PATH.start :] - wanted) ** 2).sum(axis=-1)
        best = np.argsort(far, kind="stable")[: 10 * _BEST_BEGINNINGS : 10]
        return int(candidates.frames[best[int(rng.integers(len(best)))]])

    def _library_findings(self) -> tuple[Finding, ...]:
        short = self.database.left_out
        if not short:
            return ()
        some = ", ".join(f"'{name}'" for name in short[:3]) + (", …" if len(short) > 3 else "")
        clips = f"{len(short)} clips are" if len(short) > 1 else "A clip is"
        message = f"{clips} shorter than what motion matching looks ahead, and never played: {some}"
        return (Finding("library", message, "Use clips of more than a second"),)


def _path_findings(guide: WishGuide, played: Played) -> tuple[Finding, ...]:
    path, found = guide.path, []
    if path is None:
        return ()
    for place in path.cusps[:3]:
        message = f"The path turns back on itself {place:.1f} m from its beginning: the character turns round there"
        found.append(Finding("path", message, "Round the corner off for a wider turn"))
    if not path.closed:
        left = np.linalg.norm(played.pos[0] - path.points[-1], axis=-1)
        there = np.flatnonzero(left < _ARRIVED_M)
        if len(there) and there[0] < len(left) - FPS:
            message = f"The end of the path was reached after {there[0] / FPS:.1f} s"
            found.append(Finding("path", message, "Wish for fewer seconds, or for a slower speed"))
    return tuple(found)
