# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion graph as fragments: one chain for each skill, one for each transition, and what may follow what."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....body import BodyModel
from ....body.pose_space import PoseSpace
from ....errors import GraphError
from ....geometry.quaternions import Array
from ....sim.stage_parts import Finding
from ...tracking.facing import rotate_about_z, twist_angle
from ...tracking.reference import FRAGMENT_STEPS
from ..transitions.blending import blend_transition, count_blend_fragments
from ..transitions.gait_blending import GaitCycle, blend_gaits
from ..transitions.motion_graph import MotionGraph, Skill, Transition
from .chains import ChainMotion, add_controls, align_last_pose, pose_distance, skill_motion
from .fragments import Indices, Track

_MARGIN = 4


@dataclass(frozen=True)
class Chain:
    """Fragments ``first`` to ``first + count`` in a row.

    name: the skill's, or 'walk>run' for a transition. kind: the skill's, or 'transition'. skill: the number of the
    skill that it is or leads to. gait: whether its second half mirrors its first. touch: of a gait, how many fragments
    after its first the left foot comes down; the right one does half a cycle later.
    """

    name: str
    kind: str
    skill: int
    first: int
    count: int
    gait: bool = False
    touch: int = 0

    @property
    def fragments(self) -> range:
        """Its fragments."""
        return range(self.first, self.first + self.count)


@dataclass(frozen=True, eq=False)
class GraphStructure:
    """Chains of F fragments together. follows: by fragment, what may come after it, its own chain's first."""

    chains: tuple[Chain, ...]
    follows: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """How many fragments there are."""
        return len(self.follows)

    @cached_property
    def chain_of(self) -> Indices:
        """(F,) which chain each fragment belongs to."""
        return np.repeat(np.arange(len(self.chains)), [chain.count for chain in self.chains])

    @cached_property
    def skill_of_chain(self) -> Indices:
        """(C,) which skill each chain is, or leads to."""
        return np.array([chain.skill for chain in self.chains], dtype=np.int64)

    @cached_property
    def twins(self) -> Indices:
        """(F,) for the second half of a gait the fragment that each mirrors; for all others themselves."""
        found = np.arange(self.count)
        for chain in self.chains:
            if chain.gait:
                half = chain.count // 2
                found[chain.first + half : chain.first + chain.count] -= half
        return found

    def chain(self, name: str) -> Chain:
        """The chain of the skill of that name."""
        skills = {chain.name: chain for chain in self.chains if chain.kind != "transition"}
        if name not in skills:
            raise GraphError(f"The graph has no skill '{name}'", f"It has: {', '.join(skills)}")
        return skills[name]


def convert_motion_graph(
    body: BodyModel, graph: MotionGraph, on_findings: Callable[[Iterable[Finding]], None] = lambda _: None
) -> tuple[GraphStructure, Track]:
    """The graph's chains and the track of all their fragments, before anything is learned.

    on_findings: called with what was wrong with each skill's clip.
    """
    graph.require_body(body)
    prepared = [skill_motion(body, skill) for skill in graph.skills]
    for own in prepared:
        on_findings(own.findings)
    skills = [_cut_after_last_exit(skill, graph, own) for skill, own in zip(graph.skills, prepared, strict=True)]
    chains, tracks, first = [], [], 0
    for index, (skill, moments) in enumerate(zip(graph.skills, skills, strict=True)):
        tracks.append(moments.cut(body))
        chains.append(Chain(skill.name, skill.kind, index, first, len(tracks[-1]), skill.gait, moments.touch))
        first += len(tracks[-1])
    follows: list[list[int]] = [[] for _ in range(first)]
    for chain in chains:
        for fragment in chain.fragments:
            last = fragment == chain.first + chain.count - 1
            if not last or chain.kind == "cycle":
                follows[fragment].append(chain.first if last else fragment + 1)
    numbers = {skill.name: index for index, skill in enumerate(graph.skills)}
    for way in graph.transitions:
        source, target = numbers[way.source], numbers[way.target]
        leaves, joins, moments = _transition_chain(
            body, way, skills[source], skills[target], chains[source], chains[target]
        )
        tracks.append(moments.cut(body))
        count = len(tracks[-1])
        chains.append(Chain(f"{way.source}>{way.target}", "transition", target, first, count))
        follows[leaves].append(first)
        follows += [[first + step + 1] for step in range(count - 1)] + [[joins]]
        first += count
    parts = (np.concatenate([getattr(one, name) for one in tracks]) for name in ("qpos", "rates", "targets"))
    return GraphStructure(tuple(chains), tuple(tuple(some) for some in follows)), Track(body, *parts)


def _cut_after_last_exit(skill: Skill, graph: MotionGraph, moments: ChainMotion) -> ChainMotion:
    """What ends, up to where it is left last: from what comes after that, nobody could go on."""
    left = [
        _nearest_boundary(moments.times_s, way.leave_s, False) for way in graph.transitions if way.source == skill.name
    ]
    if skill.kind == "cycle" or not any(left):
        return moments
    kept, last = slice(0, max(left) * FRAGMENT_STEPS + 1), max(left) + 1
    return ChainMotion(moments.qpos[kept], moments.rates[kept], moments.targets[kept], moments.times_s[:last])


def _transition_chain(
    body: BodyModel, way: Transition, source: ChainMotion, target: ChainMotion, leaving: Chain, entering: Chain
) -> tuple[int, int, ChainMotion]:
    """The fragment after which a transition begins, the one that it leads to, and its own moments."""
    if leaving.gait and entering.gait:
        poses, count = blend_gaits(body, _gait_cycle(source, leaving), _gait_cycle(target, entering), _MARGIN)
        last = leaving.first + (leaving.touch or leaving.count) - 1
        return last, entering.first + entering.touch, add_controls(body, poses, _MARGIN, np.zeros(count + 1))
    leave = _nearest_boundary(source.times_s, way.leave_s, leaving.kind == "cycle")
    enter = _nearest_boundary(target.times_s, way.enter_s, entering.kind == "cycle")
    if leave == 0 and leaving.kind != "cycle":
        raise GraphError(f"The transition {way} leaves '{way.source}' where it begins", "Leave it later")
    last = leave or leaving.count  # a cycle's beginning is its end
    left = (source.qpos[last * FRAGMENT_STEPS], source.rates[last * FRAGMENT_STEPS])
    entered = (target.qpos[enter * FRAGMENT_STEPS], target.rates[enter * FRAGMENT_STEPS])
    room = entering.count if entering.kind == "cycle" else entering.count - 1 - enter
    count = count_blend_fragments(pose_distance(body, left, entered), room)
    steps = count * FRAGMENT_STEPS + 1
    qpos, rates = _extend_motion(target, enter * FRAGMENT_STEPS, steps + _MARGIN, entering.kind == "cycle")
    eased = blend_transition(PoseSpace(body), body, qpos[:steps], rates[:steps], *left)
    # Before it comes the source, after it the target: so that rates and targets know no seam.
    came = align_last_pose(source.qpos[last * FRAGMENT_STEPS - _MARGIN : last * FRAGMENT_STEPS + 1], eased[0])[:-1]
    moments = add_controls(body, np.concatenate([came, eased, qpos[steps:]]), _MARGIN, np.zeros(count + 1))
    return leaving.first + last - 1, entering.first + (enter + count) % entering.count, moments


def _gait_cycle(moments: ChainMotion, chain: Chain) -> GaitCycle:
    """A gait's cycle from the step on that it is entered and left with."""
    qpos, _ = _extend_motion(moments, chain.touch * FRAGMENT_STEPS, len(moments.qpos), True)
    return GaitCycle(qpos)


def _nearest_boundary(times_s: Array, time_s: float, cycle: bool) -> int:
    """The fragment boundary nearest to a time in a clip; a cycle's last is its first."""
    if not cycle:
        return int(np.argmin(np.abs(times_s - time_s)))
    lasts_s = times_s[-1] - times_s[0]
    off = (times_s[:-1] - time_s + 0.5 * lasts_s) % lasts_s - 0.5 * lasts_s  # a gait may begin anywhere in its clip
    return int(np.argmin(np.abs(off)))


def _extend_motion(moments: ChainMotion, first: int, count: int, cycle: bool) -> tuple[Array, Array]:
    """``count`` poses and rates from moment ``first`` on; a cycle goes on where it ended, all else holds its end."""
    at = first + np.arange(count)
    last = len(moments.qpos) - 1
    if not cycle:
        at = np.minimum(at, last)
        return moments.qpos[at], moments.rates[at]
    qpos, rates = np.array(moments.qpos[at % last]), np.array(moments.rates[at % last])
    for index in np.flatnonzero(at >= last):  # at most one cycle further
        qpos[index : index + 1] = align_last_pose(moments.qpos[[at[index] % last, 0]], moments.qpos[last])[:1]
        heading = twist_angle(moments.qpos[last, 3:7], moments.qpos[0, 3:7])
        rates[index, :3] = rotate_about_z(heading, rates[index, :3])
    return qpos, rates
