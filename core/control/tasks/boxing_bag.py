# SPDX-License-Identifier: GPL-3.0-or-later
"""The boxing bag (section 5.4): hit a bag of 40 kg with the hand that is asked for.

The paper's bag hangs by a ball joint; a stage's props have none, so this one stands, heavy and broad at its foot.
"""

from collections.abc import Sequence

import numpy as np

from ...body import BodyModel, Link, Shape
from ...errors import BadStage
from ...geometry.quaternions import Array
from ...sim.stage import Character, Prop, Stage
from .task import CONTROL_FPS, Flags, Moment, Task

_MASS_KG, _RADIUS_M, _HALF_M = 40.0, 0.22, 0.8
_AWAY_M = 1.2
_PATTERN_S = 1.0  # that a pattern is asked for, on average
_PATTERNS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
_LEAST_N, _MOST_N = 100.0, 500.0
_CLOSE, _HIT, _COLLISION = 0.2, 10.0, 0.1
_TOUCH_N = 1.0
_REACH_M = 0.8  # between the middles of bag and hand: what touches one further away is no bag


class BoxingBag(Task):
    """pattern: (N, 2) which hands are to hit, left and right. before: (N, 2) metres, where the bag was."""

    name = "bag"
    label = "Hit a Bag"
    help = "hit a standing bag of 40 kg with the hand that is asked for"
    goal_size = 7
    senses = True
    goes_to_points = False
    sigma_rad = 0.5

    def __init__(self, count: int, points: Array | None = None, stage: Stage | None = None) -> None:
        super().__init__(count, points, stage)
        self.kept |= {"pattern": np.zeros((count, 2)), "before": np.zeros((count, 2))}
        links = () if stage is None else stage.characters[0].body.links
        self._hands = [self._find_hand(links, side) for side in ("L", "R")]

    @staticmethod
    def _find_hand(links: Sequence[Link], side: str) -> list[int]:
        """Links of a hand; of the forearm, where a body has none."""
        for role in ("hand", "forearm"):
            if found := [index for index, link in enumerate(links) if link.role == role and link.side == side]:
                return found
        return []

    @classmethod
    def make_stage(cls, body: BodyModel) -> Stage:
        """A bag in front of where everybody begins."""
        shape = Shape("capsule", np.array([_RADIUS_M, _HALF_M - _RADIUS_M, 0.0]), np.zeros(3))
        bag = Prop("bag", _MASS_KG, np.array([_AWAY_M, 0.0, _HALF_M]), shape)
        return Stage((Character(body),), props=(bag,))

    @classmethod
    def require_stage(cls, stage: Stage) -> None:
        """There must be something to hit."""
        if not stage.props:
            raise BadStage("There is nothing to hit", "Give an object of some 40 kg the role Prop")

    def place(self, which: Flags, rng: np.random.Generator) -> Array:
        """(n, 3) in the middle, facing the bag."""
        return np.zeros((int(which.sum()), 3))

    def _bag(self, moment: Moment) -> Array:
        """(N, 3) metres: the prop that is nearest."""
        if moment.props is None or not moment.props.shape[1]:
            return np.zeros((len(moment), 3))
        apart = np.linalg.norm(moment.props[:, :, :2] - moment.root[:, None, :2], axis=2)
        return np.asarray(moment.props[np.arange(len(moment)), apart.argmin(axis=1)])

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """Any pattern."""
        self.kept["pattern"][which] = _PATTERNS[rng.integers(len(_PATTERNS), size=int(which.sum()))]
        self.kept["before"][which] = self._bag(moment)[which, :2]

    def see(self, moment: Moment) -> Array:
        """(N, 7) where the bag is, how fast it goes, and which hands are asked for."""
        bag = self._bag(moment)
        away = moment.to_local(bag[:, :2] - moment.root[:, :2])
        velocity = moment.to_local(CONTROL_FPS * (bag[:, :2] - self.kept["before"]))
        height = bag[:, 2:] - moment.root[:, 2:]
        return np.concatenate([away, height, np.clip(velocity, -5.0, 5.0), self.kept["pattern"]], axis=1)

    def hits(self, moment: Moment) -> tuple[Array, Flags]:
        """(N, 2) newtons of left and right hand at the bag, and (N,) whether anything else touches it."""
        count = len(moment)
        if moment.links is None or moment.link_forces is None:
            return np.zeros((count, 2)), np.zeros(count, dtype=bool)
        bag, force = self._bag(moment), np.linalg.norm(moment.link_forces, axis=2)
        near = np.linalg.norm(moment.links[:, :, :2] - bag[:, None, :2], axis=2) < _REACH_M
        above = moment.links[:, :, 2] > 0.3  # feet touch the ground
        force = np.where(near & above, force, 0.0)
        hands = np.stack([force[:, hand].sum(axis=1) for hand in self._hands], axis=1)
        return hands, (force.sum(axis=1) - hands.sum(axis=1)) > _TOUCH_N

    def earn(self, before: Moment, moment: Moment) -> dict[str, Array]:
        """Equation 4, with hits as shares of 500 N."""
        far = np.linalg.norm(self._bag(moment)[:, :2] - moment.root[:, :2], axis=1)
        hands, other = self.hits(moment)
        pattern = self.kept["pattern"]
        hit = (np.clip(hands - _LEAST_N, 0.0, _MOST_N) * pattern).sum(axis=1) / _MOST_N
        wrong = other | ((hands > _TOUCH_N) & (pattern == 0.0)).any(axis=1)
        close = np.exp(-5.0 * (far - _AWAY_M) ** 2)
        return {"close": _CLOSE * close, "hit": _HIT * hit, "collision": -_COLLISION * wrong}

    def go_on(self, moment: Moment, rng: np.random.Generator) -> None:
        """Another pattern for some."""
        super().go_on(moment, rng)
        self.kept["before"] = self._bag(moment)[:, :2].copy()
        changes = rng.random(self.count) < 1.0 / (_PATTERN_S * CONTROL_FPS)
        self.kept["pattern"][changes] = _PATTERNS[rng.integers(len(_PATTERNS), size=int(changes.sum()))]

    def figures(self, moment: Moment) -> dict[str, Array]:
        """Hits a minute of the hand that is asked for, and of the other one."""
        hands, _ = self.hits(moment)
        pattern, hard = self.kept["pattern"], hands > _LEAST_N
        right, wrong = (hard & (pattern > 0.0)).any(axis=1), (hard & (pattern == 0.0)).any(axis=1)
        return {"hits_per_minute": 60.0 * CONTROL_FPS * right, "wrong_per_minute": 60.0 * CONTROL_FPS * wrong}
