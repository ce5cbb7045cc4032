# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference motion graph (section 4): skills and the transitions between them; refuses what cannot be a graph."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from ....body.model import BodyModel
from ....errors import GraphError
from ....files import Attachment
from ....geometry.quaternions import Array
from ....motion import Clip, Skeleton
from ....motion.io.npz import clip_from_arrays, clip_to_arrays
from ....motion.loops import is_cyclic, seam_angle
from ...method import Run
from ...tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from ...tracking.skeleton_matching import describe_skeleton_difference

KINDS = ("cycle", "once", "rise")
FRAGMENT_S = FRAGMENT_STEPS / CONTROL_FPS
_LEAST_FRAGMENTS = 2
MOST_GRAPH_S = 600.0
"""Of all skills of a graph together: every moment is compared with every other, and ten minutes take 2 GB for that."""
_ROUNDING_S = 1e-6
# Radians a joint between the end of a cycle and its beginning, which a blend of several fragments can still bridge.
_WIDEST_SEAM = np.radians(30.0)


@dataclass(frozen=True, eq=False)
class Skill:
    """A clip that the character is to learn.

    kind: 'cycle' is played on and on; 'once' is played through and then left; 'rise' is a get-up, entered only after a
        fall, which leads back into the graph once it ends.
    gait: a walk or run that is the same on both sides, and is learned so.
    """

    name: str
    clip: Clip
    kind: str = "cycle"
    gait: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise GraphError("A skill has no name", "Name it after what it does, such as 'walk'")
        if self.kind not in KINDS:
            raise GraphError(f"Skill '{self.name}' is of the kind '{self.kind}'", f"Choose one of: {', '.join(KINDS)}")
        if self.clip.duration_s < _LEAST_FRAGMENTS * FRAGMENT_S - _ROUNDING_S:
            raise GraphError(
                f"Skill '{self.name}' lasts only {self.clip.duration_s:.2f} s",
                f"Give it a clip of at least {_LEAST_FRAGMENTS * FRAGMENT_S:g} s, which is two fragments",
            )
        if self.kind == "cycle" and not self.closes and seam_angle(self.clip) > _WIDEST_SEAM:
            apart = np.degrees(seam_angle(self.clip))
            raise GraphError(
                f"Skill '{self.name}' is no cycle: its end is {apart:.0f}° a joint away from its beginning",
                "Choose a frame range that ends as it begins, or make it a skill that is played once",
            )
        if self.gait and self.kind != "cycle":
            raise GraphError(f"Skill '{self.name}' is a gait, but no cycle", "Make it a cycle, or no gait")

    @cached_property
    def closes(self) -> bool:
        """Whether its end is so near its beginning that it is a cycle as it stands."""
        return is_cyclic(self.clip)

    @property
    def duration_s(self) -> float:
        """Seconds that its clip lasts."""
        return self.clip.duration_s

    @property
    def fragments(self) -> int:
        """How many fragments of about ``FRAGMENT_S`` its clip is cut into."""
        return max(round(self.clip.duration_s / FRAGMENT_S), _LEAST_FRAGMENTS)

    @property
    def boundaries_s(self) -> Array:
        """(fragments + 1,) seconds in its clip: where each fragment begins, and the end of the last."""
        return np.linspace(0.0, self.clip.duration_s, self.fragments + 1)

    def boundary_near(self, time_s: float) -> int:
        """The fragment boundary nearest to a time in its clip; in a cycle the end is the beginning, 0."""
        nearest = int(np.argmin(np.abs(self.boundaries_s - time_s)))
        return nearest % self.fragments if self.kind == "cycle" else nearest


@dataclass(frozen=True)
class Transition:
    """From one skill to another: the pose of ``source`` at ``leave_s`` is similar to that of ``target`` at ``enter_s``.

    Both in seconds of the skills' own clips.
    """

    source: str
    leave_s: float
    target: str
    enter_s: float

    def __str__(self) -> str:
        return f"{self.source}@{self.leave_s:.2f}>{self.target}@{self.enter_s:.2f}"


@dataclass(frozen=True, eq=False)
class MotionGraph:
    """Skills of one skeleton and the transitions between them.

    Making one refuses what cannot be a graph; ``require_connected`` asks for more, which a graph that is still being
    put together does not have yet.
    """

    skills: tuple[Skill, ...]
    transitions: tuple[Transition, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "skills", tuple(self.skills))
        object.__setattr__(self, "transitions", tuple(self.transitions))
        if not self.skills:
            raise GraphError("The graph has no skills", "Collect at least one clip as a skill")
        seen: set[str] = set()
        for skill in self.skills:
            if skill.name in seen:
                raise GraphError(f"Two skills are called '{skill.name}'", "Rename one of them")
            seen.add(skill.name)
            if different := describe_skeleton_difference(self.skeleton, skill.clip.skeleton):
                raise GraphError(
                    f"The skills '{self.skills[0].name}' and '{skill.name}' have different skeletons: {different}",
                    "Collect skills of one armature, or retarget one of the clips",
                )
        total_s = sum(skill.duration_s for skill in self.skills)
        if total_s > MOST_GRAPH_S:
            longest = max(self.skills, key=lambda skill: skill.duration_s)
            raise GraphError(
                f"The skills last {total_s / 60.0:.0f} minutes together, and {MOST_GRAPH_S / 60.0:.0f} are the most",
                f"Cut '{longest.name}' ({longest.duration_s:.0f} s) down to one round of what is to be learned",
            )
        for index, transition in enumerate(self.transitions):
            self._check(transition)
            if transition in self.transitions[:index]:
                raise GraphError(f"The transition {transition} is in the graph twice", "Remove one of them")

    def _check(self, transition: Transition) -> None:
        ends = ((transition.source, transition.leave_s, "leaves"), (transition.target, transition.enter_s, "enters"))
        for name, time_s, verb in ends:
            if name not in self._by_name:
                known = ", ".join(self._by_name)
                raise GraphError(f"The transition {transition} {verb} '{name}', which is no skill", f"Skills: {known}")
            duration_s = self._by_name[name].duration_s
            if not -_ROUNDING_S <= time_s <= duration_s + _ROUNDING_S:
                raise GraphError(
                    f"The transition {transition} {verb} '{name}' at {time_s:g} s of {duration_s:.2f} s",
                    f"Choose a time from 0 to {duration_s:.2f}",
                )
        if self._by_name[transition.target].kind == "rise":
            raise GraphError(
                f"The transition {transition} enters '{transition.target}', which is a get-up",
                "Remove it: who falls gets there without one",
            )

    @cached_property
    def _by_name(self) -> dict[str, Skill]:
        return {skill.name: skill for skill in self.skills}

    def skill(self, name: str) -> Skill:
        """The skill of that name."""
        if name not in self._by_name:
            raise GraphError(f"There is no skill '{name}'", f"The skills are: {', '.join(self._by_name)}")
        return self._by_name[name]

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of all skills."""
        return self.skills[0].clip.skeleton

    def require_body(self, body: BodyModel) -> None:
        """Refuse a body that was built for other bones."""
        if not body.skeleton.same_bones(self.skeleton):
            raise GraphError("The body has other bones than the skills", "Build it for the skeleton of the skills")

    def require_connected(self) -> None:
        """Refuse a graph with dead ends: every skill must lead to all others but the get-ups."""
        wanted = [skill for skill in self.skills if skill.kind != "rise"]
        if not wanted:
            raise GraphError("All skills are get-ups", "Add a skill to get up for, such as a walk")
        for skill in self.skills:
            starts_s = [
                0.0,
                *(transition.enter_s for transition in self.transitions if transition.target == skill.name),
            ]
            for enter_s in starts_s if skill.kind == "once" else starts_s[:1]:
                self._require_onward(skill, enter_s, wanted)

    def _require_onward(self, skill: Skill, enter_s: float, wanted: Sequence[Skill]) -> None:
        """Refuse if a skill, entered at that time, is a dead end, or does not lead to all of ``wanted``."""
        where = f"'{skill.name}'" + (f" from {enter_s:.2f} s on" if enter_s > 0.0 else "")
        if skill.kind != "cycle" and not self._exits(skill.name, enter_s):
            raise GraphError(
                f"Nothing leads out of {where}, which ends", f"Add a transition from the end of '{skill.name}'"
            )
        reached = self._reached(skill.name, enter_s)
        missing = [other.name for other in wanted if other.name not in reached and other is not skill]
        if missing:
            names = " or ".join(f"'{name}'" for name in missing)
            raise GraphError(f"From {where} there is no way to {names}", "Add transitions that lead there")

    def _exits(self, name: str, enter_s: float) -> list[Transition]:
        """The transitions out of a skill that is entered at that time; of a cycle all of them."""
        cycles = self._by_name[name].kind == "cycle"
        return [
            transition
            for transition in self.transitions
            if transition.source == name and (cycles or transition.leave_s > enter_s)
        ]

    def _reached(self, name: str, enter_s: float) -> set[str]:
        """The skills that are reachable from a skill that is entered at that time."""
        ahead, taken, reached = self._exits(name, enter_s), set[Transition](), set[str]()
        while ahead:
            transition = ahead.pop()
            if transition not in taken:
                taken.add(transition)
                reached.add(transition.target)
                ahead += self._exits(transition.target, transition.enter_s)
        return reached


def motion_graph_attachments(graph: MotionGraph) -> dict[str, Attachment]:
    """Attachments of a job that learns the graph, besides the first skill's clip, which is the job's own."""
    found: dict[str, Attachment] = {
        f"skill{index}_clip": clip_to_arrays(skill.clip) for index, skill in enumerate(graph.skills[1:], start=1)
    }
    skills = [{"name": skill.name, "kind": skill.kind, "gait": skill.gait} for skill in graph.skills]
    found["graph"] = ({}, {"skills": skills, "transitions": [asdict(transition) for transition in graph.transitions]})
    return found


def read_motion_graph(run: Run, clip: Clip) -> MotionGraph:
    """The graph of a job's attachments; clip: the job's own, which is the first skill's."""
    attached = run.attachment("graph")
    if attached is None:
        raise GraphError("The job has no skills", "Collect clips as skills, and start it again")
    try:
        described, transitions = (
            attached[1]["skills"],
            [Transition(**transition) for transition in attached[1]["transitions"]],
        )
        choices = [(str(one["name"]), str(one["kind"]), bool(one["gait"])) for one in described]
    except (KeyError, TypeError) as error:
        raise GraphError(f"The skills of the job cannot be read: {error}", "Start the job again") from error
    clips = [clip]
    for index in range(1, len(choices)):
        if (its := run.attachment(f"skill{index}_clip")) is None:
            raise GraphError(f"The clip of skill '{choices[index][0]}' is missing", "Start the job again")
        clips.append(clip_from_arrays(*its))
    skills = (Skill(name, its, kind, gait) for (name, kind, gait), its in zip(choices, clips, strict=False))
    return MotionGraph(tuple(skills), tuple(transitions))
