# SPDX-License-Identifier: GPL-3.0-or-later
"""What the paper's two adaptations of initial states are worth: learning curves with and without each.

Section 5.4.3 and figures 11 and 13 of Ma et al. 2021: importance sampling over segments (equation 11) and the evolution
of elite states (equation 12), and besides the curves what they did: where episodes began, what could be earned from
there, and how far the elites went from the source.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...core.control.bounds.reference_trajectory import CONTROL_FPS
from ...core.control.bounds.training import Training
from ..rows import Row
from .table import BoundsBench, describe_bounds_training, measure_row, train_for_row

PARTS = ("ablation",)
CLIPS = ("backflip", "spinkick")
VARIANTS = {"both": (True, True), "importance": (True, False), "evolution": (False, True), "neither": (False, False)}
"""Whether importance sampling and elite evolution are on, by name."""

_MOMENTS = 40  # of training, of which a row says where episodes began
_SHOWN = 12  # elites of a segment that a row has


def measure_ablation(bench: BoundsBench, seeds: Sequence[int], variants: Sequence[str] = ()) -> Iterator[Row]:
    """Every row as soon as it is known; all variants of a clip learn the same, each from as many samples at most."""
    for seed in seeds:
        for name in bench.clips:
            for variant in variants or VARIANTS:
                importance, evolution = VARIANTS[variant]
                own = replace(bench, settings=replace(bench.settings, importance=importance, evolution=evolution))
                yield measure_row(
                    {**own.started("ablation", name, seed), "variant": variant}, _Measured(own, name, seed)
                )


class _Measured:
    """A variant that learns when it is called."""

    def __init__(self, bench: BoundsBench, name: str, seed: int) -> None:
        self.bench, self.name, self.seed = bench, name, seed

    def __call__(self) -> Row:
        bench, settings = self.bench, self.bench.settings
        switches = f"importance{settings.importance:d}_evolution{settings.evolution:d}"
        words = (self.name, bench.engine, settings.bounds, str(self.seed), switches, *["warm"][: settings.warm])
        with bench.training(self.name, self.seed) as training:
            path, begin = bench.folder / f"{'_'.join(words)}.npz", training.warm_start if settings.warm else None
            spent = train_for_row(bench, training, f"{self.name} {switches}", path, begin)
            return {
                **describe_bounds_training(training),
                **spent,
                "starts": describe_initial_states(training),
                "elites": project_elites(training),
            }


def describe_initial_states(training: Training) -> Row:
    """Where episodes began, over training: moments (M,) in samples, and by moment and segment (M, S) what was noted.

    seconds: (S + 1,) where the segments lie in the course. returns: what is earned from there. chances: how often
    episodes begin there; begun: how many have so far. apart: how far the buffered states are from the course, as the
    norm of joint angles in radians.
    """
    starts, config = training.environments[0].initial_states, training.config
    curve = starts.curve
    chosen = np.unique(np.linspace(0, len(curve) - 1, _MOMENTS).round().astype(int)) if curve else []
    return {
        "seconds": np.round(starts.edges / CONTROL_FPS, 4).tolist(),
        "samples": [int(index + 1) * config.episodes.adaptation_interval * config.worlds for index in chosen],
        **{name: [curve[index][name] for index in chosen] for name in ("returns", "chances", "begun", "apart")},
    }


def project_elites(training: Training) -> Row:
    """Some buffered states along the course's first principal component, as in figure 13, and the course itself.

    seconds: (N,) where on the course they are. first: (N,) how far along the component. course: (T + 1,) likewise.
    """
    reference, starts = training.reference, training.environments[0].initial_states
    poses = reference.pose_space.difference(reference.qpos[:1], reference.qpos)[:, 6:]
    mean = poses.mean(axis=0)
    axis = np.linalg.svd(poses - mean, full_matrices=False)[2][0]
    state = starts.state()
    at, qpos = state["elite_at"], state["elite_qpos"]
    chosen = np.concatenate([np.flatnonzero(starts.segment_of[at] == one)[:_SHOWN] for one in range(starts.segments)])
    elites = reference.pose_space.difference(reference.qpos[:1], qpos[chosen])[:, 6:]
    return {
        "seconds": np.round(at[chosen] / CONTROL_FPS, 4).tolist(),
        "first": np.round((elites - mean) @ axis, 3).tolist(),
        "course": np.round((poses - mean) @ axis, 3).tolist(),
    }


def format_ablation_row(row: Row) -> str:
    """A row in a line, for whoever watches."""
    head = f"ablation {row['name']} seed {row['seed']} {row['variant']}"
    for word in ("refused", "bug"):
        if word in row:
            return f"{head}: {word}: {row[word]}"
    ends = "not" if row["done_m"] is None else f"done at {row['done_m']:.2f} M,"
    return f"{head}: {ends} after {row['samples_m']:.2f} M, {row['minutes']:.1f} min; lasts {row['share']:.0%}"
