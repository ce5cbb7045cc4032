# SPDX-License-Identifier: GPL-3.0-or-later
"""The body that a job was asked to simulate: what is chosen for it, and how a method gets it from its run."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ..body import BodyModel
from ..body.build import build_body
from ..body.given_body import build_given_body, given_from_mapping
from ..body.mesh import SkinnedMesh
from ..body.part_edit import PartEdit
from ..body.presets import body_preset, gain_preset
from ..body.report import BodyReport, BoneChoice
from ..body.roles import ARM_ROLES, LEG_ROLES, MIDDLE_ROLES
from ..errors import BadSettings, EngineMissing, RigError
from ..limits import HEAVIEST_KG
from ..motion import Clip, Skeleton
from .cast import CastMember, attachment_name
from .method import Run

BODY, MESH = "body", "mesh"
"""Names of the job's attachments."""

_SIDES = (("L", "Left"), ("R", "Right"))
# What the roles of arms are on four legs.
_ON_FOUR_LEGS = {
    "clavicle": "Shoulder Blade",
    "upper_arm": "Front Thigh",
    "forearm": "Front Shin",
    "hand": "Front Foot",
}
_MOST_NOTES = 3  # in one finding; the report has them all


def override_choices() -> tuple[tuple[str, str, str], ...]:
    """(value, label, help) of everything that a bone can be told to be."""
    found = [
        ("ride", "Ride", "No part of the body: keeps its own animation on top of it"),
        ("merge", "Merge", "No joint of its own: moves rigidly with the bone above it"),
    ]
    for role in MIDDLE_ROLES:
        found.append((role, _label(role), f"The bone is the body's {_label(role).lower()}, or a part of it"))
    for side, word in _SIDES:
        for role in (*ARM_ROLES, *LEG_ROLES):
            label, front = f"{word} {_label(role)}", _ON_FOUR_LEGS.get(role)
            also = f"; of an animal on four legs, its {word.lower()} {front.lower()}" if front else ""
            shown = f"{label} ({front})" if front else label
            found.append((f"{role}.{side}", shown, f"The bone is the body's {label.lower()}{also}"))
    return tuple(found)


def _label(role: str) -> str:
    return role.replace("_", " ").title()


@dataclass(frozen=True)
class BodyChoices:
    """What somebody wants the body to be; travels in the job's ``inputs/body.npz``.

    preset, gains: names of presets. mass_kg: None for the mesh's or the preset's.
    overrides: by bone name a role ('thigh.L', 'spine'), 'ride' or 'merge'.
    edits: by bone name the shape, mass, limits and stiffness of its part, where they are not to be as fitted.
    given: a body that is not fitted but taken over, as ``core.body.given_body`` writes it; None for a fitted one.
    """

    preset: str = "adult"
    gains: str = "athlete"
    mass_kg: float | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    edits: Mapping[str, PartEdit] = field(default_factory=dict)
    given: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        body_preset(self.preset)
        gain_preset(self.gains)
        if self.mass_kg is not None and not 0.0 < self.mass_kg <= HEAVIEST_KG:
            raise BadSettings(
                f"The body's mass is {self.mass_kg:g} kg", "Give kilograms above zero, such as 70, or leave it out"
            )
        known = [value for value, _, _ in override_choices()]
        for bone, role in self.overrides.items():
            if role not in known:
                raise BadSettings(f"'{role}' is no role for bone '{bone}'", f"Choose one of: {', '.join(known)}")

    def require_bones(self, skeleton: Skeleton) -> None:
        """Refuse what is said of a bone that is not there."""
        for bone in self.overrides:
            if bone not in skeleton.names:
                raise RigError(
                    f"There is no bone '{bone}', which was to be '{self.overrides[bone]}'", _instead(bone, skeleton)
                )
        for bone, edit in self.edits.items():
            if bone not in skeleton.names:
                words = ", ".join(edit.says) or "nothing"
                raise RigError(f"There is no bone '{bone}', which has {words} by hand", _instead(bone, skeleton))

    def to_mapping(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        plain: dict[str, Any] = {
            "preset": self.preset,
            "gains": self.gains,
            "mass_kg": self.mass_kg,
            "overrides": dict(self.overrides),
        }
        edits = {bone: edit.to_mapping() for bone, edit in self.edits.items() if edit.says}
        plain |= {"edits": edits} if edits else {}
        return {**plain, "given": self.given} if self.given is not None else plain

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of ``to_mapping``."""
        edits = {bone: PartEdit.from_mapping(edit) for bone, edit in values.get("edits", {}).items()}
        overrides, given = dict(values["overrides"]), values.get("given")
        return cls(values["preset"], values["gains"], values["mass_kg"], overrides, edits, given)

    def build_given(self, skeleton: Skeleton) -> tuple[BodyModel, BodyReport]:
        """The given body on a skeleton's bones, with its servos."""
        assert self.given is not None
        return build_given_body(
            skeleton,
            given_from_mapping(self.given),
            gains=self.gains,
            overrides=self.overrides,
            mass_kg=self.mass_kg,
            edits=self.edits,
        )


def _instead(bone: str, skeleton: Skeleton) -> str:
    """A hint with the names that look most like it."""
    lower = {name.lower(): name for name in skeleton.names}
    close = [lower[name] for name in difflib.get_close_matches(bone.lower(), lower, n=3)]
    if close:
        return f"Did you mean {' or '.join(repr(name) for name in close)}?"
    shown = ", ".join(skeleton.names[:12])
    return f"The bones are: {shown}{', …' if len(skeleton) > 12 else ''}"


def build_chosen_body(
    skeleton: Skeleton, clip: Clip | None, mesh: SkinnedMesh | None, choices: BodyChoices, *, without_mesh: str
) -> tuple[BodyModel, BodyReport]:
    """The body that somebody chose. without_mesh: what a user can do where packages for meshes are missing."""
    if choices.given is not None:
        return choices.build_given(skeleton)
    try:
        return build_body(
            skeleton,
            clip=clip,
            mesh=mesh,
            overrides=choices.overrides,
            preset=choices.preset,
            gains=choices.gains,
            mass_kg=choices.mass_kg,
            edits=choices.edits,
        )
    except ImportError as error:
        raise EngineMissing(
            f"The worker's Python has no '{error.name}', which fits the body to the mesh",
            f"Install it there (pip install {error.name}), or {without_mesh}",
        ) from error


def build_job_body(clip: Clip, run: Run, member: CastMember | None = None) -> tuple[BodyModel, BodyReport]:
    """The body for the clip as the job wants it, from what is attached to it; every choice goes into the report.

    member: whose body it is, of ``load_cast``; None for the main character's.
    """
    number = member.number if member else 0
    attached = run.attachment(attachment_name(BODY, number))
    choices = BodyChoices.from_mapping(attached[1]) if attached else BodyChoices()
    choices.require_bones(clip.skeleton)
    mesh = _mesh(run, number)
    body, report = build_chosen_body(
        clip.skeleton, clip, mesh, choices, without_mesh="simulate without the mesh (--no-mesh)"
    )
    run.add_detail(attachment_name(BODY, number), report.to_mapping())
    _tell(choices, report, run, f"'{member.name}': " if member else "")
    return body, report


def build_plain_body(clip: Clip, choices: BodyChoices) -> BodyModel:
    """The body as far as its bones matter: which links it has. A mesh would only give them other shapes."""
    if choices.given is not None:
        return choices.build_given(clip.skeleton)[0]
    return build_body(clip.skeleton, clip=clip, overrides=choices.overrides, preset=choices.preset)[0]


def _mesh(run: Run, number: int) -> SkinnedMesh | None:
    attached = run.attachment(attachment_name(MESH, number))
    return SkinnedMesh(**attached[0]) if attached else None


def _tell(choices: BodyChoices, report: BodyReport, run: Run, whose: str) -> None:
    """Say what an animator should know: overrides that came to nothing, and what looks wrong with the body."""
    for bone, wanted in choices.overrides.items():
        became = _became(report.choice(bone))
        if became != wanted and choices.given is None:
            run.add_finding(
                "body",
                f"{whose}Bone '{bone}' was to be '{wanted}' and became '{became}'",
                "Look at the bones above and below it: a limb is one chain, from the trunk outwards",
            )
    for bone, edit in choices.edits.items():
        choice = report.choice(bone)
        if edit.says and choice.use != "link":
            holder = f"moves with '{choice.link}'" if choice.use == "merge" else "is no part of the body"
            run.add_finding(
                "body",
                f"{whose}Bone '{bone}' has {', '.join(edit.says)} by hand, but {holder}",
                f"Edit '{choice.link}' instead" if choice.use == "merge" else "Give it a role, or reset it",
            )
    if report.notes:
        more = len(report.notes) - _MOST_NOTES
        rest = f"; and {more} more in the report" if more > 0 else ""
        message = f"{whose}{'; '.join(report.notes[:_MOST_NOTES])}{rest}"
        run.add_finding(
            "body", message, "If that is wrong, give a bone another role: in the Body panel, or --bone NAME=ROLE"
        )


def _became(choice: BoneChoice) -> str:
    """What became of a bone in the words of an override."""
    if not choice.role:
        return choice.use
    if choice.role == "chest":  # the uppermost of the spine
        return "spine"
    return f"{choice.role}.{choice.side}" if choice.side else choice.role
