# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams to practise on: what motion matching plays for artificial users (section 6.7), and the clips themselves."""

from collections.abc import Callable

import numpy as np

from ...body import BodyModel
from ...geometry.quaternions import Array
from ..matching.artificial_user import ArtificialUser, find_speed_range
from ..matching.database import MatchingDatabase
from ..matching.directing import Directing
from ..matching.features import FPS
from ..matching.foot_locking import lock_feet_in_contact
from ..matching.guides import Guide
from ..matching.inertialisation import make_clip
from ..matching.matching import MotionMatching
from ..matching.rejoining import Rejoining
from .reference_streams import Indices, ReferenceStreams, make_streams

_SHORTEST_FRAMES = 60
_HELD_FRAMES = 600
_HELD_SHARE = 0.25  # of its speed that a style may gain or lose in a second, on average


def make_matching_streams(
    directing: Directing,
    body: BodyModel,
    rng: np.random.Generator,
    *,
    characters: int,
    seconds: float,
    chance: float,
    most_m_s: float = 3.0,
    ahead: float = 0.0,
) -> ReferenceStreams:
    """So many characters, each directed by its own artificial user for so long.

    chance: of a new wish in a frame. ahead: share of the wishes to go where one faces.
    """
    database = directing.database
    user = make_artificial_user(database, rng, characters=characters, chance=chance, most_m_s=most_m_s, ahead=ahead)
    candidates = database.candidates().frames
    matching = MotionMatching(
        database,
        user,
        rng.choice(candidates, size=characters),
        np.zeros((characters, 2)),
        rng.uniform(-np.pi, np.pi, size=characters),
    )
    played = matching.advance(round(seconds * FPS))
    clips, contacts = [], []
    for index in range(characters):
        frame = played.frame[index]
        motion = make_clip(database, frame, played.pos[index], played.yaw[index])
        clips.append(lock_feet_in_contact(body, motion, directing.contacts[frame]))
        contacts.append(directing.contacts[frame])
    return make_streams(body, clips, contacts)


def make_artificial_user(
    database: MatchingDatabase,
    rng: np.random.Generator,
    *,
    characters: int,
    chance: float,
    most_m_s: float = 3.0,
    ahead: float = 0.0,
) -> ArtificialUser:
    """One who wishes for what the library can do: any style every second time, else one that can be held."""
    held = [(name,) for name in database.library.tag_names() if can_be_held(database, name)]
    styles: tuple[tuple[str, ...], ...] = (*((),) * max(1, len(held)), *held)
    ranges = {style: find_speed_range(database, style, most_m_s) for style in styles}
    return ArtificialUser(characters, rng, styles=styles, most_m_s=most_m_s, chance=chance, ranges=ranges, ahead=ahead)


def rejoin_artificial_user(directing: Directing, seed: int, chance: float) -> Callable[[int], Rejoining]:
    """For each of several streams, how one that has fallen goes on: an artificial user wishes anew."""

    def rejoining_of(number: int) -> Rejoining:
        def guide_of(frame: int, place: Array) -> Guide:
            rng = np.random.default_rng([seed, number, frame])
            return make_artificial_user(directing.database, rng, characters=1, chance=chance)

        return Rejoining(directing, guide_of)

    return rejoining_of


def make_clip_streams(directing: Directing, body: BodyModel, chosen: Indices) -> ReferenceStreams:
    """Clips (K,) of the library as they are; those of less than a second or with lying in them are left out."""
    library, usable = directing.database.library, streamed_clips(directing, chosen)
    contacts = [directing.contacts[library.frames_of(index)] for index in usable]
    return make_streams(body, [library.clip(index) for index in usable], contacts)


def streamed_clips(directing: Directing, chosen: Indices) -> list[int]:
    """Which of clips (K,) there are streams of, by number."""
    library, grounded = directing.database.library, directing.database.grounded
    return [
        int(index)
        for index in chosen
        if library.starts[index + 1] - library.starts[index] > _SHORTEST_FRAMES
        and not grounded[library.frames_of(index)].any()
    ]


def can_be_held(database: MatchingDatabase, style: str) -> bool:
    """Whether one can go on and on in a style: it has seconds, and keeps its speed, unlike a start or a stop."""
    frames = database.candidates((style,)).frames
    if len(frames) < _HELD_FRAMES or database.grounded[frames].any():
        return False
    later = np.minimum(frames + int(FPS), database.ends[frames])
    speed = np.linalg.norm(database.track.vel, axis=-1)
    return abs(float(np.mean(speed[later] - speed[frames]))) < _HELD_SHARE * float(np.mean(speed[frames]))
