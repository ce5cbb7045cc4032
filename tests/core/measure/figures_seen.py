# SPDX-License-Identifier: GPL-3.0-or-later
"""A small figure whose parts are put anywhere by hand, and traces of it: every number can be worked out on paper."""

import numpy as np

from sinew.core.body import BodyModel, Joint
from sinew.core.motion import Clip
from sinew.core.sim.stage import Character, Stage
from sinew.core.sim.trace import Trace

from ..sim import bodies

FPS = 50.0
DT_S = 1.0 / FPS
SOLE = (0.05, 0.1, 0.03)  # half extents of the feet, whose origin is in their middle
UP = np.array([0.0, 0.0, 1.0])
_PLACES = {
    "pelvis": (0.0, 0.0, 1.0),
    "shin": (0.0, 0.0, 0.4),
    "foot": (0.0, 0.0, 0.03),
    "toe": (0.0, 0.1, 0.03),
    "forearm": (0.0, 0.0, 1.2),
    "hand": (0.0, 0.0, 1.0),
    "head": (0.0, 0.0, 1.6),
}


def figure(*parts: str, kind: str = "hinge", limit: float = 100.0) -> BodyModel:
    """A pelvis and these parts ('foot.L', 'head', ...) hanging on it, 10 kg each, bones of 0.2 m along Y."""
    links = [bodies.link("pelvis", -1, Joint("free", np.array(_PLACES["pelvis"])), bodies.sphere(0.1), 10.0, "pelvis")]
    for part in parts:
        role, _, side = part.partition(".")
        place = np.array(_PLACES[role]) - _PLACES["pelvis"] + [{"L": -0.2, "R": 0.2}.get(side, 0.0), 0.0, 0.0]
        joint = Joint(kind, place, torque_limit=limit)
        links.append(bodies.link(part, 0, joint, bodies.box(SOLE), 10.0, role, side))
    return bodies.body(links)


def standing(body: BodyModel, moments: int) -> tuple[np.ndarray, np.ndarray]:
    """Link frames (K, L, 3) and (K, L, 4) of the figure at rest."""
    pos, quat = body.skeleton.rest_world()
    return np.tile(pos, (moments, 1, 1)), np.tile(quat, (moments, 1, 1))


def weighing(body: BodyModel, moments: int, *parts: str) -> np.ndarray:
    """(K, L, 3) N: forces that carry these parts."""
    force = np.zeros((moments, len(body.links), 3))
    for part in parts:
        force[:, body.link_of(part)] = 9.81 * body.mass * UP / len(parts)
    return force


def trace_of(body: BodyModel, pos=None, quat=None, *, moments: int = 11, stage=None, **fields) -> Trace:
    """A trace in which everything is at rest but what is given; the centre of mass goes with the root."""
    if pos is not None:
        moments = len(pos)
    rest_pos, rest_quat = standing(body, moments)
    seen = rest_pos if pos is None else pos
    wanted = fields.get("wanted_pos", rest_pos)
    values = {
        "wanted_pos": wanted,
        "wanted_quat_wxyz": rest_quat,
        "wanted_com": wanted[:, 0],
        "seen_pos": seen,
        "seen_quat_wxyz": rest_quat if quat is None else quat,
        "seen_com": seen[:, 0],
        "contact_force": np.zeros_like(seen),
        "torque": np.zeros((moments, body.nu)),
        "rate": np.zeros((moments, body.nu)),
    } | fields
    return Trace(body, stage or Stage((Character(body),)), 0, FPS, **values)


def clip_of(body: BodyModel, pos: np.ndarray, fps: float = FPS) -> Clip:
    """The figure's bones at places (T, L, 3), turned as at rest."""
    return Clip.from_world(body.skeleton, fps, pos, standing(body, len(pos))[1])
