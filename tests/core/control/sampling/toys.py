# SPDX-License-Identifier: GPL-3.0-or-later
"""A body of three links that a search is done with in a moment: a plate on the problem and an arm that waves."""

import numpy as np

from sinew.core.body import BodyModel, Joint
from sinew.core.control.sampling.fragment_samples import FragmentSamples
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.control.sampling.search import SamconSearch, SearchProblem
from sinew.core.control.sampling.stage_character import StageCharacter
from sinew.core.control.sampling.stage_rollout import StageRollout
from sinew.core.control.tracking.reference import make_reference
from sinew.core.control.tracking.tracking_error import TrackingError
from sinew.core.geometry.quaternions import from_rotation_vector
from sinew.core.motion import Clip
from sinew.core.sim import engines
from sinew.core.sim.engine import World
from sinew.core.sim.stage import Character, Stage

from ....engines_here import engine_here
from ...sim import bodies

PLATE = 0.05  # metres from the problem to the plate's middle


def waver() -> BodyModel:
    """A plate that stands firm (a foot, for the cost), an arm on a ball joint and a hand on a hinge: nv 10, nu 4."""
    return bodies.body([
        bodies.link("plate", -1, bodies.FREE, bodies.box((0.3, 0.3, PLATE)), 8.0, "foot"),
        bodies.link(
            "arm", 0, Joint("ball", np.array([0.0, 0.0, 0.2]), kp=80.0, kd=8.0, torque_limit=60.0),
            bodies.capsule_y(0.03, 0.05, 0.25), 1.0, "upper_arm",
        ),
        bodies.link(
            "hand", 1, Joint("hinge", np.array([0.0, 0.3, 0.0]), kp=40.0, kd=4.0, torque_limit=30.0),
            bodies.capsule_y(0.03, 0.05, 0.25), 0.5, "hand",
        ),
    ])  # fmt: skip


def waving(seconds: float = 0.8, height: float = PLATE, x: float = 0.0, y: float = 0.0) -> Clip:
    """The plate at a place, the arm going to and fro."""
    skeleton, count = waver().skeleton, round(seconds * 30) + 1
    pos = np.tile(skeleton.rest_pos, (count, 1, 1))
    pos[:, 0] = x, y, height
    turn = np.zeros((count, 3, 3))
    turn[:, 1, 2] = 0.4 * np.sin(3.0 * np.arange(count) / 30.0)
    turn[:, 2, 0] = 0.3 * np.sin(5.0 * np.arange(count) / 30.0)
    return Clip(skeleton, 30.0, pos, from_rotation_vector(turn), "wave")


def world_of(copies: int = 20, engine: str = "mujoco", **stage) -> World:
    """Copies of a waver's world; the test is skipped where PyBullet is asked for and not to be had."""
    return engine_here(engine).compile(Stage((Character(waver()),), **stage), copies)


def tracking_error_of(world: World, clip: Clip, muscle: np.ndarray | None = None) -> TrackingError:
    return TrackingError(make_reference(world.stage.characters[0].body, clip, world, muscle))


def problem_of(world: World, tracking_error: TrackingError, seed: int = 0, spread: float = 0.1) -> SearchProblem:
    return SearchProblem(
        world, tracking_error, np.full(tracking_error.nu, spread), lambda *what: np.random.default_rng([seed, *what])
    )


def search_of(problem: SearchProblem, lqr, nominal=None) -> SamconSearch:
    reference = problem.tracking_error.reference
    start, before = reference.states[0], np.zeros(problem.tracking_error.nu)
    return SamconSearch(problem, lqr, 0, reference.fragments, start, np.zeros(2), before, nominal)


def finished(search: SamconSearch, most: int = 10_000) -> SamconSearch:
    """The search at its end; fails if that takes more than so many fragments."""
    count = 0
    while not search.done:
        search.advance()
        count += 1
        assert count <= most, "the search does not end"
    return search


def layer(parents, total, *, kept=None, tried=None, noise=None, value=None, anchors=None) -> FragmentSamples:
    """A layer by hand, whose states and offsets tell which sample it is: 10 * place + index is easy to read."""
    count = len(parents)
    kept = np.arange(count) if kept is None else np.array(kept)
    tried = tried or count
    return FragmentSamples(
        states=np.arange(count, dtype=float)[:, None] + 100.0 * total[0],
        offsets=np.arange(count, dtype=float)[:, None] * 0.1,
        parents=np.array(parents),
        total=np.array(total, dtype=float),
        anchors=np.zeros((count, 2)) if anchors is None else np.array(anchors, dtype=float),
        cost=float(min(total)),
        height_error=0.0,
        noise=np.zeros((tried, 1)) if noise is None else np.array(noise, dtype=float),
        value=np.zeros(tried) if value is None else np.array(value, dtype=float),
        elites=kept,
    )


def rollout_of(opened, clips, *, effort=None, seed=0, muscle=None, **stage) -> StageRollout:
    """Wavers with clips on a stage with props and pushes; ``opened``: an ``ExitStack`` that closes their worlds."""
    effort = effort or SearchEffort(20, (0.1, 0.05))
    whole = Stage(tuple(Character(waver(), f"waver {number}") for number in range(len(clips))), **stage)
    characters = []
    for number, clip in enumerate(clips):
        world = world_of(effort.copies)
        opened.callback(world.close)
        reference = make_reference(waver(), clip, world, muscle)
        characters.append(StageCharacter(clip, reference, world, effort, (seed, number)))
    world = engines.get_engine("mujoco").compile(whole, 4)
    opened.callback(world.close)
    qpos = np.concatenate([one.reference.qpos[0] for one in characters])
    qvel = np.concatenate([one.reference.rates[0] for one in characters])
    start = world.state_of(np.tile(qpos, (4, 1)), np.tile(qvel, (4, 1)))[0]
    return StageRollout(whole, tuple(characters), world, start)
