# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion matching measured: searches against each other, microseconds a frame, and how well wishes are followed."""

import time
from collections.abc import Callable

import numpy as np

from ..core.body.foot_skate import source_foot_skate
from ..core.body.poses import link_transforms, pose_of_clip
from ..core.control.matching.artificial_user import ArtificialUser
from ..core.control.matching.directing import DirectedMotion, Directing
from ..core.control.matching.features import FPS, PATH
from ..core.control.matching.guides import StickGuide, WishGuide
from ..core.control.matching.inertialisation import blend_poses
from ..core.control.matching.matching import MotionMatching, Played
from ..core.control.matching.search import FrameSearch
from ..core.control.matching.wish import Wish
from ..core.control.tracking.library_files import StoredLibrary
from ..core.geometry.quaternions import Array, rotate
from ..core.motion import Clip
from .rows import Row

SHARP_TURNS = np.array([(0, 0), (4, 0), (4, 3), (1, 3), (1, 6), (5, 6), (7, 3), (7, 0), (10, 0)], dtype=float)
"""A path of sharp turns, as in figure 2 of the paper."""
_WALK_M_S, _RUN_M_S = 1.3, 3.0
_QUERIES, _CHARACTERS, _STARTS = 200, 64, 40


def prepare_directing(stored: StoredLibrary) -> Directing:
    """The library ready to be directed."""
    return Directing(stored.body, stored.library)


def compare_searches(directing: Directing, seed: int) -> list[Row]:
    """Every search on the same queries: frames of the library whose wish was changed by half a deviation."""
    points = directing.database.features.astype(float)
    rng = np.random.default_rng(seed)
    known = rng.integers(len(points), size=_QUERIES)
    queries = points[known]
    queries[:, PATH.start :] += 0.5 * rng.normal(size=(_QUERIES, points.shape[1] - PATH.start))
    queries = queries.astype(np.float32)
    bounds = ((points[known] - queries) ** 2).sum(axis=-1)
    truth = [float(((points - query) ** 2).sum(axis=-1).min()) for query in queries]
    rows = []
    for name, search in _searches(points).items():
        begun = time.process_time()
        found = [search(query, float(bound)) for query, bound in zip(queries, bounds, strict=True)]
        micros = (time.process_time() - begun) / _QUERIES * 1e6
        far = [((points[place] - query) ** 2).sum() for place, query in zip(found, queries, strict=True)]
        right = float(np.mean(np.array(far) <= np.array(truth) * (1 + 1e-4) + 1e-4))
        rows.append({"what": f"search: {name}", "query_us": micros, "right": right, "frames": len(points)})
    return rows


def _searches(points: Array) -> dict[str, Callable[[Array, float], int]]:
    from scipy.spatial import cKDTree

    tree, balls = cKDTree(points), FrameSearch(points)
    rows = np.ascontiguousarray(np.column_stack([points, -0.5 * (points**2).sum(-1)]), dtype=np.float32)

    def by_product(query: Array, _: float) -> int:
        return int((rows @ np.append(query, np.float32(1.0))).argmax())

    def by_tree(query: Array, bound: float) -> int:
        found = int(tree.query(query, distance_upper_bound=np.sqrt(bound) * 1.001)[1])
        return min(found, len(points) - 1)

    def by_balls(query: Array, bound: float) -> int:
        found = balls.find_nearest(query.astype(np.float32), bound * 1.001 + 1e-3)[0]
        return found if found >= 0 else by_product(query, bound)

    return {
        "k-d tree": by_tree,
        "one product over all frames": by_product,
        "principal components first": _by_components(points),
        "boxes around runs": _by_boxes(points),
        "balls around runs (used)": by_balls,
    }


def _by_components(points: Array, kept: int = 8) -> Callable[[Array, float], int]:
    """A bound by the first components and by what is left of each length, then the frames within it."""
    _, axes = np.linalg.eigh(points.T @ points / len(points))
    turned = points @ axes[:, ::-1]
    rest = np.sqrt((turned[:, kept:] ** 2).sum(axis=-1))
    half = -0.5 * (turned**2).sum(axis=-1)
    first = np.ascontiguousarray(np.column_stack([turned[:, :kept], rest, half]).T, dtype=np.float32)
    rows, way = np.column_stack([turned, half]).astype(np.float32), axes[:, ::-1].T.astype(np.float32)

    def search(query: Array, bound: float) -> int:
        own = way @ query.astype(np.float32)
        left = np.sqrt(own[kept:] @ own[kept:])
        scores = np.concatenate([own[:kept], [left, 1.0]]).astype(np.float32) @ first
        near = np.flatnonzero(scores >= 0.5 * (float(query @ query) - bound) - 1e-2)
        whole = rows[near] @ np.append(own, np.float32(1.0))
        return int(near[whole.argmax()])

    return search


def _by_boxes(points: Array, run: int = 16) -> Callable[[Array, float], int]:
    """Boxes around runs of frames, then the frames of those that are near enough."""
    filled = np.concatenate([points, np.repeat(points[-1:], -len(points) % run, axis=0)]).astype(np.float32)
    runs = filled.reshape(-1, run, points.shape[1])
    low, high = runs.min(axis=1), runs.max(axis=1)

    def search(query: Array, bound: float) -> int:
        asked = query.astype(np.float32)
        away = asked - np.clip(asked, low, high)
        near = np.flatnonzero(np.einsum("rd,rd->r", away, away) <= bound * 1.001 + 1e-3)
        inside = runs[near] - asked
        best = int(np.einsum("rkd,rkd->rk", inside, inside).argmin())
        return min(int(near[best // run]) * run + best % run, len(points) - 1)

    return search


def measure_frames(directing: Directing, seed: int) -> list[Row]:
    """Processor time a frame of one character on a path, and of many at once with artificial users."""
    rows, database, frames = [], directing.database, 1800
    for style in (("walk",), ()):
        wish = Wish(np.full(frames, _WALK_M_S), SHARP_TURNS, styles=(style,))
        times = []
        for _ in range(3):
            guide = WishGuide(wish)
            pos, heading = guide.start()
            first = database.candidates(style).frames[:1]
            matching = MotionMatching(database, guide, first, pos[None], np.array([heading]))
            begun = time.process_time()
            played = matching.advance(frames)
            between = time.process_time()
            blend_poses(database, played.frame[0], played.pos[0], played.yaw[0])
            times.append((between - begun, time.process_time() - between))
        control, poses = 1e6 * np.min(times, axis=0) / frames
        named = "any style" if not style else f"style {style[0]}"
        row: Row = {"what": f"kinematic control, one character, {named}", "frame_us": float(control + poses)}
        rows.append(row | {"matching_us": float(control), "poses_us": float(poses), "goal": {"frame_us": 40.0}})
    user = ArtificialUser(_CHARACTERS, np.random.default_rng(seed), most_m_s=_RUN_M_S)
    start = np.full(_CHARACTERS, int(database.candidates(()).frames[0]))
    many = MotionMatching(database, user, start, np.zeros((_CHARACTERS, 2)), np.zeros(_CHARACTERS))
    begun = time.process_time()
    many.advance(600)
    each = 1e6 * (time.process_time() - begun) / (600 * _CHARACTERS)
    rows.append({"what": f"kinematic control, {_CHARACTERS} characters, each", "frame_us": each})
    return rows


def measure_path(directing: Directing, seed: int) -> list[Row]:
    """How near the centre of mass keeps to a path of sharp turns at a walk, and how the feet stand."""
    rows = []
    for style in (("walk",), ()):
        wish = Wish(np.full(1500, _WALK_M_S), SHARP_TURNS, styles=(style,))
        made = directing.make_motion(wish, np.random.default_rng(seed))
        path = WishGuide(wish).path
        assert path is not None
        com = _centre_of_mass(directing, made.motion)[:, :2]
        away = np.array([np.sqrt(((path.points - place) ** 2).sum(axis=-1).min()) for place in com])
        named = "any style" if not style else f"style {style[0]}"
        row: Row = {"what": f"path of sharp turns at a walk, {named}", "com_mean_m": float(away.mean())}
        row |= {"com_most_m": float(away.max()), "transitions": made.transitions, "goal": {"com_mean_m": 0.15}}
        rows.append(row | _describe_feet(directing, made, style))
    return rows


def _describe_feet(directing: Directing, made: DirectedMotion, style: tuple[str, ...]) -> Row:
    """Foot skate and jerk, beside the library's own."""
    database = directing.database
    frames = database.candidates(style).has
    clips = [index for index in range(len(database.library)) if frames[database.library.frames_of(index)].all()]
    own = [source_foot_skate(database.body, database.library.clip(index)) for index in clips[:20]]
    jerk = [measure_jerk(database.library.clip(index)) for index in clips[:20]]
    return {
        "skate_m_s": source_foot_skate(database.body, made.motion),
        "library_skate_m_s": float(np.mean([value for value in own if value is not None])),
        "jerk_m_s3": measure_jerk(made.motion),
        "library_jerk_m_s3": float(np.mean(jerk)),
    }


def measure_turns(directing: Directing, seed: int) -> list[Row]:
    """Rise time of a heading change by a quarter turn, from 10 to 90 per cent, from many beginnings."""
    rows, database = [], directing.database
    for speed, style in ((_WALK_M_S, ()), (_WALK_M_S, ("walk",)), (_RUN_M_S, ("run",))):
        candidates = database.candidates(style)
        straight = np.abs(database.track.vel[candidates.frames] - [speed, 0.0]).sum(axis=-1)
        straight += np.abs(database.track.turn[candidates.frames])
        start = candidates.frames[np.argsort(straight, kind="stable")[: 25 * _STARTS : 25]]
        turn = 0.5 * np.pi * np.where(np.arange(len(start)) % 2, 1.0, -1.0)
        guide = StickGuide(np.tile([speed, 0.0], (len(start), 1)), 0.0 * turn, 0.0 * turn, [style] * len(start))
        matching = MotionMatching(database, guide, start, np.zeros((len(start), 2)), 0.0 * turn)
        matching.advance(60)
        guide.velocity, guide.heading = speed * np.stack([np.cos(turn), np.sin(turn)], axis=-1), turn
        yaw = _answer(matching, guide, 300).yaw / turn[:, None]
        rises = np.array([_rise_s(row) for row in yaw])
        named = "any style" if not style else f"style {style[0]}"
        row: Row = {"what": f"heading by 90 degrees at {speed:g} m/s, {named}", "rise_s": float(np.median(rises))}
        rows.append(row | {"rise_90_s": float(np.percentile(rises, 90)), "goal": {"rise_s": 1.2}})
    return rows


def measure_speeds(directing: Directing, seed: int) -> list[Row]:
    """From as fast backwards as the library goes to 3 m/s forwards, facing the same way."""
    database = directing.database
    guide = StickGuide(np.array([[-_RUN_M_S, 0.0]]), np.zeros(1), np.zeros(1))
    start = database.candidates(()).frames[:1]
    matching = MotionMatching(database, guide, start, np.zeros((1, 2)), np.zeros(1))
    before = matching.advance(300).pos[0, :, 0]
    guide.velocity = np.array([[_RUN_M_S, 0.0]])
    after = _answer(matching, guide, 300).pos[0, :, 0]
    speed = np.diff(np.concatenate([before[-1:], after])) * FPS
    slow, fast = float(np.diff(before[-60:]).mean() * FPS), float(speed[-60:].mean())
    row: Row = {"what": "from -3 to 3 m/s", "rise_s": _rise_s((speed - slow) / (fast - slow)), "goal": {"rise_s": 1.5}}
    forward = database.track.vel[:, 0]
    reach = {"library_slowest_m_s": float(np.percentile(forward, 0.5))}
    reach["library_fastest_m_s"] = float(np.percentile(forward, 99.5))
    return [row | {"from_m_s": slow, "to_m_s": fast, **reach}]


def measure_standing(directing: Directing, seed: int) -> list[Row]:
    """A minute of standing: how far it drifts, and how it trembles against the library's own idling."""
    database, still = directing.database, np.zeros((3600, 2))
    made = directing.make_motion(Wish(np.zeros(3600), goal=still), np.random.default_rng(seed))
    place = made.played.pos[0]
    row: Row = {"what": "standing for 60 s", "drift_m": float(np.linalg.norm(place - place[0], axis=-1).max())}
    row |= {"jerk_m_s3": measure_jerk(made.motion), "skate_m_s": source_foot_skate(database.body, made.motion) or 0.0}
    held = float(np.mean(np.diff(made.played.frame[0]) == 0))
    return [row | {"held": held, "goal": {"drift_m": 0.1, "skate_m_s": 0.02}}]


def _answer(matching: MotionMatching, guide: StickGuide, frames: int) -> Played:
    """What is played after the wish changed, as one stretch."""
    count = len(guide.heading)
    guide.changed = np.ones(count, dtype=bool)
    first = matching.advance(1)
    guide.changed = np.zeros(count, dtype=bool)
    rest = matching.advance(frames - 1)
    parts = {
        name: np.concatenate([getattr(first, name), getattr(rest, name)], axis=1) for name in ("frame", "pos", "yaw")
    }
    return type(first)(**parts)


def _rise_s(share: Array) -> float:
    """Seconds from a tenth to nine tenths; as long as was looked at where it never came there."""
    low, high = (np.flatnonzero(share >= edge) for edge in (0.1, 0.9))
    return float((high[0] - low[0]) / FPS) if len(high) else len(share) / FPS


def measure_jerk(clip: Clip) -> float:
    """Mean m/s³ of all bones."""
    return float(np.linalg.norm(np.diff(clip.world()[0], 3, axis=0) * clip.fps**3, axis=-1).mean())


def _centre_of_mass(directing: Directing, clip: Clip) -> Array:
    body = directing.database.body
    pos, quat = link_transforms(body, pose_of_clip(body, clip)[0])
    coms = np.array([link.com for link in body.links])
    mass = np.array([link.mass for link in body.links])
    whole: Array = np.einsum("tlc,l->tc", pos + rotate(quat, np.broadcast_to(coms, pos.shape)), mass) / mass.sum()
    return whole
