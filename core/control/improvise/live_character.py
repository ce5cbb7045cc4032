# SPDX-License-Identifier: GPL-3.0-or-later
"""What improvises, live: it does as it likes, or what it is steered to where it has learned a task that can be."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...body.poses import targets_of_pose
from ...geometry.quaternions import Array
from ...motion import Clip
from ..live_character import LiveCast, SensedBody, Steering, WantedPose, place_learned_cast, wanted_of_pose
from ..matching.features import find_head
from ..method import Run
from ..tasks.task import Moment, Task
from ..tasks.tasks_table import get_task
from ..tracking_policy.reference_streams import CONTROL_FRAMES
from .bake_method import place_starts
from .body_states import BodyState, StateReader
from .falling import has_fallen
from .learned_file import Improviser
from .task_acting import act_in_latent_space
from .test_method import load_improviser

_LOST_FRAMES = 30  # for which it has fallen


def open_improviser(clip: Clip, settings: Any, run: Run, opened: ExitStack) -> LiveCast:
    """Everybody with the job's improviser, each where its clip begins."""
    improviser = load_improviser(run)
    stage, clips = place_learned_cast(improviser.body, clip, run)
    qpos, qvel = place_starts(improviser, clips, np.random.default_rng([run.seed, 5]))
    characters = tuple(
        ImprovisingCharacter(improviser, one, (qpos[number], qvel[number]), (run.seed, number))
        for number, one in enumerate(clips)
    )
    return LiveCast(stage, characters, clips)


@dataclass(frozen=True, eq=False)
class ImprovisingMoment:
    """Where somebody is that improvises. frame: how many control steps were done. targets: (nu,) of this step.

    wanted: where it is. velocity: (2,) m/s that it is steered to, None where it is not. doing: how far its task is.
    down: frames for which it had fallen.
    """

    frame: int
    targets: Array
    wanted: WantedPose
    velocity: Array | None = None
    doing: Mapping[str, NDArray[Any]] | None = None
    down: int = 0


class ImprovisingCharacter:
    """A ``LiveCharacter`` that draws what it does from a prior, every other control step. begins: (nq,) and (nv,).

    seed: what its noise is drawn from, together with the frame.
    """

    is_over, own_strength, helped = False, 1.0, 0.0
    styles: tuple[str, ...] = ()

    def __init__(self, improviser: Improviser, clip: Clip, begins: tuple[Array, Array], seed: tuple[int, ...]) -> None:
        self.body, self._improviser, self._clip = improviser.body, improviser, clip
        self._begins, self._seed = begins, seed
        self._reader, self._head = StateReader(self.body), find_head(self.body)
        task = improviser.task
        self._task: Task | None = None if task is None else get_task(task.name)(1)
        self.steered = self._task is not None and self._task.steered
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be at the beginning."""
        qpos, _ = self._begins
        wanted = wanted_of_pose(self.body, qpos, self._clip)
        self.moment = ImprovisingMoment(0, targets_of_pose(self.body, qpos[None])[0], wanted)

    @property
    def is_lost(self) -> bool:
        """Whether it has fallen, and lets go."""
        return self.moment.down >= _LOST_FRAMES

    def first_pose(self) -> tuple[Array, Array]:
        """(nq,) and (nv,) at the beginning."""
        return self._begins

    def steer(self, steering: Steering) -> None:
        """Go with another velocity."""
        self.moment = replace(self.moment, velocity=np.array(steering.velocity))

    def come_back(self, sensed: SensedBody) -> None:
        """It has its strength again."""
        self.moment = replace(self.moment, down=0)

    def choose_targets(self, sensed: SensedBody) -> Array:
        """(nu,) servo targets for the next control step."""
        if self.moment.frame % CONTROL_FRAMES == 0:
            placed = sensed.link_pos[None], sensed.link_quat_wxyz[None]
            state = self._reader(sensed.qpos[None], sensed.qvel[None], placed)
            rng = np.random.default_rng([*self._seed, self.moment.frame])
            targets = self._do_task(state, sensed, rng) if self._task else self._wander(state, rng)
            self.moment = replace(self.moment, targets=np.nan_to_num(targets[0]))
        return self.moment.targets

    def _wander(self, state: BodyState, rng: np.random.Generator) -> Array:
        """(1, nu) servo targets by noise."""
        model = self._improviser.model
        return model.decode(state.rows, model.sample(state.rows, rng))

    def _do_task(self, state: BodyState, sensed: SensedBody, rng: np.random.Generator) -> Array:
        """(1, nu) servo targets by the task's policy; what there is to do is drawn at random until it is steered."""
        now, doing, policy = self.moment, self._task, self._improviser.task
        assert doing is not None and policy is not None
        moment = Moment(state.root, state.heading, sensed.rows.com[:, -1, 0], sensed.rows.com_velocity[:, -1, 0])
        if now.doing is None:
            doing.begin(np.ones(1, dtype=bool), moment, rng)
        else:
            doing.restore(now.doing)
            doing.go_on(moment, rng)
        if now.velocity is not None:
            doing.steer(now.velocity[None], moment)
        self.moment = replace(now, doing=doing.state())
        seen = np.concatenate([state.rows, doing.see(moment).astype(np.float32)], axis=1)
        actions = np.array(policy.policy(seen), dtype=float)
        return act_in_latent_space(self._improviser.model, state.rows, actions, policy.sigma_rad)

    def pass_step(self, sensed: SensedBody) -> None:
        """A control step has led to this."""
        now = self.moment
        fallen = has_fallen(sensed.link_pos[None], self._head, self._improviser.fall_heights)[0]
        placed = sensed.link_pos, sensed.link_quat_wxyz, sensed.rows.com[0, -1, 0]
        wanted = WantedPose(*placed, now.wanted.local_pos, now.wanted.local_quat_wxyz)
        self.moment = replace(now, frame=now.frame + 1, wanted=wanted, down=now.down + 1 if fallen else 0)

    def wanted(self) -> WantedPose:
        """Wherever it is: nobody told it to be elsewhere."""
        return self.moment.wanted
