# SPDX-License-Identifier: GPL-3.0-or-later
"""From a motion graph to a control graph: chains of control fragments and their successors (section 4)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....body import BodyModel
from ....body.pose_space import PoseSpace
from ....errors import GraphError
from ....geometry.quaternions import Array
from ....sim.stage_parts import Finding
from ...tracking.body_symmetry import find_asymmetry
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
    skill that it is or leads to. gait: whether it is a walk or run. touch: of a gait, how many fragments after its
    first the left foot comes down; the right one does half a cycle later. mirrored: of a gait, whether its second half
    mirrors its first.
    """

    name: str
    kind: str
    skill: int
    first: int
    count: int
    gait: bool = False
    touch: int = 0
    mirrored: bool = True

    @property
    def fragments(self) -> range:
        """Its fragments."""
        return range(self.first, self.first + self.count)


@dataclass(frozen=True, eq=False)
class GraphStructure:
    """Chains of F fragments. successors: by fragment those that may come after it, its own chain's first."""

    chains: tuple[Chain, ...]
    successors: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """How many fragments there are."""
        return len(self.successors)

    @cached_property
    def chain_of(self) -> Indices:
        """(F,) which chain each fragment belongs to."""
        return np.repeat(np.arange(len(self.chains)), [chain.count for chain in self.chains])

    @cached_property
    def skill_of_chain(self) -> Indices:
        """(C,) which skill each chain is, or leads to."""
        return np.array([chain.skill for chain in self.chains], dtype=np.int64)

    @cached_property
    def mirror_of(self) -> Indices:
        """(F,) for fragments of a gait's second stride those of the first that they mirror; for others themselves."""
        found = np.arange(self.count)
        for chain in self.chains:
            if chain.gait and chain.mirrored:
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
    """The initial control graph (Algorithm 2, line 2): its structure, and the track of all its fragments.

    on_findings: called with what was wrong with each skill's clip, and with why gaits are not made symmetric.
    """
    graph.require_body(body)
    uneven = find_asymmetry(body) if any(skill.gait for skill in graph.skills) else None
    on_findings([uneven] if uneven else [])
    prepared = [skill_motion(body, skill, mirrored=uneven is None) for skill in graph.skills]
    for own in prepared:
        on_findings(own.findings)
    skills = [_cut_after_last_exit(skill, graph, own) for skill, own in zip(graph.skills, prepared, strict=True)]
    chains, tracks, first = [], [], 0
    for index, (skill, motion) in enumerate(zip(graph.skills, skills, strict=True)):
        tracks.append(motion.segment(body))
        gait = (skill.gait, motion.touch, uneven is None)
        chains.append(Chain(skill.name, skill.kind, index, first, len(tracks[-1]), *gait))
        first += len(tracks[-1])
    successors: list[list[int]] = [[] for _ in range(first)]
    for chain in chains:
        for fragment in chain.fragments:
            last = fragment == chain.first + chain.count - 1
            if not last or chain.kind == "cycle":
                successors[fragment].append(chain.first if last else fragment + 1)
    numbers = {skill.name: index for index, skill in enumerate(graph.skills)}
    for transition in graph.transitions:
        source, target = numbers[transition.source], numbers[transition.target]
        leaves, joins, motion = _transition_chain(
            body, transition, skills[source], skills[target], chains[source], chains[target]
        )
        tracks.append(motion.segment(body))
        count = len(tracks[-1])
        chains.append(Chain(f"{transition.source}>{transition.target}", "transition", target, first, count))
        successors[leaves].append(first)
        successors += [[first + step + 1] for step in range(count - 1)] + [[joins]]
        first += count
    parts = (np.concatenate([getattr(one, name) for one in tracks]) for name in ("qpos", "rates", "targets"))
    return GraphStructure(tuple(chains), tuple(tuple(some) for some in successors)), Track(body, *parts)


def _cut_after_last_exit(skill: Skill, graph: MotionGraph, motion: ChainMotion) -> ChainMotion:
    """A skill that is no cycle up to its last exit: after it, there would be a dead end."""
    left = [
        _nearest_boundary(motion.times_s, transition.leave_s, False)
        for transition in graph.transitions
        if transition.source == skill.name
    ]
    if skill.kind == "cycle" or not any(left):
        return motion
    kept, last = slice(0, max(left) * FRAGMENT_STEPS + 1), max(left) + 1
    return ChainMotion(motion.qpos[kept], motion.rates[kept], motion.targets[kept], motion.times_s[:last])


def _transition_chain(
    body: BodyModel, transition: Transition, source: ChainMotion, target: ChainMotion, leaving: Chain, entering: Chain
) -> tuple[int, int, ChainMotion]:
    """The fragment after which a transition begins, the one that it leads to, and its motion."""
    if leaving.gait and entering.gait:
        poses, count = blend_gaits(body, _gait_cycle(source, leaving), _gait_cycle(target, entering), _MARGIN)
        last = leaving.first + (leaving.touch or leaving.count) - 1
        return last, entering.first + entering.touch, add_controls(body, poses, _MARGIN, np.zeros(count + 1))
    leave = _nearest_boundary(source.times_s, transition.leave_s, leaving.kind == "cycle")
    enter = _nearest_boundary(target.times_s, transition.enter_s, entering.kind == "cycle")
    if leave == 0 and leaving.kind != "cycle":
        raise GraphError(f"The transition {transition} leaves '{transition.source}' where it begins", "Leave it later")
    last = leave or leaving.count  # a cycle's beginning is its end
    left = (source.qpos[last * FRAGMENT_STEPS], source.rates[last * FRAGMENT_STEPS])
    entered = (target.qpos[enter * FRAGMENT_STEPS], target.rates[enter * FRAGMENT_STEPS])
    room = entering.count if entering.kind == "cycle" else entering.count - 1 - enter
    count = count_blend_fragments(pose_distance(body, left, entered), room)
    steps = count * FRAGMENT_STEPS + 1
    qpos, rates = _extend_motion(target, enter * FRAGMENT_STEPS, steps + _MARGIN, entering.kind == "cycle")
    eased = blend_transition(PoseSpace(body), body, qpos[:steps], rates[:steps], *left)
    # With the source before it and the target after it, rates and targets have no seam.
    came = align_last_pose(source.qpos[last * FRAGMENT_STEPS - _MARGIN : last * FRAGMENT_STEPS + 1], eased[0])[:-1]
    motion = add_controls(body, np.concatenate([came, eased, qpos[steps:]]), _MARGIN, np.zeros(count + 1))
    return leaving.first + last - 1, entering.first + (enter + count) % entering.count, motion


def _gait_cycle(motion: ChainMotion, chain: Chain) -> GaitCycle:
    """A gait's cycle from the left touchdown on, with which it is entered and left."""
    qpos, _ = _extend_motion(motion, chain.touch * FRAGMENT_STEPS, len(motion.qpos), True)
    return GaitCycle(qpos)


def _nearest_boundary(times_s: Array, time_s: float, cycle: bool) -> int:
    """The fragment boundary nearest to a time in a clip; a cycle's last is its first."""
    if not cycle:
        return int(np.argmin(np.abs(times_s - time_s)))
    lasts_s = times_s[-1] - times_s[0]
    off = (times_s[:-1] - time_s + 0.5 * lasts_s) % lasts_s - 0.5 * lasts_s  # a gait may begin anywhere in its clip
    return int(np.argmin(np.abs(off)))


def _extend_motion(motion: ChainMotion, first: int, count: int, cycle: bool) -> tuple[Array, Array]:
    """``count`` poses and rates from moment ``first`` on; a cycle goes on where it ended, all else holds its end."""
    at = first + np.arange(count)
    last = len(motion.qpos) - 1
    if not cycle:
        at = np.minimum(at, last)
        return motion.qpos[at], motion.rates[at]
    qpos, rates = np.array(motion.qpos[at % last]), np.array(motion.rates[at % last])
    for index in np.flatnonzero(at >= last):  # at most one cycle further
        qpos[index : index + 1] = align_last_pose(motion.qpos[[at[index] % last, 0]], motion.qpos[last])[:1]
        heading = twist_angle(motion.qpos[last, 3:7], motion.qpos[0, 3:7])
        rates[index, :3] = rotate_about_z(heading, rates[index, :3])
    return qpos, rates
