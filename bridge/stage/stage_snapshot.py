# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot of the stage's objects, read on Blender's main thread, and the stage that any thread makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...core.geometry.quaternions import Array
from ...core.sim.stage_parts import Finding, StageParts
from ..rig.rig_reader import RigMotion
from .meshes import MeshSnapshot
from .pushes import PushSpan, make_push_parts
from .solids import PropSnapshot, make_obstacle, make_projectile, make_prop, make_terrain
from .timing import Clock


@dataclass(eq=False)
class StageSnapshot:
    """Everything on the stage, filled while it is read; of what takes no part, why.

    cast: the characters' motions by name, the main one first. gravity: (3,) m/s². obstacles: each with its friction.
    pushes: each with its force (3,) in newtons by scene frame.
    """

    cast: Mapping[str, RigMotion]
    gravity: Array
    friction: float
    ground: bool
    self_collision: bool
    findings: list[Finding] = field(default_factory=list)
    terrain: list[MeshSnapshot] = field(default_factory=list)
    obstacles: list[tuple[MeshSnapshot, float]] = field(default_factory=list)
    props: list[PropSnapshot] = field(default_factory=list)
    projectiles: list[PropSnapshot | Finding] = field(default_factory=list)
    pushes: list[tuple[PushSpan, dict[int, Array]] | Finding] = field(default_factory=list)

    def parts(self) -> StageParts:
        """The stage in metres and seconds; refuses what cannot be simulated. For any thread."""
        first, findings = next(iter(self.cast.values())), list(self.findings)
        metres = first.metres_per_unit
        terrain, found = make_terrain(self.terrain, metres)
        findings += found
        obstacles = [make_obstacle(look, friction, metres) for look, friction in self.obstacles]
        props, pushes = [make_prop(loose, metres) for loose in self.props], []
        for thrown in self.projectiles:
            if isinstance(thrown, Finding):
                findings.append(thrown)
            else:
                prop, found = make_projectile(thrown, self.cast, self.gravity)
                props.append(prop)
                findings += found
        for pushed in self.pushes:
            if isinstance(pushed, Finding):
                findings.append(pushed)
            else:
                pushes += make_push_parts(*pushed, Clock.of(first))
        return StageParts(
            characters=tuple(self.cast),
            terrain=terrain,
            obstacles=tuple(obstacles),
            props=tuple(props),
            pushes=tuple(pushes),
            gravity=self.gravity,
            friction=self.friction,
            ground=self.ground,
            self_collision=self.self_collision,
            findings=tuple(findings),
        )
