# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``direct_test``: artificial users direct a trained library, and its falls are counted."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ...errors import NotLearned
from ...motion import Clip
from ...settings import Settings, setting
from ...sim import engines
from ...sim.engine import World
from ...sim.stage import Character, Stage
from ..matching.artificial_user import CHANCE
from ..matching.directing import Directing
from ..method import Method, Product, Run, Source
from ..tracking_policy.learned_file import DIRECTED, TrainedDirector, director_from_content
from ..tracking_policy.matching_streams import make_matching_streams, rejoin_artificial_user
from ..tracking_policy.recovery import SEARCH_COPIES
from ..tracking_policy.stream_test import follow_streams, play_whole_streams
from ..tracking_policy.turning import measure_turn

_COPIES = 16
_CLIP_S = 60.0  # how long a user directs one and the same character
_STEPS, _MADE, _ALONE = 100, 5, 15  # of progress: streams are made, and followed by the policy alone


@dataclass(frozen=True)
class DirectTestSettings(Settings):
    """What an animator may set."""

    minutes: float = setting(
        10.0, "Minutes", "How long it is directed, by all artificial users together", minimum=0.01, maximum=10_000.0
    )


class DirectTest(Method):
    """How often a directed character falls, and how well it follows."""

    name = "direct_test"
    label = "Test Director"
    help = "Tell it this and that at random, and count how often it falls"
    uses_engine = True
    takes = Source.LEARNED_FILE
    makes = (Product.REPORT,)
    learned = DIRECTED
    settings_type = DirectTestSettings

    def run(self, clip: Clip, settings: DirectTestSettings, run: Run) -> None:
        """Test, and leave the figures in the report and in sentences."""
        director = load_trained(run)
        rng = np.random.default_rng(run.seed)
        run.progress(0, _STEPS)
        body, controller = director.stored.body, director.controller
        directing = Directing(body, director.library)
        lasts_s = min(_CLIP_S, 60.0 * settings.minutes)
        users = max(1, round(60.0 * settings.minutes / lasts_s))
        streams = make_matching_streams(directing, body, rng, characters=users, seconds=lasts_s, chance=CHANCE)
        run.progress(_MADE, _STEPS)

        def world_of(copies: int) -> closing[World]:
            return closing(engines.get_engine(run.engine).compile(Stage((Character(body),)), copies))

        with world_of(min(_COPIES, users)) as world:
            alone = follow_streams(controller, streams, world, settings.minutes, run.seed)
        turns = measure_turn(controller, directing, body, world_of)
        run.progress(_ALONE, _STEPS)

        def report(share: float) -> None:
            run.progress(_ALONE + round(share * (_STEPS - _ALONE)), _STEPS)

        with world_of(1) as world, world_of(SEARCH_COPIES) as search_world:
            rest = director.library.clip(0)
            rejoining = rejoin_artificial_user(directing, run.seed, CHANCE)
            whole = play_whole_streams(controller, streams, world, search_world, rest, run.seed, report, rejoining)
        found = whole.test
        figures: dict[str, float | None] = {
            "falls": found.falls,
            "minutes": found.minutes,
            "joint_error_m": found.joint_error_m,
        }
        figures |= {
            "skate_m_s": whole.skate.take_m_s,
            "physics_skate_m_s": whole.skate.physics_m_s,
            "got_up": whole.got_up,
            "falls_per_minute": found.falls_per_minute,
            **turns,
        }
        figures |= {"policy_alone_falls": alone.falls, "policy_alone_joint_error_m": alone.joint_error_m}
        run.add_detail("test", figures)
        each = f"{found.falls} falls in {found.minutes:.1f} minutes ({alone.falls} without trying again)"
        if whole.got_up:
            each += f", after {whole.got_up} of which it got up by itself"
        run.add_finding("test", f"{each}; joints are {1000.0 * found.joint_error_m:.0f} mm from the motion", "")


def load_trained(run: Run) -> TrainedDirector:
    """The job's library with its policy; one without is refused."""
    attached = run.attachment(DIRECTED.attachment)
    director = None if attached is None else director_from_content(*attached, "The library")
    if not isinstance(director, TrainedDirector):
        raise NotLearned("The library has no policy to test", "Train it first ('sinew direct train')")
    return director
