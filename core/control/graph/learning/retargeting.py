# SPDX-License-Identifier: GPL-3.0-or-later
"""Retargeting (control graphs, 6.1): learning for another body is warm-started with a known graph.

Chains correspond by name and fragments by phase, so that a body which takes a little longer fits, too. Links correspond
by role and side, and their servos by the axes that these have while both bodies stand upright and face the same way,
whatever way bones are turned. What is carried over is how far servo targets are from the poses they aim at, and
feedback, whose numbers mean the same for every body: states scaled by size and mass, actions as they are.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....body import BodyModel
from ....body.poses import link_transforms
from ....errors import GraphError
from ....geometry.quaternions import Array, to_matrix
from ....motion.falling import character_height
from ...tracking.facing import upright_rotation
from ..model.control_graph import ControlGraph
from ..model.features import Features
from ..model.fragments import Indices, Track, hold_pose_targets
from ..model.policies import Policies
from ..model.structure import Chain, GraphStructure

_MOST_STRETCH = 1.5  # of a chain that is still thought to be the same motion


def align_fragments(known: ControlGraph, structure: GraphStructure) -> ControlGraph:
    """The known graph with the fragments of another structure, which may have fewer skills, but no others."""
    some = _fragments(known.structure, structure)
    track, policies = known.track, known.policies
    return replace(
        known,
        structure=structure,
        track=Track(track.body, track.qpos[some], track.rates[some], track.targets[some]),
        policies=Policies(*(getattr(policies, name)[some] for name in vars(policies))),
        turns=known.turns[some],
        turn_rates=None if known.turn_rates is None else known.turn_rates[some],
    )


def retarget_track(known: ControlGraph, structure: GraphStructure, track: Track) -> Track:
    """The track of another body, with the open-loop offsets of the known graph's control clips."""
    known = align_fragments(known, structure)
    ahead = known.track.targets - hold_pose_targets(known.body, known.track.qpos[:, 1:])
    carried = ahead @ _offsets(track.body, known.body, _pairs(track.body, known.body)).T
    return Track(track.body, track.qpos, track.rates, hold_pose_targets(track.body, track.qpos[:, 1:]) + carried)


def retarget_policies(known: ControlGraph, blank: Policies, features: Features) -> Policies:
    """Feedback of the known body for another, around the states in which its fragments begin.

    known: as ``align_fragments`` with the fragments that there are to be.
    """
    theirs = known.features
    if theirs.missing_parts != features.missing_parts:
        raise GraphError(
            "The graph's body has other limbs than this one", "Learn its skills without a graph to begin with"
        )
    # A body twice as tall sees everything twice as far away, and moves its limbs by the same angles.
    scale = _height(features.body) / _height(known.body)
    smaller = np.ones(len(features.scale))
    smaller[2:6] = smaller[9:-3] = 1.0 / scale
    smaller[6:9] = scale**-0.5
    smaller[-3:] = scale**-1.5 * known.body.mass / features.body.mass
    # A waist is a waist, be it a spine of one bone or the lowest of many.
    moved = _offsets(features.body, known.body, list(zip(features.actuated_links, theirs.actuated_links, strict=False)))
    moved = moved[np.ix_(features.action_dofs, theirs.action_dofs)]
    return Policies(
        moved @ (known.policies.gains * smaller),
        blank.states,
        known.policies.actions @ moved.T,
        np.sqrt(known.policies.spreads**2 @ (moved**2).T),
    )


def _offsets(body: BodyModel, known: BodyModel, pairs: Sequence[tuple[int, int]]) -> Array:
    """(nu, nu of the known) matrix that gives offsets of a body's servo targets from those of the known one's.

    pairs: corresponding links of both.
    """
    found = np.zeros((body.nu, known.nu))
    ours, theirs = _axes(body), _axes(known)
    for index, other in pairs:
        own, their = (
            slice(int(b.qvel_starts[i]) - 6, int(b.qvel_starts[i + 1]) - 6) for b, i in ((body, index), (known, other))
        )
        found[own, their] = ours[index].T @ theirs[other]
    return found


def _fragments(known: GraphStructure, wanted: GraphStructure) -> Indices:
    """(F,) for each fragment of a layout the one of the known that does the same."""
    found, taken = np.zeros(wanted.count, dtype=np.int64), set[int]()
    for chain in wanted.chains:
        other = next(
            (
                number
                for number, one in enumerate(known.chains)
                if number not in taken and (one.name, one.kind, one.gait) == (chain.name, chain.kind, chain.gait)
            ),
            None,
        )
        if other is None:
            raise GraphError(
                f"The graph to begin with has no '{chain.name}' that is learned as here",
                "Begin with a graph of the same skills and transitions",
            )
        taken.add(other)
        found[chain.first : chain.first + chain.count] = _phases(known.chains[other], chain)
    return found


def _phases(known: Chain, chain: Chain) -> Indices:
    """(count,) the known chain's fragments in the phases of a chain's own; of gaits, since the left foot came down."""
    if max(known.count, chain.count) > _MOST_STRETCH * min(known.count, chain.count) + 1.0:
        raise GraphError(
            f"'{chain.name}' lasts {chain.count} fragments, but {known.count} in the graph to begin with",
            "Begin with a graph of the same skills and transitions",
        )
    since = (np.arange(chain.count) - chain.touch) % chain.count
    return np.asarray(known.first + (known.touch + (since * 2 + 1) * known.count // (2 * chain.count)) % known.count)


def _height(body: BodyModel) -> float:
    """Metres that a body is tall as its joints read zero."""
    return character_height(link_transforms(body, _standing(body))[0])


def _axes(body: BodyModel) -> Sequence[Array]:
    """By link (3, dofs) the axes of its servos, while the body stands and faces along +X."""
    frames = to_matrix(link_transforms(body, _standing(body))[1][0])
    axes = []
    for link, frame in zip(body.links, frames, strict=True):
        axes.append((frame @ link.joint.axis)[:, None] if link.joint.kind == "hinge" else frame)
    return axes


def _standing(body: BodyModel) -> Array:
    """(1, nq) the body as its joints read zero, facing along +X."""
    qpos = np.zeros((1, body.nq))
    for index, link in enumerate(body.links):
        start = body.qpos_starts[index]
        if link.joint.kind == "free":
            qpos[0, 3:7] = upright_rotation(body)
        elif link.joint.kind == "ball":
            qpos[0, start] = 1.0
    return qpos


def _pairs(body: BodyModel, known: BodyModel) -> list[tuple[int, int]]:
    """Corresponding links of one body and the other."""
    found, taken = [], set[int]()
    for index, link in enumerate(body.links[1:], start=1):
        for other, theirs in enumerate(known.links[1:], start=1):
            if (theirs.role, theirs.side) == (link.role, link.side) and other not in taken:
                taken.add(other)
                found.append((index, other))
                break
    return found
