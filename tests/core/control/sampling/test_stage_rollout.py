# SPDX-License-Identifier: GPL-3.0-or-later
"""Everybody on the stage: sections join, nobody foresees, who is disturbed reacts, and who is not does as alone."""

from contextlib import ExitStack

import numpy as np
import pytest

from sinew.core.control.sampling import plan as plan_module
from sinew.core.control.sampling import stage_rollout as performance_module
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.control.sampling.search import _REACH_M
from sinew.core.control.sampling.stage_recording import describe_character, record_rollout
from sinew.core.control.tracking.recording import collect_prop_motions, make_take
from sinew.core.control.tracking.reference import CONTROL_FPS
from sinew.core.sim.stage import Prop, Push

from ...sim import bodies
from .toys import rollout_of, waving

ONCE = SearchEffort(20, (0.1,))


@pytest.fixture
def opened():
    with ExitStack() as stack:
        yield stack


def played(opened, clips, **options):
    rollout = rollout_of(opened, clips, **options)
    rollout.run(lambda _: None)
    return rollout


def push(force=(300.0, 0.0, 0.0), start_s=0.4, duration_s=0.1, bone="plate", character=0):
    return Push(character, bone, np.array(force), start_s, duration_s)


def thrown(**changes):
    """A ball on its way to the plate, which it meets after about 0.25 s."""
    given = {"velocity": np.array([5.0, 0.0, 0.5]), "appears_s": 0.1} | changes
    return Prop("ball", 2.0, np.array([-1.0, 0.0, 0.08]), bodies.sphere(0.06), **given)


def test_what_was_planned_is_what_happens_where_nothing_else_can(opened):
    rollout = played(opened, [waving(0.7)])
    assert rollout.foreseeable and rollout.done
    trajectory = rollout.characters[0].trajectory
    np.testing.assert_array_equal(np.array(rollout.start_states), trajectory.starts)
    film = record_rollout(rollout)
    np.testing.assert_array_equal(film.qpos[6::6], rollout.world.pose_of(trajectory.ends)[0])


def test_a_clip_of_several_sections_is_one_motion(opened, monkeypatch):
    monkeypatch.setattr(plan_module, "SECTION", 4)
    monkeypatch.setattr(performance_module, "SECTION", 4)
    rollout = rollout_of(opened, [waving(1.1)], effort=ONCE)
    plans = []
    rollout.run(lambda now: plans.append(now.planning[2].first) if now.planning else None)
    assert sorted(set(plans)) == [0, 4, 8] and len(rollout.start_states) == 11
    film = record_rollout(rollout)
    assert len(film) == 67
    # Where sections meet, nothing jumps: positions go on with the velocities they have.
    steps = np.diff(film.qpos[:, :3], axis=0) - 0.5 * (film.qvel[1:, :3] + film.qvel[:-1, :3]) / CONTROL_FPS
    assert np.abs(steps).max() < 2e-3
    turned = np.abs(np.diff(film.rows.link_pos[0], axis=0)).max((1, 2))
    assert turned[[23, 47]].max() < 1.5 * np.median(turned) + 0.01
    ends = rollout.world.pose_of(rollout.roll_out_fragments(np.arange(3), *began(rollout, 3))[0][:3, -1])[0]
    np.testing.assert_allclose(ends, rollout.world.pose_of(np.array(rollout.start_states[1:4]))[0], atol=1e-12)


def began(rollout, count):
    offsets = np.array(rollout.offsets[:count])
    before = np.concatenate([np.zeros_like(offsets[:1]), offsets[:-1]])
    return np.array(rollout.start_states[:count]), before, offsets


def test_the_same_seed_gives_the_same_bits_and_another_one_others(opened):
    first, again, other = (record_rollout(played(opened, [waving(0.5)], effort=ONCE, seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.qpos, again.qpos)
    assert not np.array_equal(first.qpos, other.qpos)


@pytest.mark.parametrize("start_s", [0.4, 0.43], ids=["between fragments", "within one"])
def test_nobody_foresees_a_push(opened, start_s):
    """Until it begins, every bit is that of the take without it; then the body is moved, and reacts."""
    calm = record_rollout(played(opened, [waving(1.0)]))
    rollout = rollout_of(opened, [waving(1.0)], pushes=(push(start_s=start_s),))
    reacted = []
    rollout.run(lambda now: reacted.append(now.planning is None and now.characters[0].trajectory is None))
    pushed = record_rollout(rollout)
    before = int(start_s * CONTROL_FPS) + 1
    np.testing.assert_array_equal(pushed.qpos[:before], calm.qpos[:before])
    np.testing.assert_array_equal(pushed.qvel[:before], calm.qvel[:before])
    assert np.abs(pushed.qpos[before + 3] - calm.qpos[before + 3]).max() > 1e-4
    assert any(reacted)
    # What it asks of its servos is other only from the fragment after the one it was disturbed in.
    told = np.flatnonzero(np.abs(pushed.targets - calm.targets).max(-1) > 0.0)
    assert told[0] == 6 * (int(start_s * 10) + 1) + 1


def test_who_was_pushed_aside_makes_a_new_plan_and_goes_on_from_there(opened):
    rollout = rollout_of(opened, [waving(2.0)], pushes=(push((700.0, 0.0, 0.0)),))
    rollout.characters[0].lets_go = False  # it is thrown into the air
    plans = []
    rollout.run(lambda now: plans.append(now.planning[2].first) if now.planning else None)
    later = [first for first in set(plans) if first > 4]
    assert later and min(later) < 16
    character = rollout.characters[0]
    film = record_rollout(rollout)
    moved = film.qpos[-1, 0] - film.qpos[0, 0]
    assert moved > 0.35
    # The reference has come along, so far that the body is within its reach.
    assert 0.0 < moved - character.anchor[0] < _REACH_M + 0.05
    assert character.trajectory is not None


def test_a_push_too_light_to_feel_changes_no_plan(opened):
    rollout = rollout_of(opened, [waving(0.8)], pushes=(push((1e-3, 0.0, 0.0)),), effort=ONCE)
    reacted = []
    rollout.run(lambda now: reacted.append(now.planning is None and now.characters[0].trajectory is None))
    assert not any(reacted)


def test_two_who_never_touch_do_as_each_would_alone(opened):
    here, there = waving(0.7), waving(0.7, x=3.0, y=1.0)
    together = record_rollout(played(opened, [here, there]))
    for who, clip in enumerate((here, there)):
        alone = rollout_of(opened, [clip])
        alone.characters[0].seed = (0, who)
        alone.run(lambda _: None)
        film = record_rollout(alone)
        size = film.qpos.shape[1]
        mine = together.qpos[:, size * who : size * (who + 1)]
        np.testing.assert_allclose(mine, film.qpos, atol=1e-6)


def test_one_who_is_pushed_into_another_moves_them(opened):
    here, there = waving(1.0), waving(1.0, x=0.75)
    calm = record_rollout(played(opened, [here, there], effort=ONCE))
    pushed = record_rollout(
        played(opened, [here, there], effort=ONCE, pushes=(push((900.0, 0.0, 0.0), duration_s=0.15),))
    )
    second = calm.qpos.shape[1] // 2
    before = int(0.4 * CONTROL_FPS)
    np.testing.assert_array_equal(pushed.qpos[:before], calm.qpos[:before])
    assert pushed.qpos[-1, second] - calm.qpos[-1, second] > 0.05


def test_a_thrown_prop_hits_and_comes_home(opened):
    clip = waving(1.0)
    rollout = played(opened, [clip], props=(thrown(),), effort=ONCE)
    film = record_rollout(rollout)
    take, _, _ = make_take(film, 0, describe_character(rollout.characters[0]), clip.fps)
    (ball,) = collect_prop_motions(film, take.motion)
    assert ball.name == "ball" and len(ball) == len(take.motion) == len(clip)
    x = ball.pos[:, 0]
    np.testing.assert_allclose(x[:3], -1.0, atol=1e-6)  # waits until it appears
    assert -0.5 < x.max() < -0.3 and x[-1] < x.max() + 1e-9  # it came to the plate's edge and no further
    assert np.diff(x[4:6])[0] * 30.0 == pytest.approx(5.0, rel=0.1)
    miss = played(opened, [clip], props=(thrown(appears_s=5.0),), effort=ONCE)
    moved = np.abs(record_rollout(miss).qpos - film.qpos).max(-1)
    assert moved[:12].max() < 1e-6 and moved[-1] > 1e-3


def test_films_have_everybody_s_contacts_lengths_and_traces(opened):
    clips = [waving(0.75), waving(0.75, x=2.0)]
    rollout = played(opened, clips, effort=ONCE)
    film = record_rollout(rollout)
    frames = 0.75 * CONTROL_FPS + 1  # the last fragment is played to its end, and cut
    assert len(film) == pytest.approx(frames, abs=1) and len(film) == len(film.targets) == film.rows.com.shape[1]
    for who, (clip, character) in enumerate(zip(clips, rollout.characters, strict=True)):
        take, trace, _ = make_take(film, who, describe_character(character), clip.fps)
        assert len(take.motion) == len(clip) and take.motion.fps == clip.fps and take.fell_at_s is None
        assert take.contacts.shape == (len(clip), 3)
        assert take.contacts[2:, 0].all() and not take.contacts[:, 1:].any()  # the plate stands, the arm is in the air
        assert (trace.character, trace.fps, len(trace)) == (who, CONTROL_FPS, len(film))
        assert np.abs(trace.seen_pos[:, 0, 0] - 2.0 * who).max() < 0.05
        assert np.abs(trace.wanted_pos - trace.seen_pos).max() < 0.1
        # The ground carries what the waver weighs.
        carried = trace.contact_force[12:, :, 2].sum(-1).mean()
        assert carried == pytest.approx(character.body.mass * 9.81, rel=0.05)
        assert trace.torque.shape == (len(film), 4) and np.abs(trace.torque).max() > 1.0
        np.testing.assert_array_equal(take.motion.skeleton.names, clip.skeleton.names)


def test_the_first_frame_of_a_film_is_the_source_s(opened):
    rollout = played(opened, [waving(0.3)], effort=ONCE)
    np.testing.assert_array_equal(record_rollout(rollout).qpos[0], rollout.characters[0].reference.qpos[0])


def test_work_grows_to_all_there_is(opened):
    rollout = rollout_of(opened, [waving(0.6)], pushes=(push(),))
    seen = []
    rollout.run(lambda now: seen.append(now.work))
    done = [step for step, _ in seen]
    assert done == sorted(done)
    assert seen[-1][0] == seen[-1][1] and {total for _, total in seen} == {seen[-1][1]}
