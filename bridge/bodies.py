# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job must know to make a character's body: the choices on its armature, and the mesh it moves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ..core.control.character import BODY, MESH, BodyChoices
from ..core.errors import RigError, SinewError
from .mesh_reader import read_mesh
from .rig_reader import RigMotion

Attachment = tuple[dict[str, np.ndarray], dict[str, Any]]


@dataclass(frozen=True)
class BodyRequest:
    """What is asked for on top of what the armature says; None for as the armature says.

    overrides: by bone name a role, 'ride' or 'merge'; the armature's own hold for the other bones.
    """

    preset: str | None = None
    gains: str | None = None
    mass_kg: float | None = None
    use_mesh: bool | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)

    def require_possible(self) -> None:
        """Refuse names and numbers that are wrong for any armature."""
        named = {"preset": self.preset, "gains": self.gains, "mass_kg": self.mass_kg}
        BodyChoices(**{name: value for name, value in named.items() if value is not None}, overrides=self.overrides)


def choices_of(obj: bpy.types.Object, asked: BodyRequest | None = None) -> BodyChoices:
    """The body that the armature is to have."""
    own, asked = obj.sinew_body, asked or BodyRequest()
    # Bones without a name are lines of the list that were not filled in yet.
    overrides = {item.name: item.role for item in own.overrides if item.name} | dict(asked.overrides)
    mass_kg = asked.mass_kg if asked.mass_kg is not None else float(str(np.float32(own.mass_kg))) or None
    return BodyChoices(asked.preset or own.preset, asked.gains or own.gains, mass_kg, overrides)


def attachments_of(obj: bpy.types.Object, rig: RigMotion, asked: BodyRequest | None = None) -> dict[str, Attachment]:
    """What travels with the job for ``core.control.character.body_of``; refuses what no body could be made of."""
    choices = choices_of(obj, asked)
    choices.require_bones(rig.clip.skeleton)
    found: dict[str, Attachment] = {BODY: ({}, choices.to_mapping())}
    wanted = asked.use_mesh if asked is not None else None
    if obj.sinew_body.use_mesh if wanted is None else wanted:
        try:
            mesh = read_mesh(obj, rig.clip.skeleton, rig.metres_per_unit)
            if mesh is not None:
                mesh.require_fits(rig.clip.skeleton)
        except SinewError as error:
            instead = "or switch Fit to Mesh off (--no-mesh)"
            hint = f"{error.hint}, {instead}" if error.hint else f"Mend it, {instead}"
            raise RigError(error.message, hint) from error
        if mesh is not None:
            arrays = {"vertices": mesh.vertices, "weights": mesh.weights, "areas": mesh.areas}
            found[MESH] = (arrays, {})
    return found
