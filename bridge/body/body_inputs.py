# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job must know to make a character's body: the choices on its armature, and the mesh it moves."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...core.body.given_body import given_from_text
from ...core.body.mesh import SkinnedMesh
from ...core.body.part_edit import PartEdit
from ...core.control.character import BODY, MESH, BodyChoices
from ...core.errors import RigError, SinewError
from ...core.files import Attachment
from ...core.motion import Skeleton
from ..rig import actions
from ..rig.rig_reader import RigMotion
from ..scene.preserved_state import preserve_scene
from ..scene.sliced_reading import DatablockRef, require_same_scene
from ..scene.time_slicing import SLICE_S, Slices, run_all_slices
from .edits import AUTO, read_edit
from .mesh_reader import MeshParts, read_mesh_parts_in_slices

Attachments = dict[str, Attachment | Callable[[], Attachment]]
"""What travels with a job, by name; what takes long and needs no Blender is still to be called, on any thread."""

_PLAIN = ("preset", "gains", "mass_kg", "use_mesh")


@dataclass(frozen=True)
class BodyRequest:
    """What is asked for on top of what the armature says; None for as the armature says.

    overrides: by bone name a role, 'ride' or 'merge'; edits: by bone name what its part is like. The armature's own
        hold for the other bones. given: the text of a body that is taken over rather than fitted, '' for none.
    """

    preset: str | None = None
    gains: str | None = None
    mass_kg: float | None = None
    use_mesh: bool | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    edits: Mapping[str, PartEdit] = field(default_factory=dict)
    given: str = ""

    def checked(self) -> BodyChoices:
        """The choices themselves; names and numbers that are wrong for any armature are refused."""
        named = {"preset": self.preset, "gains": self.gains, "mass_kg": self.mass_kg}
        said = {name: value for name, value in named.items() if value is not None}
        return BodyChoices(
            **said, overrides=self.overrides, edits=self.edits, given=given_from_text(self.given)
        )  # fmt: skip


def read_body_request(obj: bpy.types.Object) -> BodyRequest:
    """What the armature itself says, checked by nobody yet; cheap enough for ``draw``."""
    own = getattr(obj, "sinew_body", None)
    if own is None:  # Sinew's properties are not registered
        return BodyRequest()
    # Bones without a name are lines of the list that were not filled in yet.
    overrides = {item.name: item.role for item in own.overrides if item.name and item.role != AUTO}
    edits = {item.name: edit for item in own.overrides if item.name and (edit := read_edit(item)).says}
    mass_kg = float(str(np.float32(own.mass_kg))) or None  # without what single precision adds to it
    return BodyRequest(own.preset, own.gains, mass_kg, own.use_mesh, overrides, edits, own.given)


def join_requests(own: BodyRequest, asked: BodyRequest) -> BodyRequest:
    """What is asked for, and what the armature says where nothing is."""
    said = {name: value for name in _PLAIN if (value := getattr(asked, name)) is not None}
    overrides, edits = {**own.overrides, **asked.overrides}, {**own.edits, **asked.edits}
    return replace(own, **said, overrides=overrides, edits=edits, given=asked.given or own.given)


def read_body_attachments(
    obj: bpy.types.Object,
    rig: RigMotion,
    asked: BodyRequest | None = None,
    action: bpy.types.Action | None = None,
) -> dict[str, Attachment]:
    """What travels with the job for ``core.control.character.build_job_body``; refuses what no body could be made of.

    action: what ``rig`` was read from, None for whatever moves the armature now.
    """
    return resolve_attachments(
        run_all_slices(read_body_attachments_in_slices(obj, rig, asked, action, slice_s=float("inf")))
    )


def resolve_attachments(attachments: Attachments) -> dict[str, Attachment]:
    """The attachments with nothing left to do."""
    return {name: given() if callable(given) else given for name, given in attachments.items()}


def read_body_attachments_in_slices(
    obj: bpy.types.Object,
    rig: RigMotion,
    asked: BodyRequest | None = None,
    action: bpy.types.Action | None = None,
    *,
    slice_s: float = SLICE_S,
) -> Slices[Attachments]:
    """The same, read in slices."""
    wanted = join_requests(read_body_request(obj), asked or BodyRequest())
    choices = wanted.checked()
    choices.require_bones(rig.clip.skeleton)
    found: Attachments = {BODY: ({}, choices.to_mapping())}
    if wanted.use_mesh is not False and choices.given is None:
        mesh = yield from read_worn_mesh_in_slices(obj, rig, action, slice_s=slice_s)
        if mesh is not None:
            found[MESH] = mesh.attachment
    return found


@dataclass(frozen=True, eq=False)
class WornMesh:
    """The mesh at rest, standing as the rest skeleton does, as far as only Blender's own thread can read it."""

    parts: MeshParts
    skeleton: Skeleton

    def skinned(self) -> SkinnedMesh:
        """The rest of the work, for any thread; an error says how to do without a mesh."""
        with _says_how_to_do_without():
            mesh = self.parts.skinned()
            mesh.require_fits(self.skeleton)
        return mesh

    def attachment(self) -> Attachment:
        """As it travels with a job."""
        mesh = self.skinned()
        return {"vertices": mesh.vertices, "weights": mesh.weights, "areas": mesh.areas}, {}


def read_worn_mesh_in_slices(
    obj: bpy.types.Object, rig: RigMotion, action: bpy.types.Action | None, *, slice_s: float = SLICE_S
) -> Slices[WornMesh | None]:
    """What the armature moves, read in slices; None without a mesh, and an error says how to do without one."""
    scene_uid, skeleton = bpy.context.scene.session_uid, rig.clip.skeleton
    armature, source = DatablockRef("objects", obj), DatablockRef("actions", action)

    @contextmanager
    def as_it_begins() -> Iterator[None]:
        """The skeleton stands as the object does when the motion begins."""
        scene = require_same_scene(scene_uid)
        with actions.play_temporarily(armature.resolve(), source.resolve()), preserve_scene(scene):
            scene.frame_set(rig.frame_start)
            yield

    with _says_how_to_do_without():
        parts = yield from read_mesh_parts_in_slices(
            obj, skeleton, rig.metres_per_unit, shown=as_it_begins, slice_s=slice_s
        )
    return WornMesh(parts, skeleton) if parts is not None else None


@contextmanager
def _says_how_to_do_without() -> Iterator[None]:
    try:
        yield
    except SinewError as error:
        instead = "or switch Fit to Mesh off (--no-mesh)"
        hint = f"{error.hint}, {instead}" if error.hint else f"Mend it, {instead}"
        raise RigError(error.message, hint) from error
