# SPDX-License-Identifier: GPL-3.0-or-later
"""Reference motion and open-loop control clip of every control fragment (section 4), each in its own frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ....body import BodyModel
from ....body.pose_space import PoseSpace
from ....body.poses import targets_of_pose
from ....geometry.quaternions import Array
from ....sim.engine import World
from ...tracking.facing import rotate_about_z, rotate_pose_about_z, twist_angle
from ...tracking.reference import (
    FRAGMENT_STEPS,
    Reference,
    compute_states,
    find_end_effectors,
    find_foot_links,
    read_sensors,
)

Indices = NDArray[np.int64]
Kind = TypeVar("Kind", bound=Reference)


@dataclass(frozen=True, eq=False)
class Track:
    """F control fragments of ``FRAGMENT_STEPS`` control steps; moment 0 is where a fragment begins.

    qpos: (F, STEPS + 1, nq), rates: (F, STEPS + 1, nv). targets: (F, STEPS, nu) the control
    clips, which lead to moments 1 to STEPS.
    Every fragment is in its own frame: it begins above the origin, facing along +X, so that
    place and heading are never part of anything learned.
    """

    body: BodyModel
    qpos: Array
    rates: Array
    targets: Array

    def __len__(self) -> int:
        return len(self.qpos)

    @cached_property
    def space(self) -> PoseSpace:
        """The tangent space in which poses are compared."""
        return PoseSpace(self.body)


def to_fragment_frame(qpos: Array, rates: Array, upright_wxyz: Array) -> tuple[Array, Array]:
    """Poses (..., T, nq) and rates (..., T, nv) moved so that the first of each T stands at the origin facing +X."""
    qpos = np.array(qpos)
    qpos[..., :2] -= qpos[..., :1, :2]
    heading = twist_angle(qpos[..., 0, 3:7], upright_wxyz)
    return rotate_pose_about_z(np.broadcast_to(-heading[..., None], qpos.shape[:-1]), qpos, rates)


def hold_pose_targets(body: BodyModel, qpos: Array) -> Array:
    """(n, T, nu) servo targets that hold poses (n, T, nq), without jumps over T."""
    return np.array([targets_of_pose(body, some) for some in qpos])


@dataclass(frozen=True, eq=False)
class WalkMotion:
    """A walk's fragments as one motion: 6 n + 1 moments of n fragments.

    qpos: (T, nq), rates: (T, nv), targets: (T, nu). headings: (n,) radians and places: (n, 2) of the fragments' frames.
    """

    qpos: Array
    rates: Array
    targets: Array
    headings: Array
    places: Array


def concatenate_fragments(track: Track, walk: Sequence[int] | Indices) -> WalkMotion:
    """The fragments of a walk, each begun where the one before it ended."""
    qpos, rates, targets = [track.qpos[walk[0], :1]], [track.rates[walk[0], :1]], [track.targets[walk[0], :1]]
    heading, place = np.zeros(()), np.zeros(2)
    headings, places = [], []
    last = track.qpos[walk[0], 0]
    for index, fragment in enumerate(walk):
        if index:
            heading = twist_angle(last[3:7], track.qpos[fragment, 0, 3:7])
            place = last[:2] - rotate_about_z(heading, track.qpos[fragment, 0, :3])[:2]
        steps = len(track.targets[fragment])
        posed, moved = rotate_pose_about_z(np.full(steps, heading), track.qpos[fragment, 1:], track.rates[fragment, 1:])
        posed[:, :2] += place
        qpos.append(posed)
        rates.append(moved)
        targets.append(track.targets[fragment])
        headings.append(float(heading))
        places.append(np.array(place))
        last = posed[-1]
    return WalkMotion(
        np.concatenate(qpos), np.concatenate(rates), np.concatenate(targets), np.array(headings), np.array(places)
    )


class FragmentReference(Reference):
    """A track as the sampler's tools see it: fragment k's moments are frames 7 k to 7 k + 6."""

    def frames_of_many(self, fragments: Indices) -> Indices:
        """(N, STEPS) the frames that the fragments' control steps lead to."""
        return fragments[:, None] * (FRAGMENT_STEPS + 1) + np.arange(1, FRAGMENT_STEPS + 1)

    def frame_before(self, fragments: Indices) -> Indices:
        """(N,) the frames that fragments begin in."""
        return fragments * (FRAGMENT_STEPS + 1)


def fragment_reference(track: Track, world: World) -> FragmentReference:
    """The track for the sampler's models and costs, as sensed in ``world``."""
    steps = FRAGMENT_STEPS + 1
    qpos, rates = track.qpos.reshape(-1, track.qpos.shape[-1]), track.rates.reshape(-1, track.rates.shape[-1])
    targets = np.concatenate([track.targets[:, :1], track.targets], axis=1).reshape(len(track) * steps, -1)
    return _make_reference(FragmentReference, track, world, qpos, rates, targets)


def walk_reference(track: Track, walk: Sequence[int] | Indices, world: World) -> tuple[Reference, WalkMotion]:
    """A walk through the track as one long clip for the sampler."""
    motion = concatenate_fragments(track, walk)
    return _make_reference(Reference, track, world, motion.qpos, motion.rates, motion.targets), motion


def _make_reference(kind: type[Kind], track: Track, world: World, qpos: Array, rates: Array, targets: Array) -> Kind:
    states = compute_states(world, qpos, rates)
    return kind(
        track.body,
        track.space,
        qpos,
        rates,
        states,
        targets,
        np.ones(len(qpos)),
        read_sensors(world, states),
        find_foot_links(track.body),
        find_end_effectors(track.body),
    )
