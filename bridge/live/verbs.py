# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be asked of a running session by its buttons and keys."""

import numpy as np

from .hands import aimed_push, link_places, thrown_ball
from .running import RunningSession

VERBS = (
    ("STOP", "Stop", "End the session; the armature is as it was before"),
    ("PAUSE", "Pause", "Hold everything where it is, or go on"),
    ("RECORD", "Record", "Note what is done from here on, or stop and keep it to be baked"),
    ("LIMP", "Limp", "Let the character go limp, or give it its strength back"),
    ("RESET", "Reset", "Put everybody and everything back to where it began"),
    ("PUSH", "Push", "Push the character's trunk from its side"),
    ("BALL", "Ball", "Throw a ball at the character"),
    ("BOX", "Box", "Drop a box on the character"),
    ("BACK", "Back", "Go back by a second, and wait there"),
    ("FORTH", "Forth", "Go on by a second of what was before you went back, and wait there"),
    ("SLOWER", "Slower", "Let time go slower"),
    ("FASTER", "Faster", "Let time go faster, in the end as fast as it can"),
    ("FOLLOW", "Follow", "Let the view go along with the character, or stay where it is"),
)


SPEEDS = (0.1, 0.25, 0.5, 1.0, 0.0)
"""Session seconds a second, from slow to fast; 0 is as fast as it can."""


def name_speed(speed: float) -> str:
    """In words."""
    return "as fast as it can" if speed == 0.0 else "real time" if speed == 1.0 else f"{speed:g} of real time"


def do_verb(session: RunningSession, what: str) -> str:
    """Do it, and say what was done; what needs a direction takes one of its own."""
    view = session.view
    if what == "PAUSE":
        session.send({"ask": "go" if view.paused else "pause"})
        view.paused = not view.paused
        return "Paused" if view.paused else "Going on"
    if what == "RECORD":
        return _record(session)
    if what == "LIMP":
        session.send({"do": "muscle", "character": session.led, "value": 1.0 if view.limp else 0.0})
        return "Its strength comes back" if view.limp else "It goes limp"
    if what == "RESET":
        session.send({"do": "reset"})
        return "Begun anew"
    if what == "FOLLOW":
        view.follows = not view.follows
        return "The view goes along" if view.follows else "The view stays"
    if what in ("BACK", "FORTH"):
        session.look_at(view.frame + (-60 if what == "BACK" else 60))
        return f"A second {what.lower()}: Pause goes on from here"
    if what in ("SLOWER", "FASTER"):
        place = SPEEDS.index(view.speed) + (1 if what == "FASTER" else -1)
        view.speed = SPEEDS[min(max(place, 0), len(SPEEDS) - 1)]
        session.send({"ask": "speed", "value": view.speed})
        return f"Time goes: {name_speed(view.speed)}"
    return _throw(session, what)


def _record(session: RunningSession) -> str:
    view = session.view
    view.recording = not view.recording
    if view.recording:
        session.begin = view.frame
        return "Recording"
    session.send({"ask": "recording", "begin": session.begin})
    return "Recorded: Bake makes a take of it"


def _throw(session: RunningSession, what: str) -> str:
    places = link_places(session, session.led)
    if not places:
        return "It is not ready yet"
    metres = session.rigs[0].metres_per_unit
    middle = np.mean(list(places.values()), axis=0) * metres
    if what == "PUSH":
        trunk = next(iter(list(places)[1:] or places))
        session.send(aimed_push(session, (0.0, 1.0, 0.0), (session.led, trunk)))
        return f"Pushed '{trunk}'"
    if what == "BALL":
        begin = middle + np.array([0.0, -3.0, 0.4])
        session.send(thrown_ball(tuple(map(float, begin)), tuple(map(float, middle + [0.0, 0.0, 0.2]))))
        return "Thrown"
    session.send({"do": "drop", "at": [*map(float, middle[:2]), float(middle[2]) + 1.5]})
    return "Dropped"
