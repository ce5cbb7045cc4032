# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage with other gravity, friction or masses; every engine's ``changed`` compiles this."""

from dataclasses import replace

import numpy as np

from ..body import BodyModel
from ..errors import BadMotion
from ..geometry.quaternions import Array
from .engine import character_offsets
from .stage import Stage


def modify_stage(
    stage: Stage, *, gravity: Array | None = None, friction: float | None = None, link_mass: Array | None = None
) -> Stage:
    """The stage with gravity (3,) m/s², ground friction, or link masses (L,) kg over all characters replaced.

    A link's inertia changes with its mass: the same shape of another density.
    """
    if gravity is not None:
        stage = replace(stage, gravity=np.array(gravity, dtype=float))
    if friction is not None:
        stage = replace(stage, friction=float(friction))
    if link_mass is not None:
        first = character_offsets(stage)["links"]
        masses = np.asarray(link_mass, dtype=float)
        if masses.shape != (first[-1],):
            raise BadMotion(f"There are {first[-1]} links on the stage, but {masses.shape} masses")
        characters = tuple(
            replace(character, body=with_masses(character.body, masses[first[index] : first[index + 1]]))
            for index, character in enumerate(stage.characters)
        )
        stage = replace(stage, characters=characters)
    return stage


def with_masses(body: BodyModel, masses: Array) -> BodyModel:
    """The body with link masses (L,) kg; inertia changes with them."""
    links = tuple(
        replace(link, mass=float(mass), inertia=link.inertia * (mass / link.mass))
        for link, mass in zip(body.links, masses, strict=True)
    )
    return replace(body, links=links)
