# SPDX-License-Identifier: GPL-3.0-or-later
"""What the policy sees (section 6.3): the simulated character, how it differs from the stream, and what comes next.

Everything is told in the stream's facing frame, so that nothing learned depends on place or direction. What only the
stream decides is computed once for all of its frames.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...geometry.quaternions import Array, conjugate, multiply, rotate, to_rotation_vector
from ...sim.engine import SensorRows, World
from ..matching.features import FPS
from ..tracking.facing import rotate_about_z
from .reference_streams import CONTROL_FRAMES, Floats, Indices, ReferenceStreams
from .stance_mirror import StanceMirror, find_body_mirror, find_mirrored, find_stance_links

_TRACKED = ("foot", "toe", "shin", "hand", "forearm", "head", "chest")
_COM_AHEAD = (6, 12, 24)  # frames
_FEET_AHEAD = (6, 18)
_CONTACTS_AHEAD = (0, 6, 12, 18)
_MOST = 20.0


def find_tracked_links(body: BodyModel) -> Indices:
    """Links whose places the policy sees."""
    return np.array([i for i, link in enumerate(body.links) if link.role in _TRACKED], dtype=np.int64)


def list_observation_parts(body: BodyModel, acting: Indices) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """What observations are made of, kind by kind (``stance_mirror.Parts``), in their order: of streams, and of states.

    acting: (A,) columns of the servo targets that the policy corrects.
    """
    links, feet = find_tracked_links(body), find_stance_links(body)
    tracked, both = f"links {_words(links)}", f"links {_words(feet)}"
    streams = [("vector", 3), ("same", 1), (tracked, 3 * len(links))]
    streams += [("vector", 3), ("opposite", 1), ("same", 1)] * len(_COM_AHEAD)
    streams += [(both, 3 * len(feet))] * len(_FEET_AHEAD)
    streams += [("sides" if len(feet) == 2 else "same", len(feet))] * len(_CONTACTS_AHEAD)
    states = [*(("vector", 3),) * 3, *(("axial", 3),) * 3, ("joints", body.nu), ("joints", body.nu)]
    states += [(tracked, 3 * len(links))] * 2 + [("same", 1), ("offsets", len(acting))]
    return streams, states


class StreamFeatures:
    """What observations need of every frame of the streams.

    rows: (F, R) of float32, as they are seen. stance: what mirrors observations; None for a body with unlike sides.
    mirrored: (F,) frames that are seen left for right, which ``rows`` are already. stance_links: those that stand.
    links_local: (F, L, 3) metres from the centre of mass in the facing frame; velocity: (F, 3) m/s of it there.
    """

    def __init__(self, streams: ReferenceStreams, acting: Indices) -> None:
        body, frames = streams.body, np.arange(len(streams))
        self.links, feet = find_tracked_links(body), find_stance_links(body)
        self.stance_links = feet
        heading, com = streams.heading.astype(float), streams.com.astype(float)

        def local(vectors: NDArray[Any]) -> Array:
            return rotate_about_z(-heading, vectors.astype(float))

        velocity = local(streams.com_velocity)
        self.links_local: Floats = local(streams.link_pos - com[:, None]).astype(np.float32)
        parts: list[NDArray[Any]] = [velocity, com[:, 2:3], self.links_local[:, self.links].reshape(len(frames), -1)]
        for ahead in _COM_AHEAD:
            then = streams.later(frames, ahead)
            turn = heading[then] - heading
            parts += [local(com[then] - com), np.sin(turn)[:, None], np.cos(turn)[:, None]]
        for ahead in _FEET_AHEAD:
            then = streams.later(frames, ahead)
            parts.append(local(streams.link_pos[then][:, feet] - com[:, None]).reshape(len(frames), -1))
        parts += [streams.contacts[streams.later(frames, ahead)].astype(float) for ahead in _CONTACTS_AHEAD]
        self.rows: Floats = np.concatenate(parts, axis=1, dtype=np.float32)
        self.velocity: Floats = velocity.astype(np.float32)
        self.stance = _make_stance(body, tuple(int(column) for column in acting))
        self.mirrored = np.zeros(len(streams), dtype=bool)
        if self.stance is not None:
            self.mirrored = find_mirrored(streams)
            self.rows[self.mirrored] = self.rows[self.mirrored] @ self.stance.streams.T

    def turn_actions(self, actions: NDArray[Any], frame: Indices) -> Array:
        """(N, A) the policy's actions as the body's in frames (N,)."""
        if self.stance is None:
            return np.array(actions, dtype=float)
        return self.stance.mirror_actions(actions, self.mirrored[frame])


@lru_cache(maxsize=4)
def _make_stance(body: BodyModel, acting: tuple[int, ...]) -> StanceMirror | None:
    """What mirrors observations of a body; kept, for live characters have new streams several times a second."""
    columns = np.array(acting, dtype=np.int64)
    mirror = find_body_mirror(body)
    return None if mirror is None else StanceMirror(mirror, body, columns, *list_observation_parts(body, columns))


def _words(links: Indices) -> str:
    return " ".join(str(link) for link in links)


@dataclass(frozen=True, eq=False)
class TrackingState:
    """N characters after a control step, beside the frames (N,) of the streams that they are at.

    qpos: (N, nq), qvel: (N, nv), link_pos: (N, L, 3), com: (N, 3), com_velocity: (N, 3), all in the world.
    """

    streams: ReferenceStreams
    features: StreamFeatures
    frame: Indices
    qpos: Array
    qvel: Array
    link_pos: Array
    com: Array
    com_velocity: Array

    def move(self, by: Array) -> None:
        """Put them (N, 2) metres further on the ground, in place: nobody else may have the state yet."""
        self.qpos[:, :2] += by
        self.com[:, :2] += by
        self.link_pos[..., :2] += by[:, None]
        self.__dict__.pop("com_error", None)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Copies of what is not of the streams, in the order of the fields."""
        names = ("frame", "qpos", "qvel", "link_pos", "com", "com_velocity")
        return tuple(np.array(getattr(self, name)) for name in names)

    @cached_property
    def heading(self) -> Array:
        """(N,) of the stream."""
        return self.streams.heading[self.frame].astype(float)

    @cached_property
    def com_error(self) -> Array:
        """(N, 3) metres, in the facing frame."""
        return rotate_about_z(-self.heading, self.com - self.streams.com[self.frame])

    @cached_property
    def velocity(self) -> Array:
        """(N, 3) m/s of the centre of mass, in the facing frame."""
        return rotate_about_z(-self.heading, self.com_velocity)

    @cached_property
    def links_local(self) -> Array:
        """(N, L, 3) metres from the centre of mass to the links, in the facing frame."""
        return rotate_about_z(-self.heading, self.link_pos - self.com[:, None])

    @cached_property
    def link_errors(self) -> Array:
        """(N, L, 3) the same less the stream's."""
        return np.asarray(self.links_local - self.features.links_local[self.frame])

    def observations(self, offsets: Array) -> NDArray[np.float32]:
        """(N, O) float32; offsets: (N, A) that the servos had in the last step."""
        streams, frame, count = self.streams, self.frame, len(self.frame)
        reference, rates = streams.qpos[frame].astype(float), streams.qvel[frame].astype(float)
        links = self.features.links
        turned = to_rotation_vector(multiply(self.qpos[:, 3:7], conjugate(reference[:, 3:7])))
        spin = rotate(self.qpos[:, 3:7], self.qvel[:, 3:6])
        spin_error = spin - rotate(reference[:, 3:7], rates[:, 3:6])
        vectors = rotate_about_z(-self.heading, np.stack([turned, spin, spin_error], axis=1)).reshape(count, 9)
        joints = streams.pose_space.difference(reference, self.qpos)[:, 6:]
        parts = [
            self.com_error,
            self.velocity,
            self.velocity - self.features.velocity[frame],
            vectors,
            joints,
            self.qvel[:, 6:] - rates[:, 6:],
            self.links_local[:, links].reshape(count, -1),
            self.link_errors[:, links].reshape(count, -1),
            self.com[:, 2:3],
            offsets,
        ]
        own = np.concatenate(parts, axis=1, dtype=np.float32)
        if self.features.stance is not None:
            self.features.stance.mirror_states(own, self.features.mirrored[frame])
        found = np.concatenate([self.features.rows[frame], own], axis=1)
        np.nan_to_num(found, copy=False, nan=0.0, posinf=_MOST, neginf=-_MOST)
        return np.clip(found, -_MOST, _MOST, out=found)


def read_state(
    streams: ReferenceStreams,
    features: StreamFeatures,
    world: World,
    states: Array,
    rows: SensorRows,
    frame: Indices,
    drawn: Array | None = None,
) -> TrackingState:
    """The characters in states (N, state_size), whose sensor rows end with these states.

    drawn: (N, 2) metres that streams have been drawn along by; they are told of as if streams were where they were.
    """
    qpos, qvel = world.pose_of(states)
    first = len(streams.body.links)
    found = TrackingState(
        streams,
        features,
        frame,
        np.array(qpos[:, : streams.body.nq]),
        qvel[:, : streams.body.nv],
        np.array(rows.link_pos[:, -1, :first]),
        np.array(rows.com[:, -1, 0]),
        rows.com_velocity[:, -1, 0],
    )
    if drawn is not None:
        found.move(-drawn)
    return found


def link_velocity(after: NDArray[Any], before: NDArray[Any]) -> Array:
    """(N, L, 3) m/s over a control step, from places before and after it."""
    found: Array = (after - before) * (FPS / CONTROL_FRAMES)
    return found


def make_blank(body: BodyModel, count: int) -> tuple[NDArray[Any], ...]:
    """Arrays for ``TrackingState`` of so many characters, in the order of its fields, to be filled."""
    shapes = ((body.nq,), (body.nv,), (len(body.links), 3), (3,), (3,))
    return (np.zeros(count, dtype=np.int64), *(np.zeros((count, *shape)) for shape in shapes))
