# SPDX-License-Identifier: GPL-3.0-or-later
"""From what an animator wants of a style to the reward for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....body.build import build_body
from ....body.poses import link_transforms
from ....errors import BadFile, BoundsError
from ....geometry.quaternions import Array
from ....learn.autoencoder_cache import load_or_train_encoder
from ....motion import Clip
from ....motion.io.npz import clip_from_arrays, clip_to_arrays
from ...method import Run
from ...tracking.skeleton_matching import describe_skeleton_difference
from ..controller import Controller, controller_from_arrays
from ..course import CONTROL_FPS, Course
from ..rewards import Term
from .manner import Manner, MannerStyle, manner_of
from .pose_features import Looks, looks_of_clip
from .terms import EnergyStyle, VolumeStyle
from .training import require_same_skill

STYLES = (
    ("none", "None", "However it is done, it is as good"),
    ("more_energy", "More Energy", "Larger and faster movements"),
    ("less_energy", "Less Energy", "Smaller and calmer movements"),
    ("more_volume", "More Volume", "Limbs spread out"),
    ("less_volume", "Less Volume", "Limbs held in"),
    ("manner", "In the Manner Of", "As another Action looks"),
)
"""(value, label, help) of every style."""

VARIANTS = ("more_energy", "less_energy", "more_volume", "less_volume")
"""Those that need nothing but the motion itself."""

STYLE_CLIP, NEUTRAL = "style_clip", "neutral_controller"
"""Names of the job's attachments: the motion in whose manner it is to be done; and what a controller file holds that a
style begins from."""

_CYCLES = 3  # of the course that an encoder is shown, so that it knows how a cycle goes on


def style_attachment(clip: Clip) -> dict[str, tuple[dict[str, NDArray[Any]], dict[str, Any]]]:
    """The job's attachment for a style clip, by its name."""
    return {STYLE_CLIP: clip_to_arrays(clip)}


def style_terms(style: str, strength: float, course: Course, run: Run) -> Callable[[], tuple[Term, ...]]:
    """What makes the terms of a style for an environment; what cannot be had is refused at once."""
    if style == "none":
        return lambda: ()
    if style == "manner":
        manner = manner_of_clip(course, style_clip_of(run))
        return lambda: (MannerStyle(course, manner, strength),)
    kind, more = (EnergyStyle if style.endswith("energy") else VolumeStyle), style.startswith("more")
    kind(course, more, strength)
    return lambda: (kind(course, more, strength),)


def style_clip_of(run: Run) -> Clip:
    """The job's style clip; refused if there is none."""
    attached = run.attachment(STYLE_CLIP)
    if attached is None:
        raise BoundsError("There is no motion in whose manner it could be done", "Choose an Action for the style")
    try:
        return clip_from_arrays(*attached)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The job's style clip is incomplete: {error!r}", "Start the job again") from error


def neutral_of(run: Run, course: Course) -> Controller | None:
    """The controller that the job begins with, if it has one; refused if it learned another motion or body."""
    attached = run.attachment(NEUTRAL)
    if attached is None:
        return None
    neutral = controller_from_arrays(*attached, label="The controller to begin with")
    require_same_skill(neutral, course)
    return neutral


def manner_of_clip(course: Course, clip: Clip, folder: Path | None = None) -> Manner:
    """The manner of a clip, told by features that are trained on it and the course, and on their mirror images.

    On another skeleton it is compared by the roles of its parts, and refused where those are others.
    """
    body = course.body
    if describe_skeleton_difference(body.skeleton, clip.skeleton):
        body = build_body(clip.skeleton, clip=clip)[0]
    own, other = Looks(course.body), Looks(body)
    own.require_same(other, f"'{clip.name}'")
    looks = looks_of_clip(body, clip, CONTROL_FPS)
    if not np.isfinite(looks).all():
        raise BoundsError(f"'{clip.name}' has places that are no numbers", "Repair the Action, or choose another")
    source = course_looks(course)
    sequences = [source, own.mirrored(source), looks, own.mirrored(looks)]
    encoder = load_or_train_encoder(sequences, folder)
    if len(looks) < encoder.width:
        raise BoundsError(
            f"'{clip.name}' lasts {clip.duration_s:.2f} s, which is too short to tell its manner", "Choose a longer one"
        )
    return manner_of(encoder, looks, own.mirrored(looks) if course.even else None)


def course_looks(course: Course) -> Array:
    """(T, F) how a course looks; of a cycle some in a row."""
    looks = Looks(course.body)(*link_transforms(course.body, course.qpos))
    return np.concatenate([looks[:-1]] * _CYCLES + [looks[-1:]]) if course.cyclic else looks
