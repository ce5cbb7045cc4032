# SPDX-License-Identifier: GPL-3.0-or-later
"""What each part of training a policy is worth: the same small budget with and without it, one curve each."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.control.direct.train_method import DirectTrainSettings, make_practice, make_tracking_config
from ..core.control.tracking.library_files import StoredLibrary
from ..core.control.tracking_policy.rewards import RewardWeights
from ..core.control.tracking_policy.training import TrackingTraining, TrackingTrainingConfig
from ..core.learn.policy import Policy
from ..core.sim import engines
from .plots import Series, draw_axes
from .rows import Row

_TESTS = 5
_PRACTISED_MINUTES = 8.0


@dataclass(frozen=True)
class Variant:
    """Training with a part changed. settings, tracking, ppo: what is set otherwise. warm: begin with a policy."""

    family: str
    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    tracking: dict[str, Any] = field(default_factory=dict)
    ppo: dict[str, Any] = field(default_factory=dict)
    warm: bool = False


VARIANTS = (
    Variant("", "as it is"),
    Variant("smoothing", "no smoothing", {"smoothing": 1.0}),
    Variant("joints", "all joints", {"all_joints": True}),
    Variant("last layer", "last layer full size", ppo={"output_scale": 1.0}),
    Variant("rewards", "no places of links", tracking={"weights": RewardWeights(pose=0.0)}),
    Variant("rewards", "no speeds", tracking={"weights": RewardWeights(speed=0.0, velocity=0.0)}),
    Variant("rewards", "feet may slide", tracking={"weights": RewardWeights(stance=0.0)}),
    Variant("rewards", "changes cost nothing", tracking={"weights": RewardWeights(change=0.0)}),
    Variant("stages", "starts anywhere alike", tracking={"hard": False}),
    Variant("stages", "begun with a policy", warm=True),
)
"""Those of a family share a plot, with training as it is."""
FAMILIES = tuple(dict.fromkeys(variant.family for variant in VARIANTS if variant.family))


def train_ablations(stored: StoredLibrary, begin: Policy | None, seed: int, millions: float) -> Iterator[Row]:
    """Every variant as soon as it is known; all practise the same streams, and are tested on the same others."""
    basis = DirectTrainSettings(millions=millions, practised=_PRACTISED_MINUTES, pushes=False, worlds=256, threads=1)
    practised, tested = make_practice(stored, basis, seed)
    for variant in VARIANTS:
        if variant.warm and begin is None:
            continue
        config = configure_variant(basis, variant)
        engine = engines.get_engine("mujoco")
        with TrackingTraining(practised, tested, engine, config, seed, begin if variant.warm else None) as training:
            if variant.warm:
                training.test()
            while training.samples < config.samples:
                training.advance()
            row: Row = {"what": f"ablation: {variant.name}", "family": variant.family, "variant": variant.name}
            row |= {"samples": training.samples, "seed": seed, "warm": variant.warm}
            row["tests"] = [[test.samples, test.falls_per_minute, test.joint_error_m] for test in training.tests]
            row["falls_per_minute"] = training.tests[-1].falls_per_minute
            row["joint_error_m"] = training.tests[-1].joint_error_m
        yield row


def configure_variant(basis: DirectTrainSettings, variant: Variant) -> TrackingTrainingConfig:
    """How a variant is trained, from how training is as it is."""
    config = make_tracking_config(replace(basis, **variant.settings))
    return replace(
        config,
        test_interval=config.samples // _TESTS,
        tracking=replace(config.tracking, **variant.tracking),
        ppo=replace(config.ppo, **variant.ppo),
    )


def draw_ablations(rows: list[Row]) -> dict[str, str]:
    """SVGs by name: falls a minute over samples, one for each family of which there are rows."""
    known = {row["variant"]: row for row in rows if "variant" in row}
    usual = known.get(VARIANTS[0].name)
    found = {}
    for family in FAMILIES:
        own = [known[one.name] for one in VARIANTS if one.family == family and one.name in known]
        if usual is None or not own:
            continue
        marks = [_curve(row, dashed=row is usual) for row in (usual, *own)]
        title = f"Ablation: {family}"
        found[f"ablation_{family.replace(' ', '_')}"] = draw_axes(title, "thousand samples", "falls a minute", marks)
    return found


def _curve(row: Row, *, dashed: bool) -> Series:
    samples, falls, _ = zip(*row["tests"], strict=True)
    return Series(row["variant"], [count / 1e3 for count in samples], list(falls), dashed=dashed)


def draw_cubes(rows: list[Row]) -> dict[str, str]:
    """Figure 11: how long a runner lasts over the mass of the cubes, a line for each controller."""
    lines: dict[str, dict[float, float]] = {}
    for row in rows:
        if "mass_kg" in row:
            lines.setdefault(row["trained"], {})[row["mass_kg"]] = row["lasts_s"]
    if not lines:
        return {}
    marks = [Series(name, sorted(line), [line[mass] for mass in sorted(line)]) for name, line in lines.items()]
    return {"cubes": draw_axes("A cube at 5 m/s each second", "kg", "seconds until it falls", marks)}
