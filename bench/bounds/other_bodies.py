# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip of a person on bodies that are no persons' (5.2 and figure 8): simulated, and learned within bounds alone.

The paper has Atlas, which is no longer to be had; here are Unitree's G1 and the humanoid of pybullet_data, whose
bodies are given, and a child and a giant, whose bodies are fitted. Nothing is retargeted: parts turn as in the clip.
"""

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ...core.body import BodyModel, build_body
from ...core.body.given_body import build_given_body, given_to_mapping
from ...core.body.role_retargeting import transfer_by_roles
from ...core.control.bounds.train_settings import make_bounds_training_config, make_reward_terms
from ...core.control.bounds.training import Training
from ...core.control.character import BODY, BodyChoices
from ...core.errors import BadFile
from ...core.files import Attachment
from ...core.jobs import find_worker_python
from ...core.motion import Clip, Skeleton
from ...core.motion.io import stock
from ...core.sim import engines
from ...core.sim.models.reading import read_model_file
from ..rows import Row
from ..run import Case, method_and_settings, simulate_case
from .table import BoundsBench, describe_bounds_training, measure_row, prepare_bounded_reference, train_for_row

PARTS = ("bodies_simulated", "bodies_learned")
CLIPS = ("walk", "run", "cartwheel")
_ROBOTS = Path(__file__).resolve().parents[3] / "shared" / "robots"
_LASTS = ("walk", "run")  # what must last 20 s; of the others it is only said how they do


@dataclass(frozen=True)
class OtherBody:
    """model: file of a model and metres a unit of it; else the stock skeleton with its lengths times as long."""

    label: str
    model: str = ""
    scale: float = 1.0
    legs: float = 1.0
    arms: float = 1.0
    trunk: float = 1.0


BODIES = {
    "g1": OtherBody("Unitree G1", "unitree_g1/g1.xml"),
    "humanoid": OtherBody("humanoid.urdf", "humanoid/humanoid.urdf", 0.25),
    "child": OtherBody("child", legs=0.5, arms=0.55, trunk=0.75),
    "giant": OtherBody("giant", legs=2.4, arms=2.6, trunk=2.0),
}
"""By name the bodies that are measured."""


def measure_other_bodies(
    bench: BoundsBench, parts: Sequence[str], seeds: Sequence[int], names: Sequence[str] = ()
) -> Iterator[Row]:
    """Every row of these parts, of all bodies or those with these names."""
    for part in parts:
        for seed in seeds if part == "bodies_learned" else seeds[:1]:
            for name in names or BODIES:
                for clip in bench.clips:
                    begun = bench.started(part, f"{clip} on {name}", seed)
                    measure = _learned if part == "bodies_learned" else _simulated
                    yield measure_row(begun, lambda m=measure, c=clip, n=name, s=seed: m(bench, c, n, s))  # type: ignore[misc]


def clip_on_body(clip_name: str, body_name: str) -> tuple[Clip, BodyModel, dict[str, Attachment]]:
    """The stock clip on the body, the body itself, and what a job has for it."""
    clip = stock.load_stock(clip_name)
    source = build_body(clip.skeleton, clip=clip)[0]
    target, attachments = _target(body_name)
    moved = transfer_by_roles(source, clip, target)
    body = target if attachments else build_body(moved.skeleton, clip=moved)[0]
    return moved, body, attachments


@lru_cache(maxsize=8)
def _target(name: str) -> tuple[BodyModel, dict[str, Attachment]]:
    other = BODIES[name]
    if not other.model:
        return build_body(scale_skeleton(stock.stock_skeleton(), other))[0], {}
    given = read_model_file(_model_path(other.model), find_worker_python(), other.scale).body
    choices = BodyChoices(given=given_to_mapping(given))
    return build_given_body(given.skeleton, given)[0], {BODY: ({}, choices.to_mapping())}


def _model_path(name: str) -> Path:
    """Where a model is: in ../shared/robots or in pybullet_data."""
    spec = importlib.util.find_spec("pybullet_data")
    folders = [_ROBOTS, *([Path(spec.origin).parent] if spec and spec.origin else [])]
    found = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if found is None:
        raise BadFile(f"The model '{name}' is in none of {', '.join(map(str, folders))}", "Put it there")
    return found


def scale_skeleton(skeleton: Skeleton, other: OtherBody) -> Skeleton:
    """The stock skeleton with other proportions, standing on the ground."""
    times = {"thigh": other.legs, "shin": other.legs, "foot": other.legs}
    times |= {"upper_arm": other.arms, "forearm": other.arms}
    own = np.array([times.get(name.partition(".")[0], other.trunk) for name in skeleton.names])
    pos, lengths = np.array(skeleton.rest_pos), skeleton.lengths * own
    for bone, parent in enumerate(skeleton.parents):
        if parent >= 0:
            pos[bone] *= own[parent]
    lowest = float(skeleton.rest_world()[0][:, 2].min())
    long = Skeleton(skeleton.names, skeleton.parents, pos, skeleton.rest_quat_wxyz, lengths)
    pos[0, 2] += other.legs * lowest - float(long.rest_world()[0][:, 2].min())
    return Skeleton(skeleton.names, skeleton.parents, pos, skeleton.rest_quat_wxyz, lengths)


def _described(body: BodyModel) -> Row:
    return {"mass_kg": body.mass, "links": len(body.links), "degrees_of_freedom": body.nv}


def _simulated(bench: BoundsBench, clip_name: str, body_name: str, seed: int) -> Row:
    clip, body, attachments = clip_on_body(clip_name, body_name)
    method, settings = method_and_settings("sampling", ["quality=normal"])
    case = Case("bodies", f"{clip_name} on {body_name}", clip, seed, bench.engine, attachments)
    row, _ = simulate_case(case, method, settings)
    kept = ("refused", "bug", "fell_at_s", "lost_at_s", "joint_error_m", "joint_error_max_m", "wall_s", "clip_s")
    figures = {name: row[name] for name in kept if name in row}
    return {**_described(body), **figures, "reached": row.get("fell_at_s", 0.0) is None}


def _learned(bench: BoundsBench, clip_name: str, body_name: str, seed: int) -> Row:
    clip, body, _ = clip_on_body(clip_name, body_name)
    reference, widths = prepare_bounded_reference(body, clip, bench.settings, bench.settings.bounds)
    words = (clip_name, "on", body_name, bench.engine, bench.settings.bounds, str(seed))
    with Training(
        reference,
        widths,
        engines.get_engine(bench.engine),
        make_bounds_training_config(bench.settings),
        seed,
        lambda: make_reward_terms(bench.settings),
    ) as training:
        path = bench.folder / f"{'_'.join(words)}.npz"
        begin = training.warm_start if bench.settings.warm else None
        spent = train_for_row(bench, training, f"{clip_name} on {body_name}", path, begin=begin)
        figures = describe_bounds_training(training)
    done = figures["done_m"] is not None
    return {**_described(body), **figures, **spent, "reached": done if clip_name in _LASTS else None}


def format_body_row(row: Row) -> str:
    """A row in a line, for whoever watches."""
    head = f"{row['part']} {row['name']} seed {row['seed']}"
    for word in ("refused", "bug"):
        if word in row:
            return f"{head}: {word}: {row[word]}"
    if row["part"] == "bodies_simulated":
        stays = "stays up" if row["fell_at_s"] is None else f"falls at {row['fell_at_s']:.1f} s"
        return f"{head}: {stays}, {100 * row['joint_error_m']:.1f} cm from its source"
    if row["done_m"] is None:
        return f"{head}: not after {row['samples_m']:.2f} M, {row['minutes']:.1f} min; lasts {row['share']:.0%}"
    return f"{head}: {row['done_m']:.2f} M, {row['minutes']:.1f} min"
