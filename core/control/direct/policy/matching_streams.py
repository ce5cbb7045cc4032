# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams to practise on: what motion matching plays for artificial users (section 6.7), and the clips themselves."""

import numpy as np

from ....body import BodyModel
from ..artificial_user import ArtificialUser, find_speed_range
from ..database import MatchingDatabase
from ..directing import Directing
from ..features import FPS
from ..foot_locking import lock_feet_in_contact
from ..inertialisation import make_clip
from ..matching import MotionMatching
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
) -> ReferenceStreams:
    """So many characters, each directed by its own artificial user for so long. chance: of a new wish in a frame."""
    database = directing.database
    held = [(name,) for name in database.library.tag_names() if can_be_held(database, name)]
    styles: tuple[tuple[str, ...], ...] = (*((),) * max(1, len(held)), *held)  # any style every second time
    ranges = {style: find_speed_range(database, style, most_m_s) for style in styles}
    user = ArtificialUser(characters, rng, styles=styles, most_m_s=most_m_s, chance=chance, ranges=ranges)
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


def make_clip_streams(directing: Directing, body: BodyModel, chosen: Indices) -> ReferenceStreams:
    """Clips (K,) of the library as they are; those of less than a second are left out."""
    library = directing.database.library
    usable = [int(index) for index in chosen if library.starts[index + 1] - library.starts[index] > _SHORTEST_FRAMES]
    contacts = [directing.contacts[library.frames_of(index)] for index in usable]
    return make_streams(body, [library.clip(index) for index in usable], contacts)


def can_be_held(database: MatchingDatabase, style: str) -> bool:
    """Whether one can go on and on in a style: it has seconds, and keeps its speed, unlike a start or a stop."""
    frames = database.candidates((style,)).frames
    if len(frames) < _HELD_FRAMES:
        return False
    later = np.minimum(frames + int(FPS), database.ends[frames])
    speed = np.linalg.norm(database.track.vel, axis=-1)
    return abs(float(np.mean(speed[later] - speed[frames]))) < _HELD_SHARE * float(np.mean(speed[frames]))
