# SPDX-License-Identifier: GPL-3.0-or-later
"""A trained director measured: how often it falls, how well it follows, what a frame costs, and what cubes do to it."""

import time
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from ..core.body.model import Shape
from ..core.body.poses import clip_of_pose
from ..core.body.stances import Flags
from ..core.control.direct.train_method import choose_held_out
from ..core.control.matching.artificial_user import CHANCE
from ..core.control.matching.directing import Directing
from ..core.control.matching.features import FPS
from ..core.control.matching.guides import WishGuide
from ..core.control.matching.wish import Wish
from ..core.control.tracking_policy.environment import servo_targets
from ..core.control.tracking_policy.learned_file import TrainedDirector
from ..core.control.tracking_policy.matching_streams import (
    make_clip_streams,
    make_matching_streams,
    rejoin_artificial_user,
)
from ..core.control.tracking_policy.played_skate import PlayedSkate, measure_played_skate
from ..core.control.tracking_policy.playing import FALLEN_M, PolicyLoop
from ..core.control.tracking_policy.recovery import SEARCH_COPIES, RecoveringPlay, make_recovery_search
from ..core.control.tracking_policy.reference_streams import (
    CONTROL_FPS,
    CONTROL_FRAMES,
    DRAWN_SHARE,
    DRAWN_SHARE_ON_A_PATH,
    ReferenceStreams,
    make_streams,
)
from ..core.control.tracking_policy.stream_test import (
    StreamTest,
    follow_streams,
    play_whole_streams,
    root_relative_error,
)
from ..core.control.tracking_policy.turning import measure_turn
from ..core.errors import EngineMissing
from ..core.geometry.quaternions import Array
from ..core.motion import Clip
from ..core.motion.library import Library
from ..core.sim import engines
from ..core.sim.engine import World
from ..core.sim.stage import Character, Prop, Stage
from .direct_control import SHARP_TURNS, measure_jerk
from .rows import Row

_WISHED_MINUTES, _COPIES = 30.0, 30
_HELD_MINUTES = 12.0
_CUBES_KG = (0.01, 1.0, 2.0, 4.0, 8.0)
_CUBE_M_S, _CUBE_EVERY_S, _CUBE_DENSITY = 5.0, 1.0, 400.0
_CUBE_COPIES, _CUBE_SECONDS = 16, 20.0
_OTHER_ENGINE, _OTHER_SECONDS = "bullet", 20.0


class PolicyBench:
    """A trained director made ready to be measured."""

    def __init__(self, director: TrainedDirector, seed: int, engine: str = "mujoco") -> None:
        self.controller, self.stored, self.seed = director.controller, director.stored, seed
        self.body, self.engine = director.stored.body, engines.get_engine(engine)
        self.directing = Directing(self.body, director.library)

    def world(self, copies: int, stage: Stage | None = None, threads: int = 0) -> closing[World]:
        """A world of one character."""
        return closing(self.engine.compile(stage or Stage((Character(self.body),)), copies, threads=threads))

    def streams_of(self, wish: Wish) -> tuple[ReferenceStreams, Clip]:
        """What motion matching makes of a wish, as a stream."""
        made = self.directing.make_motion(wish, np.random.default_rng(self.seed))
        contacts = self.directing.contacts[made.played.frame[0]]
        share = DRAWN_SHARE if wish.path is None else DRAWN_SHARE_ON_A_PATH
        return make_streams(self.body, [made.motion], [contacts], share), made.motion


def describe_policy(bench: PolicyBench) -> list[Row]:
    """How it was trained, as its file says."""
    about = bench.controller.about
    row: Row = {"what": "the policy", "millions": float(about["samples"]) / 1e6}
    row |= {"training_minutes": float(about["seconds"]) / 60.0, "practised_minutes": float(about["practised_minutes"])}
    row["tests"] = [[test["samples"], test["falls_per_minute"], test["joint_error_m"]] for test in about["tests"]]
    return [row | {"goal": {"millions": 20.0, "training_minutes": 60.0}}]


def measure_wishes(bench: PolicyBench) -> list[Row]:
    """Half an hour of random wishes without any disturbance."""
    rng = np.random.default_rng(bench.seed)
    streams = make_matching_streams(
        bench.directing, bench.body, rng, characters=_COPIES, seconds=60.0 * _WISHED_MINUTES / _COPIES, chance=CHANCE
    )
    goal = {"falls_in_10_minutes": 1.0, "joint_error_m": 0.05, "skate_m_s": 0.02}
    with bench.world(_COPIES) as world:
        alone = follow_streams(bench.controller, streams, world, _WISHED_MINUTES, bench.seed)
    with bench.world(1) as world, bench.world(SEARCH_COPIES) as search_world:
        begun = time.process_time()
        rejoining = rejoin_artificial_user(bench.directing, bench.seed, CHANCE)
        whole = play_whole_streams(
            bench.controller,
            streams,
            world,
            search_world,
            bench.stored.library.clip(0),
            bench.seed,
            rejoining_of=rejoining,
        )
        spent_s, found = time.process_time() - begun, whole.test
    row: Row = {**_describe_test("random wishes", found), **_describe_skate(whole.skate)}
    row |= {"got_up": whole.got_up, "down_s": whole.down_s}
    row["processor_s_per_second"] = spent_s / (60.0 * found.minutes)
    return [_describe_test("random wishes, policy alone", alone), row | {"goal": goal}]


def _describe_test(what: str, found: StreamTest) -> Row:
    row: Row = {"what": what, "falls": found.falls, "minutes": found.minutes}
    return row | {"falls_in_10_minutes": 10.0 * found.falls_per_minute, "joint_error_m": found.joint_error_m}


def _describe_skate(skate: PlayedSkate) -> Row:
    """As the take has it, whose feet are held, and as physics alone had it."""
    return {"skate_m_s": skate.take_m_s, "physics_skate_m_s": skate.physics_m_s}


def measure_held_out(bench: PolicyBench) -> list[Row]:
    """Clips that were left out of training, beside those that were not: all others, and as much of the same styles.

    A tenth of a library is a few clips, and how hard they are is chance; styles differ more than clips of one do.
    """
    held_out = choose_held_out(bench.stored, float(bench.controller.about["settings"]["left_out"]))
    what = "clips left out of training"
    if not held_out.any():
        return [{"what": what, "skipped": "it was trained with all of them"}]
    unseen, like_them = [], []
    with bench.world(_COPIES) as world:

        def follow(chosen: Flags, minutes: float) -> StreamTest:
            streams = make_clip_streams(bench.directing, bench.body, np.flatnonzero(chosen))
            return follow_streams(bench.controller, streams, world, minutes, bench.seed)

        seen = follow(~held_out, _HELD_MINUTES)
        for of_style, minutes in _find_styles_of(bench.stored.library, held_out):
            unseen.append(follow(of_style & held_out, minutes))
            like_them.append(follow(of_style & ~held_out, minutes))
    total = sum(test.minutes for test in unseen)
    falls, others = (sum(test.falls for test in tests) for tests in (unseen, like_them))
    row: Row = {"what": what, "falls_per_minute": falls / total, "others_falls_per_minute": seen.falls_per_minute}
    row |= {"same_styles_falls_per_minute": others / total}
    row |= {"joint_error_m": sum(test.joint_error_m * test.minutes for test in unseen) / total, "minutes": total}
    row |= {"ratio": falls / total / max(seen.falls_per_minute, 1.0 / seen.minutes)}
    return [row | {"same_styles_ratio": falls / max(others, 1), "goal": {"ratio": 1.5}}]


def _find_styles_of(library: Library, held_out: Flags) -> list[tuple[Flags, float]]:
    """For each style of clips left out: (K,) which clips are of it, and its share of the minutes to test.

    A clip is of the style it has first; one that nobody else is of is not compared, nor are clips too short to follow.
    """
    styles = np.array([tags[0].name if tags else "" for tags in library.tags])
    frames = np.diff(library.starts)
    held_out = held_out & (frames > FPS)
    both = [style for style in np.unique(styles[held_out]) if (styles[~held_out] == style).any()]
    length = {style: int(frames[held_out & (styles == style)].sum()) for style in both}
    return [(styles == style, _HELD_MINUTES * length[style] / sum(length.values())) for style in both]


def measure_answers(bench: PolicyBench) -> list[Row]:
    """A turn by 90 degrees, and a path of sharp turns at a walk."""
    turned: Row = {
        "what": "heading by 90 degrees, simulated",
        **measure_turn(bench.controller, bench.directing, bench.body, bench.world),
    }
    wish = Wish(np.full(1500, 1.3), SHARP_TURNS, styles=(("walk",),))
    streams, motion = bench.streams_of(wish)
    path = WishGuide(wish).path
    assert path is not None
    found = _follow(bench, streams)
    away = np.array([np.sqrt(((path.points - place) ** 2).sum(axis=-1).min()) for place in found.com[:, :2]])
    row: Row = {"what": "path of sharp turns at a walk, simulated", "com_mean_m": float(away.mean())}
    row |= {"com_most_m": float(away.max()), "fell": not found.apart_m <= FALLEN_M}
    row |= {"joint_error_m": found.joint_error_m, **_describe_motion(bench, motion, found)}
    row |= {"goal": {"com_mean_m": 0.15, "joint_error_m": 0.05, "skate_m_s": 0.02, "jerk_ratio": 1.5}}
    return [turned | {"goal": {"turn_90_s": 1.2}}, row]


def measure_still(bench: PolicyBench) -> list[Row]:
    """Standing for a minute."""
    streams, motion = bench.streams_of(Wish(np.zeros(3600), goal=np.zeros((3600, 2))))
    found = _follow(bench, streams)
    row: Row = {"what": "standing for 60 s, simulated", "fell": not found.apart_m <= FALLEN_M}
    row |= {"joint_error_m": found.joint_error_m, **_describe_motion(bench, motion, found)}
    row["drift_m"] = float(np.linalg.norm(found.com[:, :2] - found.com[0, :2], axis=-1).max())
    idle = [i for i in range(len(bench.stored.clips)) if any(tag.name == "idle" for tag in bench.stored.clips[i].tags)]
    clips = [bench.directing.database.library.clip(index) for index in idle]
    row["idle_jerk_m_s3"] = float(np.mean([measure_jerk(clip) for clip in clips])) if clips else None
    return [row]


@dataclass(frozen=True, eq=False)
class _Followed:
    """One character on a stream: poses (T, nq), centres of mass (T, 3) at 60 a second, metres of heads apart.

    lasts_s: until it fell, or to the end.
    """

    qpos: Array
    com: Array
    apart_m: float
    joint_error_m: float
    skate: PlayedSkate
    lasts_s: float


def _follow(bench: PolicyBench, streams: ReferenceStreams, *, tries_again: bool = True) -> _Followed:
    """As takes are made; one that falls for all that stays down."""
    with bench.world(1) as world, bench.world(SEARCH_COPIES if tries_again else 1) as search_world:
        search = make_recovery_search(bench.controller, streams, search_world, bench.seed) if tries_again else None
        loop = PolicyLoop(bench.controller, streams, world, streams.starts[:1])
        play = RecoveringPlay(loop, (len(streams) - 1) // CONTROL_FRAMES, search)
        while len(play.done) < play.steps and not play.advance():
            pass
        qpos = world.pose_of(np.concatenate([step.states for step in play.done]))[0]
        skate = measure_played_skate(world, [play.done], bench.stored.library.clip(0))
    return _Followed(
        qpos,
        np.concatenate([step.moment.rows.com[0, :, 0] for step in play.done]),
        max(step.apart_m for step in play.done),
        float(np.mean([root_relative_error(step.moment.state)[0] for step in play.done])),
        skate,
        len(play.done) / CONTROL_FPS,
    )


def _describe_motion(bench: PolicyBench, motion: Clip, found: _Followed) -> Row:
    jerks = measure_jerk(clip_of_pose(bench.body, motion, found.qpos, FPS)), measure_jerk(motion)
    return {
        **_describe_skate(found.skate),
        "jerk_m_s3": jerks[0],
        "kinematic_jerk_m_s3": jerks[1],
        "jerk_ratio": jerks[0] / jerks[1],
    }


def measure_policy_frames(bench: PolicyBench) -> list[Row]:
    """The rows of table 4: processor time of a 60 Hz frame by part, for one character and for many, one thread."""
    rows: list[Row] = []
    for count in (1, 64):
        rng = np.random.default_rng(bench.seed)
        begun = time.process_time()
        streams = make_matching_streams(bench.directing, bench.body, rng, characters=count, seconds=10.0, chance=CHANCE)
        made_us = 1e6 * (time.process_time() - begun) / (count * 600)
        with bench.world(count, threads=1) as world:
            loop = PolicyLoop(bench.controller, streams, world, streams.starts[:-1])
            parts = np.min([_time_parts(loop) for _ in range(100)], axis=0) * 1e6 / (count * CONTROL_FRAMES)
        state_us, policy_us, physics_us = (float(part) for part in parts)
        whole = state_us + policy_us + physics_us
        row: Row = {"what": f"a frame but for kinematic control, {count} at once, each", "frame_us": whole}
        row |= {"state_us": state_us, "policy_us": policy_us, "physics_us": physics_us, "streams_us": made_us}
        rows.append(row | {"goal": {"frame_us": 300.0 if count == 1 else 125.0}})
    return rows


def _time_parts(loop: PolicyLoop) -> tuple[float, float, float]:
    """Seconds of a control step for state, policy and physics."""
    marks = [time.process_time()]
    loop.state = replace(loop.state)  # nothing is known of it yet
    observed = loop.state.observations(loop.offsets)
    marks.append(time.process_time())
    loop.controller.policy(observed)
    marks.append(time.process_time())
    loop.advance(servo_targets(loop.streams, loop.frame, loop.offsets, loop.acting))
    marks.append(time.process_time())
    return tuple(np.diff(marks))


def measure_bullet(bench: PolicyBench) -> list[Row]:
    """What was learned on MuJoCo, played on Bullet: 20 seconds of a walk, and the rows of table 4."""
    try:
        other = PolicyBench(TrainedDirector(bench.stored, bench.controller), bench.seed, _OTHER_ENGINE)
    except EngineMissing as error:
        return [{"what": "on Bullet", "skipped": error.message}]
    wish = Wish(np.full(round(_OTHER_SECONDS * FPS), 1.3), SHARP_TURNS, styles=(("walk",),))
    streams, rows = other.streams_of(wish)[0], list[Row]()
    for tries_again, how in ((False, "policy alone"), (True, "as takes are made")):
        found = _follow(other, streams, tries_again=tries_again)
        row: Row = {
            "what": f"a walk of {_OTHER_SECONDS:g} s on Bullet, {how}",
            "fell": not found.apart_m <= FALLEN_M,
            "lasts_s": found.lasts_s,
        }
        rows.append(row | {"joint_error_m": found.joint_error_m, **_describe_skate(found.skate)})
    frames = [{**one, "what": f"{one['what']}, on Bullet"} for one in measure_policy_frames(other)[:1]]
    for one in frames:
        del one["goal"]  # it is told, and held to nothing
    return [*rows, *frames]


def measure_cubes(bench: PolicyBench) -> list[Row]:
    """Figure 11: a running character is hit each second by a cube at 5 m/s, and lasts so long."""
    rows: list[Row] = []
    streams = _run_streams(bench)
    trained = "pushed while it practised" if bench.controller.about.get("pushed") else "never pushed"
    for mass in _CUBES_KG:
        lasted = [_last_under_cubes(bench, streams, mass, seed) for seed in range(_CUBE_COPIES)]
        row: Row = {"what": f"running, a cube of {mass:g} kg each second", "lasts_s": float(np.mean(lasted))}
        rows.append(row | {"mass_kg": mass, "trained": trained})
    return rows


def _run_streams(bench: PolicyBench) -> ReferenceStreams:
    circle = 8.0 * np.stack([np.cos(np.linspace(0, 2 * np.pi, 60)), np.sin(np.linspace(0, 2 * np.pi, 60))], axis=-1)
    wish = Wish(np.full(round(_CUBE_SECONDS * FPS), 2.5), circle, closed=True, styles=(("run",),))
    return bench.streams_of(wish)[0]


def _last_under_cubes(bench: PolicyBench, streams: ReferenceStreams, mass: float, seed: int) -> float:
    """Seconds until it falls. Cubes are thrown at where the chest will be, from any side."""
    rng, size = np.random.default_rng(seed), (mass / _CUBE_DENSITY) ** (1.0 / 3.0)
    props, chest = [], bench.body.trunk[-1]
    for number in range(1, int(_CUBE_SECONDS / _CUBE_EVERY_S)):
        hit = int(number * _CUBE_EVERY_S * FPS)
        angle, flight_s = rng.uniform(0.0, 2.0 * np.pi), 0.3
        aim = streams.link_pos[hit, chest].astype(float)
        velocity = _CUBE_M_S * np.array([np.cos(angle), np.sin(angle), 0.0])
        fall = np.array([0.0, 0.0, 0.5 * 9.81 * flight_s**2])
        start = aim - velocity * flight_s + fall
        cube = Shape("box", np.full(3, 0.5 * size), np.zeros(3))
        appears_s = number * _CUBE_EVERY_S - flight_s
        props.append(Prop(f"cube {number}", mass, start, cube, velocity=velocity, appears_s=appears_s))
    with bench.world(1, Stage((Character(bench.body),), props=tuple(props))) as world:
        loop = PolicyLoop(bench.controller, streams, world, streams.starts[:1])
        for step in range(round(_CUBE_SECONDS * CONTROL_FPS) - 1):
            loop.step()
            if not loop.apart_m()[0] <= FALLEN_M:
                return step / CONTROL_FPS
    return _CUBE_SECONDS
