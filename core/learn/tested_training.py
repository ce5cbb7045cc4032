# SPDX-License-Identifier: GPL-3.0-or-later
"""A training whose policy is tested every so many samples, and whose best policy so far is kept."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from ..errors import BadFile
from .kept_best import keep_best, read_best
from .learning_curve import UpdateRecord
from .policy import Policy
from .trainer import Trainer


class PolicyResult(Protocol):
    """What a test finds. Its fields are plain values, for they are kept in checkpoints."""

    @property
    def samples(self) -> int:
        """After how many samples it was made."""

    @property
    def merit(self) -> float:
        """By which policies are compared."""


Result = TypeVar("Result", bound=PolicyResult)


class TestedTraining(ABC, Generic[Result]):
    """A trainer, tests of its policies, and the best of them; it resumes after any update, bit for bit.

    test_interval: samples between two tests.
    """

    def __init__(self, trainer: Trainer, test_interval: int) -> None:
        self.trainer, self._test_interval = trainer, test_interval
        self.tests: list[Result] = []
        self.best: Policy | None = None

    @property
    def samples(self) -> int:
        """Control steps of all copies so far; those of tests are not counted, for they are not learned from."""
        return self.trainer.samples

    @property
    def policy(self) -> Policy:
        """The policy that did best when tested; the newest before any test."""
        return self.trainer.policy if self.best is None else self.best

    @abstractmethod
    def measure(self, policy: Policy) -> Result:
        """What a policy is worth, now."""

    @abstractmethod
    def read_result(self, fields: Mapping[str, Any]) -> Result:
        """A result from its fields; those of something else are a ``TypeError``."""

    def advance(self) -> UpdateRecord:
        """One update, and a test if it is time for one."""
        record = self.trainer.update()
        last = self.tests[-1].samples if self.tests else 0
        if self.samples - last >= self._test_interval:
            self.test()
        return record

    def test(self) -> Result:
        """See how the newest policy does; the best so far is kept."""
        policy = self.trainer.policy
        found = self.measure(policy)
        if self.best is None or found.merit > max(test.merit for test in self.tests):
            self.best = policy
        self.tests.append(found)
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how training goes on, as plain arrays."""
        return {**self.trainer.state(), **keep_best(self.tests, self.best)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``."""
        kept, best = read_best(arrays)
        try:
            tests = [self.read_result(fields) for fields in kept]
        except TypeError as error:
            raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error
        self.trainer.restore(arrays)
        self.tests, self.best = tests, best
