# SPDX-License-Identifier: GPL-3.0-or-later
"""A body for a motion that was planned rather than recorded: sampling control searches for it, on the job's stage.

Shared by the methods that make motion from a library: what an animator may set about that, and how it is handed over.
"""

from collections.abc import Callable
from typing import Any, Protocol

from ..body import BodyModel
from ..motion import Clip, Take
from ..settings import setting
from .character import BODY, BodyChoices, build_plain_body
from .method import Run
from .registry import get_method


class SearchedBodySettings(Protocol):
    """What settings must have for ``give_searched_body``: as the functions below declare them."""

    @property
    def quality(self) -> str:
        """How many trials."""

    @property
    def when_lost(self) -> str:
        """What becomes of who has fallen."""

    @property
    def smooth(self) -> float:
        """0 to 1."""


def quality_setting() -> Any:
    """How hard is searched."""
    return setting(
        "normal",
        "Quality",
        "How many trials are spent on the motion's body",
        choices=(
            ("draft", "Draft", "Fast, to see whether it works"),
            ("normal", "Normal", "About as long as the motion lasts on a fast machine"),
            ("high", "High", "For difficult motions and final takes"),
        ),
    )


def when_lost_setting() -> Any:
    """What becomes of who has fallen; it has been told something to go on with, so that it gets up."""
    return setting(
        "get_up",
        "When Lost",
        "What a body does that is searched for and has lost the motion for good, such as after a fall",
        choices=(
            ("limp", "Go Limp", "It lets go, lies down and rests"),
            ("get_up", "Get Up", "It lets go and lies; then it gets up, and goes on with what it was told"),
            ("go_on", "Go On Trying", "It goes on reaching for the motion from wherever it is"),
        ),
    )


def smooth_setting() -> Any:
    """How much the take is smoothed."""
    return setting(
        0.0,
        "Smooth",
        "How much of small and fast movements is taken out of the take; feet stay where they stand",
        minimum=0.0,
        maximum=1.0,
    )


def make_body_builder(run: Run) -> Callable[[Clip], BodyModel]:
    """What builds the job's body of a clip, as far as its bones matter."""
    attached = run.attachment(BODY)
    choices = BodyChoices.from_mapping(attached[1]) if attached else BodyChoices()
    return lambda clip: build_plain_body(clip, choices)


def give_searched_body(motion: Clip, settings: SearchedBodySettings, run: Run, hold_place: float = 0.0) -> Take:
    """The motion as a body would do it, on the job's stage and with everybody on it.

    hold_place: metres a second at which a body that is beside its way is drawn back to it.
    """
    sampling = get_method("sampling")
    told = {name: getattr(settings, name) for name in ("quality", "smooth", "when_lost")}
    # It is no recording: nothing is to be trimmed, retimed or taken for a cycle, for its time is what was asked for.
    told |= {"retime": False, "trim": "off", "travel": "off", "loop": "all"}
    told["hold_place"] = hold_place
    take = sampling.run(motion, sampling.settings_type.from_mapping(told), run)
    assert take is not None
    return take
