# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes of characters that improvise: any number of them, on the job's stage."""

from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from ...body import BodyModel
from ...body.pose_space import PoseSpace
from ...errors import JobError
from ...geometry.quaternions import Array
from ...motion import Clip, Take
from ...settings import Settings, setting
from ...sim import engines
from ...sim.engine import character_offsets
from ...sim.stage import Stage
from ..cast import load_cast
from ..method import Method, Run, Source
from ..searched_body import smooth_setting
from ..staging import build_job_stage
from ..tasks.crowd import require_apart
from ..tasks.tasks_table import get_task
from ..tasks.terrain import require_climbable
from ..tracking.bone_order import put_on_body, take_back
from ..tracking.facing import rotate_pose_about_z, twist_angle, upright_rotation
from ..tracking.recording import RecordedCharacter, collect_prop_motions, make_take
from .learned_file import IMPROVISER, Improviser
from .playing import ImprovisedPlayer, PlayedTogether, RandomPlayer, TaskPlayer, TogetherPlay, ground_below
from .test_method import load_improviser

SCENE = "improvise_scene"
"""Name of the job's attachment with the points to go to, in metres on the ground."""
_TASK_NOISE = 0.1
_SAME_SHARE, _SAME_M = 0.1, 0.02  # by which bones of the same body may be longer or shorter
_STEP_M = 0.2  # what is lower is no obstacle to stand on


@dataclass(frozen=True)
class ImproviseBakeSettings(Settings):
    """What an animator may set."""

    seconds: float = setting(10.0, "Length", "How long the takes last", minimum=0.5, maximum=3600.0, unit="s")
    noise: float = setting(
        1.0, "Noise", "Share of the prior's deviation: less is calmer and less varied", minimum=0.0, maximum=3.0
    )
    try_again: bool = setting(
        True, "Try Again", "Where somebody would fall, go back by a second or more and draw other noise"
    )
    smooth: float = smooth_setting()


class ImproviseBake(Method):
    """From noise and a seed to takes."""

    name = "improvise_bake"
    label = "Improvise"
    help = "Let characters move by themselves, and bake that as new Actions"
    button = "Bake Improvised Take"
    uses_engine = True
    simulates_cast = True
    goes_to_places = True
    takes = Source.LEARNED_FILE
    learned = IMPROVISER
    result_name = "improvised"
    settings_type = ImproviseBakeSettings

    def run(self, clip: Clip, settings: ImproviseBakeSettings, run: Run) -> Take:
        """Simulate everybody together, and make a take of each."""
        improviser = load_improviser(run)
        clips = (clip, *(member.clip for member in load_cast(run)))
        skeletons = [one.skeleton for one in clips]
        whose, clips = clips, tuple(put_on_body(improviser.body, one) for one in clips)
        for one in whose:
            require_same_size(improviser.body, one)
        stage = build_job_stage(run, *(improviser.body for _ in clips), unless=("still",))
        qpos, qvel = place_starts(improviser, clips, np.random.default_rng([run.seed, 5]))
        qpos[:, 2] += ground_below(stage, qpos[:, :3])[:, 2]
        require_apart(qpos[:, :3], [each.name or f"character {number + 1}" for number, each in enumerate(clips)])
        players = make_players(improviser, settings, qpos[:, :2], stage, run)
        with closing(engines.get_engine(run.engine).compile(stage, 1)) as world:
            play = TogetherPlay(improviser, world, players, qpos, qvel, run.seed, try_again=settings.try_again)
            played = play.run(settings.seconds, lambda share: run.progress(round(1000 * share), 1000))
        take = make_takes(improviser, played, clips, settings.smooth, run)
        if improviser.task is not None:
            done = [dict(player.done) for player in players if isinstance(player, TaskPlayer)]
            run.add_detail("task", {"task": improviser.task.name, "done": done})
        others = (take_back(*each) for each in zip(take.others, skeletons[1:], strict=True))
        return replace(take_back(replace(take, others=()), skeletons[0]), others=tuple(others))


def make_players(
    improviser: Improviser, settings: ImproviseBakeSettings, places: Array, stage: Stage, run: Run
) -> list[ImprovisedPlayer]:
    """Who decides for each character at places (C, 2): noise, or the policy of the task that was learned."""
    count = len(places)
    attached = run.attachment(SCENE)
    points = None if attached is None else np.asarray(attached[0]["points"], dtype=float).reshape(-1, 2)
    if improviser.task is None:
        if points is not None:
            raise JobError("What improvises has no task, and cannot go anywhere", "Let it learn one: 'improvise task'")
        return [RandomPlayer(improviser, settings.noise) for _ in range(count)]
    kind = get_task(improviser.task.name)
    kind.require_stage(stage)
    if points is not None:
        kind.require_points(points)
        require_free(points, stage)
        for number, place in enumerate(places):
            own = points if kind.together == 1 else points[number % len(points)][None]
            require_climbable(stage, place, own)
    noise, players = _TASK_NOISE * settings.noise, list[ImprovisedPlayer]()
    for number, place in enumerate(places):
        own = (
            kind.choose_points(stage, place, np.random.default_rng([run.seed, 7, number])) if points is None else points
        )
        players.append(TaskPlayer(improviser, improviser.task, own, noise, number=number, stage=stage))
    return players


def require_same_size(body: BodyModel, clip: Clip) -> None:
    """Refuse a character with the same bones whose body is another: what was learned is for one body."""
    carried = [name for name, parent in zip(body.skeleton.names, body.skeleton.parents, strict=True) if parent >= 0]
    lengths, own = (
        np.linalg.norm(one.rest_pos[[one.index(name) for name in carried]], axis=1)
        for one in (body.skeleton, clip.skeleton)
    )
    beyond = np.abs(own - lengths) - _SAME_SHARE * lengths
    worst = int(np.argmax(beyond))
    if beyond[worst] > _SAME_M:
        bone = carried[worst]
        raise JobError(
            f"'{clip.name}' has another body than what improvises: '{bone}' begins {own[worst]:.2f} m from the bone "
            f"that it hangs on instead of {lengths[worst]:.2f} m",
            "Learn it for this character, or look at Metres a Unit",
        )


def require_free(points: Array, stage: Stage) -> None:
    """Refuse points on the ground (K, 2) that are inside of an obstacle."""
    for obstacle in stage.obstacles:
        for piece in obstacle.pieces:
            if np.ptp(piece, axis=0).max() <= 0.0 or piece[:, 2].max() < _STEP_M:
                continue  # it is stepped on
            for point in points:
                if is_inside(point, piece[:, :2]):
                    x, y = point
                    raise JobError(
                        f"The goal at {x:.2f}, {y:.2f} is inside '{obstacle.name}'", "Move the goal or the obstacle"
                    )


def is_inside(point: Array, corners: Array) -> bool:
    """Whether a point (2,) is within the hull of points (V, 2): no direction has all of them on one side of it."""
    angle = np.sort(np.arctan2(corners[:, 1] - point[1], corners[:, 0] - point[0]))
    gaps = np.diff(np.concatenate([angle, angle[:1] + 2.0 * np.pi]))
    return bool(gaps.max() < np.pi)


def place_starts(improviser: Improviser, clips: tuple[Clip, ...], rng: np.random.Generator) -> tuple[Array, Array]:
    """(C, nq) and (C, nv): standing where the clips' first frames have the characters, facing as they do."""
    body, upright = improviser.body, upright_rotation(improviser.body)
    qpos, qvel = np.repeat(improviser.start_qpos[:1], len(clips), axis=0), np.zeros((len(clips), body.nv))
    for number, clip in enumerate(clips):
        pos, quat = clip.world()
        root = clip.skeleton.index(body.links[0].bone)
        turn = twist_angle(quat[0, root], upright) - twist_angle(qpos[number, 3:7], upright)
        own = qpos[number : number + 1].copy()
        own[:, :2] = 0.0
        turned, _ = rotate_pose_about_z(np.atleast_1d(turn), own, qvel[number : number + 1])
        turned[:, :2] = pos[0, root, :2]
        qpos[number] = turned[0]
    # Nobody begins exactly like anybody else, or the same noise would be all that sets them apart.
    return qpos, 0.02 * rng.standard_normal(qvel.shape)


def make_takes(improviser: Improviser, done: PlayedTogether, clips: tuple[Clip, ...], smooth: float, run: Run) -> Take:
    """Everybody's take, the main one's with the others' and the props' in it."""
    takes, space, where = [], PoseSpace(improviser.body), character_offsets(done.film.stage)
    count = len(done.film)
    for number, clip in enumerate(clips):
        links = slice(int(where["links"][number]), int(where["links"][number + 1]))
        rows = done.film.rows
        subject = RecordedCharacter(
            improviser.body,
            clip,
            space,
            np.ones(count),
            rows.link_pos[0, :, links],
            rows.link_quat_wxyz[0, :, links],
            rows.com[0, :, number],
        )
        take, trace, _ = make_take(done.film, number, subject, clip.fps, smooth)
        takes.append(replace(take, own_clock=True, fell_at_s=done.fell_at_s[number]))
        run.add_trace(trace)
    run.add_detail("improvise", {"falls_before_trying_again": done.falls, "fell_at_s": list(done.fell_at_s)})
    lost = sum(one is not None for one in done.fell_at_s)
    if lost:
        who = "1 character falls" if lost == 1 else f"{lost} characters fall"
        run.add_finding("fall", f"{who}, whatever was tried", "Try another seed or less noise, or train longer")
    main = takes[0]
    return replace(main, others=tuple(takes[1:]), props=collect_prop_motions(done.film, main.motion))
