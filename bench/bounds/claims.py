# SPDX-License-Identifier: GPL-3.0-or-later
"""Two claims of the paper (Ma et al. 2021), checked: poor references, and what the width of bounds does to a motion.

``keyframes`` (section 5.2, figure 7): a clip of which few poses are left is learned within bounds, and not as well by
imitation alone, from as many samples. ``width`` (section 5.4.1): tighter bounds change what there are many ways to do,
such as a walk, and not what there is hardly another way to do, such as a cartwheel. Another seed within the same bounds
changes a motion too, so what another width does is held against that; and how far seeds are apart tells how much
freedom bounds leave.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from ...core.body.build import build_body
from ...core.control.bounds.bounds import bounds_of_preset, sample_widths
from ...core.control.bounds.endurance import measure_policy_endurance
from ...core.control.bounds.presets import BoundsPreset
from ...core.control.bounds.reference_trajectory import CONTROL_FPS, ReferenceTrajectory
from ...core.control.bounds.train_settings import make_bounds_training_config, make_reward_terms
from ...core.control.bounds.training import Training
from ...core.geometry.quaternions import angle_between
from ...core.motion.io import stock
from ...core.sim import engines
from ...core.sim.engine import World
from ...core.sim.stage import Character, Stage
from ..rows import Row
from .keyframing import keep_few_poses
from .policy_motion import (
    PolicyMotion,
    distance_from_source,
    motion_distance,
    record_policy_motion,
    reference_variation,
)
from .table import BoundsBench, describe_bounds_training, measure_row, prepare_bounded_reference, train_for_row

PARTS = ("claims",)
KEYFRAMES, WIDTH = "keyframes", "width"
CLAIMS = (KEYFRAMES, WIDTH)
FALLS = BoundsPreset("falls", "Falls", "Nothing but a fall ends it", (None, None, 0.35), None, None, None)
"""For imitation alone, where an episode ends only by a fall: the centre of mass is far lower than it should be."""
TAUGHT = {"bounds": ("survival", True), "bounds_imitation": ("imitation", True), "imitation": ("imitation", False)}
"""By variant the reward, and whether the bounds hold."""
AGAIN = "_again"
"""After the name of a preset: within the same bounds, by another seed."""
WIDTHS = dict.fromkeys(("walk", "cartwheel"), ("loose", "loose_again", "cartwheel", "tight", "tight_again"))
"""By clip what it is learned within; all are compared with the first."""
SKILLS = ("run",)
POSES = 4

_COPIES = 32


def measure_claims(bench: BoundsBench, seeds: Sequence[int], only: Sequence[str] = ()) -> Iterator[Row]:
    """Every row as soon as it is known. only: claims, or variants of them; all if it is empty."""
    wanted = {name for name in only if name not in CLAIMS}
    for seed in seeds:
        for claim in [claim for claim in CLAIMS if claim in only or not set(only) & set(CLAIMS)]:
            names = SKILLS if claim == KEYFRAMES else tuple(WIDTHS)
            for name in [name for name in bench.clips if name in names] if bench.clips else names:
                before: dict[str, PolicyMotion] = {}
                for variant in TAUGHT if claim == KEYFRAMES else WIDTHS[name]:
                    if not wanted or variant in wanted:
                        # Keyframes are learned without a warm start: the claim is about learning from poor references.
                        own = replace(bench, settings=replace(bench.settings, warm=False))
                        own, measured = (own, _Keyframes) if claim == KEYFRAMES else (bench, _Width)
                        row = {**own.started("claims", name, seed), "claim": claim, "variant": variant}
                        yield measure_row(row, measured(own, name, seed, variant, before))


@dataclass(eq=False)
class _Work:
    """A clip that is learned in one way. before: what was done in other ways, by variant."""

    bench: BoundsBench
    name: str
    seed: int
    variant: str
    before: dict[str, PolicyMotion]

    def practised(self, claim: str, training: Training) -> Row:
        """Learn, and see it once at least."""
        warm = self.bench.settings.warm
        words = (claim, self.name, self.bench.engine, str(self.seed), self.variant, *["warm"][:warm])
        path, begin = self.bench.folder / f"{'_'.join(words)}.npz", training.warm_start if warm else None
        spent = train_for_row(self.bench, training, f"{claim} {self.name} {self.variant}", path, begin)
        if not training.tests:
            training.test()
        return {**describe_bounds_training(training), **spent}

    def world(self, reference: ReferenceTrajectory) -> World:
        """One to be watched in."""
        return engines.get_engine(self.bench.engine).compile(Stage((Character(reference.body),)), _COPIES)


class _Keyframes(_Work):
    """A reference of few poses; training does not stop early, so that all have as many samples."""

    def __call__(self) -> Row:
        clip = stock.load_stock(self.name)
        body, poor = build_body(clip.skeleton, clip=clip)[0], keep_few_poses(clip, POSES)
        reward, bounded = TAUGHT[self.variant]
        settings = replace(self.bench.settings, reward=reward, stop=False)
        self.bench = replace(self.bench, settings=settings)
        reference, held = prepare_bounded_reference(body, poor, settings, settings.bounds)
        falls = sample_widths(bounds_of_preset(body, FALLS), reference, poor)
        engine, config = engines.get_engine(self.bench.engine), make_bounds_training_config(settings)
        widths = held if bounded else falls
        with Training(reference, widths, engine, config, self.seed, lambda: make_reward_terms(settings)) as training:
            found = self.practised(KEYFRAMES, training)
            policy = training.policy
        with closing(self.world(reference)) as world:
            does, stands = (
                measure_policy_endurance(reference, one, policy, world, settings.seconds) for one in (held, falls)
            )
        off = angle_between(clip.local_quat_wxyz, poor.local_quat_wxyz)
        return {
            **found,
            "poses": POSES,
            "reference_off": float(off.mean()),
            "does": does.share,
            "does_s": float(np.mean(does.survived_steps)) / CONTROL_FPS,
            "stands": stands.share,
            "stands_s": float(np.mean(stands.survived_steps)) / CONTROL_FPS,
        }


class _Width(_Work):
    """A clip within one of some bounds, against the same within the first of them; it does not stop early either."""

    def __call__(self) -> Row:
        bounds, again = self.variant.removesuffix(AGAIN), self.variant.endswith(AGAIN)
        settings = replace(self.bench.settings, bounds=bounds, stop=False)
        self.bench = replace(self.bench, settings=settings)
        with self.bench.training(self.name, self.seed + again) as training:
            found = self.practised(WIDTH, training)
            reference, widths, policy = training.reference, training.widths, training.policy
        with closing(self.world(reference)) as world:
            way = record_policy_motion(reference, widths, policy, world, settings.seconds)
        first, other = self.before.get(WIDTHS[self.name][0]), self.before.get(bounds) if again else None
        self.before[self.variant] = way
        return {
            **found,
            "bounds": bounds,
            "swing": reference_variation(reference),
            "from_source": distance_from_source(way),
            "from_first": None if first is None else motion_distance(first, way),
            "from_other_seed": None if other is None else motion_distance(other, way),
        }


def format_claim_row(row: Row) -> str:
    """A row in a line, for whoever watches."""
    head = f"claims {row['claim']} {row['name']} seed {row['seed']} {row['variant']}"
    for word in ("refused", "bug"):
        if word in row:
            return f"{head}: {word}: {row[word]}"
    spent = f"{row['samples_m']:.2f} M, {row['minutes']:.1f} min"
    if row["claim"] == KEYFRAMES:
        return f"{head}: {spent}: within bounds for {row['does_s']:.1f} s, on its feet for {row['stands_s']:.1f} s"
    from_source, from_first = (
        "–" if row[name] is None else f"{row[name]:.3f} rad" for name in ("from_source", "from_first")
    )
    return f"{head}: {spent}, lasts {row['share']:.0%}: {from_source} from its source, {from_first} from the first"
