# SPDX-License-Identifier: GPL-3.0-or-later
"""The same skills on another body: what one has learned is where the other begins (control graphs, 6.1).

Links correspond by role and side. What is carried over is how far servo targets are from the poses they aim at, and
feedback, whose numbers mean the same for every body: states scaled by size, actions as they are.
"""

from collections.abc import Sequence

import numpy as np

from ...body import BodyModel
from ...body.poses import link_transforms
from ...errors import GraphError
from ...geometry.quaternions import Array
from ...motion.falling import height_of
from .control_graph import ControlGraph
from .features import Features
from .layout import Chain, Layout
from .policies import Policies
from .track import Track, held_targets


def retargeted_track(known: ControlGraph, layout: Layout, track: Track) -> Track:
    """The track of another body with the open-loop corrections that were found for the known one."""
    _require_alike(known.layout.chains, layout.chains)
    ahead = known.track.targets - held_targets(known.body, known.track.qpos[:, 1:])
    carried = np.zeros_like(track.targets)
    for own, other in _pairs(track.body, known.body):
        carried[..., own] = ahead[..., other]
    return Track(track.body, track.qpos, track.rates, held_targets(track.body, track.qpos[:, 1:]) + carried)


def retargeted_policies(known: ControlGraph, blank: Policies, features: Features) -> Policies:
    """Feedback of the known body for another, around the states in which its fragments begin."""
    theirs = known.features
    if theirs.lacks != features.lacks:
        raise GraphError(
            "The graph's body has other limbs than this one", "Learn its skills without a graph to begin with"
        )
    # A body twice as tall sees everything twice as far away, and moves its limbs by the same angles.
    size = height_of(link_transforms(features.body, _standing(features.body))[0])
    scale = size / height_of(link_transforms(known.body, _standing(known.body))[0])
    smaller = np.ones(len(features.scale))
    smaller[2:6] = smaller[9:-3] = 1.0 / scale
    smaller[6:9] = scale**-0.5
    smaller[-3:] = scale**-1.5 * known.body.mass / features.body.mass
    return Policies(known.policies.gains * smaller, blank.states, known.policies.actions, known.policies.spreads)


def _standing(body: BodyModel) -> Array:
    """(1, nq) the body as its joints read zero."""
    qpos = np.zeros((1, body.nq))
    for index, link in enumerate(body.links):
        start = body.qpos_starts[index]
        if link.joint.kind == "free":
            qpos[0, 3:7] = body.skeleton.rest_world()[1][body.skeleton.index(link.bone)]
        elif link.joint.kind == "ball":
            qpos[0, start] = 1.0
    return qpos


def _require_alike(known: Sequence[Chain], wanted: Sequence[Chain]) -> None:
    for chain in wanted:
        if chain not in known:
            raise GraphError(
                f"The graph to begin with has no '{chain.name}' of {chain.count} fragments",
                "Begin with a graph of the same skills and transitions",
            )


def _pairs(body: BodyModel, known: BodyModel) -> list[tuple[slice, slice]]:
    """Where the servos of corresponding links are, in one body and the other."""
    found, taken = [], set()
    for index, link in enumerate(body.links[1:], start=1):
        for other, theirs in enumerate(known.links[1:], start=1):
            alike = (theirs.role, theirs.side, theirs.joint.kind) == (link.role, link.side, link.joint.kind)
            if alike and other not in taken:
                taken.add(other)
                own, their = (
                    slice(b.qvel_starts[i] - 6, b.qvel_starts[i + 1] - 6) for b, i in ((body, index), (known, other))
                )
                found.append((own, their))
                break
    return found
