# SPDX-License-Identifier: GPL-3.0-or-later
"""Small worlds whose best policy is known."""

import numpy as np

from sinew.core.learn.environment import StepResult
from sinew.core.learn.randomness import generator_state, restore_generator


class Toy:
    """What all toys share: N worlds of a few numbers each, and a clock for every episode."""

    numbers = 1
    end_reasons = ("over",)

    def __init__(self, worlds, seed):
        self.worlds = worlds
        self.rng = np.random.default_rng(seed)
        self.now = np.zeros((worlds, self.numbers))
        self.clock = np.zeros(worlds, dtype=np.int64)

    def begun(self, count):
        raise NotImplementedError

    def seen(self):
        return self.now.copy()

    def reset(self):
        self.now[:] = self.begun(self.worlds)
        self.clock[:] = 0
        return self.seen()

    def finish(self, rewards, terminated, truncated, why):
        """The transition, with new episodes where old ones have ended."""
        last = self.seen()
        ended = terminated | truncated
        self.now[ended] = self.begun(int(ended.sum()))
        self.clock[ended] = 0
        total = np.sum(list(rewards.values()), axis=0)
        return StepResult(self.seen(), rewards, total, terminated, truncated, last, np.where(ended, why, -1))

    def state(self):
        return {"now": self.now.copy(), "clock": self.clock.copy(), "rng": generator_state(self.rng)}

    def restore(self, state):
        self.now[:], self.clock[:] = state["now"], state["clock"]
        restore_generator(self.rng, state["rng"])
        return self.seen()


class Bandit(Toy):
    """One step an episode; the best action is a linear function of what is seen."""

    numbers = 3
    observation_size, action_size = 3, 2
    best = np.array([[0.5, -0.3, 0.0], [0.2, 0.4, -0.6]])
    offset = np.array([0.3, -0.2])

    def begun(self, count):
        return self.rng.uniform(-1.0, 1.0, (count, self.numbers))

    def wanted(self, seen):
        return seen @ self.best.T + self.offset

    def step(self, actions):
        missed = np.square(actions - self.wanted(self.now)).sum(axis=1)
        everywhere = np.ones(self.worlds, dtype=bool)
        return self.finish({"hit": 1.0 - missed}, everywhere, ~everywhere, 0)


class Balance(Toy):
    """A stick on its end, near enough to straight up to be linear: it falls faster the more it leans.

    Lean and its rate, a push as action; 1 for every step less what lean, rate and push cost. Beyond 1 it has fallen.
    """

    numbers = 2
    observation_size, action_size = 2, 1
    end_reasons = ("fell", "time")
    onward = np.array([[1.0, 0.1], [0.4, 1.0]])
    pushed = np.array([0.0, 0.5])
    costs = (1.0, 0.1, 0.1)

    def __init__(self, worlds, seed, longest=60):
        super().__init__(worlds, seed)
        self.longest = longest

    def begun(self, count):
        return self.rng.uniform(-0.3, 0.3, (count, self.numbers))

    def step(self, actions):
        push = actions[:, 0].astype(np.float64)
        lean, rate = self.now.T
        cost = np.stack([lean**2, rate**2, push**2]).T @ self.costs
        self.now = self.now @ self.onward.T + push[:, None] * self.pushed
        self.clock += 1
        fell = np.abs(self.now[:, 0]) > 1.0
        over = self.clock >= self.longest
        return self.finish({"up": np.ones(self.worlds), "cost": -cost}, fell, over, np.where(fell, 0, 1))

    def best_gain(self, discount):
        """(2,) what to push for each unit of lean and rate: Riccati's recursion with a discount."""
        onward, pushed = np.sqrt(discount) * self.onward, np.sqrt(discount) * self.pushed
        ahead = np.zeros((2, 2))
        for _ in range(2000):
            gain = pushed @ ahead @ onward / (self.costs[2] + pushed @ ahead @ pushed)
            ahead = np.diag(self.costs[:2]) + onward.T @ ahead @ (onward - np.outer(pushed, gain))
        return -gain


class Clockwork(Toy):
    """A reward of 1 a step whatever is done, and an end every few steps: terminated, or only cut.

    What is seen is a clock whose hand is back at 0 when the episode ends.
    """

    observation_size, action_size = 1, 1

    def __init__(self, worlds, seed, *, steps=4, cut):
        super().__init__(worlds, seed)
        self.steps, self.cut = steps, cut

    def begun(self, count):
        return np.zeros((count, 1))

    def step(self, actions):
        self.clock += 1
        self.now[:] = self.clock[:, None] % self.steps
        over = self.clock >= self.steps
        never = np.zeros(self.worlds, dtype=bool)
        return self.finish({"pay": np.ones(self.worlds)}, never if self.cut else over, over if self.cut else never, 0)


def played(environment, act, steps):
    """Mean reward a step of a policy in ``steps`` steps, and how many episodes ended for each reason."""
    seen, total, why = environment.reset(), 0.0, np.zeros(len(environment.end_reasons), dtype=int)
    for _ in range(steps):
        done = environment.step(act(seen))
        seen, total = done.observations, total + done.rewards.mean()
        why += np.bincount(done.end_reasons[done.end_reasons >= 0], minlength=len(why))
    return total / steps, why
