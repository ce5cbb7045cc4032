# SPDX-License-Identifier: GPL-3.0-or-later
"""The strength for a reaction is found in a few trials, wherever it is."""

import numpy as np
import pytest

from sinew.core.control.sampling.disturbances import Disturbance, find_disturbances, with_strength
from sinew.core.control.sampling.reaction_search import (
    TRIALS,
    WANTED,
    Trial,
    first_strength,
    is_wanted,
    nearest_trial,
    next_strength,
)
from sinew.core.control.tracking.reactions import BRACES, FALLS, STAGGERS, STRAYS, SWAYS, Reaction
from sinew.core.sim.stage import Prop, Push, Stage


def made_of(limits):
    """A body that reacts by what is pushed, between these strengths."""

    def react(strength):
        kind = int(np.searchsorted(limits, strength))
        return Reaction(kind, strength / 1000.0, strength > 0.4 * limits[0])

    return react


@pytest.mark.parametrize("limits", [(100, 150, 400, 450), (20, 24, 60, 70), (900, 1000, 2500, 2600)])
@pytest.mark.parametrize("intent", WANTED)
def test_every_reaction_is_found_in_a_few_trials(limits, intent):
    react, trials = made_of(limits), []
    while (strength := next_strength(intent, 150.0, trials)) is not None:
        trials.append(Trial(0, strength, react(strength)))
        if is_wanted(intent, trials[-1].reaction):
            break
    assert is_wanted(intent, trials[-1].reaction) and len(trials) <= TRIALS
    assert nearest_trial(intent, trials) == trials[-1]


def test_what_does_not_exist_is_given_up_and_the_nearest_is_known():
    """A body that braces up to 200 N and falls from there on."""
    trials = []
    while (strength := next_strength("stagger", 150.0, trials)) is not None:
        kind = BRACES if strength < 200.0 else FALLS
        trials.append(Trial(0, strength, Reaction(kind, 0.1, True)))
    assert 3 <= len(trials) <= TRIALS
    assert {one.reaction.kind for one in trials} == {BRACES, FALLS}
    best = nearest_trial("stagger", [*trials, Trial(0, 210.0, Reaction(SWAYS, 0.3, True))])
    assert best.reaction.kind == SWAYS


def test_a_brace_that_nobody_sees_is_too_weak_and_straying_is_no_stagger():
    assert not is_wanted("brace", Reaction(BRACES, 0.01, False)) and is_wanted("brace", Reaction(BRACES, 0.1, True))
    assert not is_wanted("stagger", Reaction(STRAYS, 3.0, True)) and not is_wanted(
        "fall", Reaction(STAGGERS, 1.0, True)
    )
    unseen = [Trial(0, 50.0, Reaction(BRACES, 0.01, False))]
    assert next_strength("brace", 50.0, unseen) > 50.0


def test_the_first_trial_grows_with_the_body_and_shrinks_with_the_time():
    short, long, wind = (Disturbance("p", "stagger", False, 0, 1.0, 1.0 + lasts) for lasts in (0.1, 0.2, 10.0))
    assert first_strength(short, 60.0) == pytest.approx(2.0 * first_strength(long, 60.0))
    assert first_strength(short, 120.0) == pytest.approx(2.0 * first_strength(short, 60.0))
    assert first_strength(wind, 60.0) > 0.5 * first_strength(long, 60.0)
    ball = Disturbance("b", "fall", True, 0, 1.0, 1.0, speed_m_s=10.0)
    assert 2.0 < first_strength(ball, 60.0) < 20.0


def test_all_stretches_of_a_push_keep_their_shape_and_others_their_force():
    along = np.array([0.0, 1.0, 0.0])
    pushes = (
        Push(0, "chest", 50.0 * along, 1.0, 0.1, "Swell", "fall"),
        Push(0, "chest", 100.0 * along, 1.1, 0.1, "Swell", "fall"),
        Push(0, "chest", 70.0 * along, 0.5, 0.1, "Plain"),
    )
    ball = Prop("Ball", 1.0, np.zeros(3), pieces=(np.eye(4, 3),), velocity=9.0 * along, appears_s=0.2, intent="brace")
    stage = Stage((), props=(ball,), pushes=pushes)
    thrown, swell = find_disturbances(stage)
    assert (thrown.name, thrown.thrown, thrown.speed_m_s) == ("Ball", True, 9.0)
    assert (swell.name, swell.start_s) == ("Swell", 1.0) and swell.end_s == pytest.approx(1.2)
    harder = with_strength(stage, swell, 400.0)
    assert [float(push.force[1]) for push in harder.pushes] == pytest.approx([200.0, 400.0, 70.0])
    assert with_strength(stage, thrown, 5.0).props[0].mass == 5.0 and harder.props[0].mass == 1.0
    assert with_strength(stage, swell, 0.0).pushes[0].force @ along == 0.0
    assert thrown.describe_strength(5.0) == "5 kg" and swell.describe_strength(261.4) == "261 N"
