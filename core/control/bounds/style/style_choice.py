# SPDX-License-Identifier: GPL-3.0-or-later
"""The styles that an animator can choose, and the reward terms for them."""

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
from ..reference_trajectory import CONTROL_FPS, ReferenceTrajectory
from ..rewards import RewardTerm
from .energy_and_volume import EnergyReward, VolumeReward
from .gram_style import GramStyle, GramStyleReward, make_gram_style
from .pose_features import PoseFeatures, clip_pose_features
from .training import require_same_reference

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
"""Names of the job's attachments: the motion whose style is imitated; and the content of the controller file that
training begins from."""

_CYCLES = 3  # of the reference that an encoder is trained on, so that it knows the seams


def attach_style_clip(clip: Clip) -> dict[str, tuple[dict[str, NDArray[Any]], dict[str, Any]]]:
    """The job's attachment for a style clip, by its name."""
    return {STYLE_CLIP: clip_to_arrays(clip)}


def make_style_terms(
    style: str, strength: float, reference: ReferenceTrajectory, run: Run
) -> Callable[[], tuple[RewardTerm, ...]]:
    """A factory of the style's reward terms for an environment; a style that cannot be had is refused at once."""
    if style == "none":
        return lambda: ()
    if style == "manner":
        gram_style = make_clip_style(reference, read_style_clip(run))
        return lambda: (GramStyleReward(reference, gram_style, strength),)
    kind, more = (EnergyReward if style.endswith("energy") else VolumeReward), style.startswith("more")
    kind(reference, more, strength)
    return lambda: (kind(reference, more, strength),)


def read_style_clip(run: Run) -> Clip:
    """The job's style clip; refused if there is none."""
    attached = run.attachment(STYLE_CLIP)
    if attached is None:
        raise BoundsError("There is no motion in whose manner it could be done", "Choose an Action for the style")
    try:
        return clip_from_arrays(*attached)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The job's style clip is incomplete: {error!r}", "Start the job again") from error


def read_neutral_controller(run: Run, reference: ReferenceTrajectory) -> Controller | None:
    """The controller that the job begins with, if it has one; refused if it learned another motion or body."""
    attached = run.attachment(NEUTRAL)
    if attached is None:
        return None
    neutral = controller_from_arrays(*attached, label="The controller to begin with")
    require_same_reference(neutral, reference)
    return neutral


def make_clip_style(reference: ReferenceTrajectory, clip: Clip, folder: Path | None = None) -> GramStyle:
    """The style of a clip, by an encoder that is trained on it and the reference, and on their mirror images.

    A clip of another skeleton is compared by the roles of its parts, and refused where those are others.
    """
    body = reference.body
    if describe_skeleton_difference(body.skeleton, clip.skeleton):
        body = build_body(clip.skeleton, clip=clip)[0]
    pose_features, other_features = PoseFeatures(reference.body), PoseFeatures(body)
    pose_features.require_same(other_features, f"'{clip.name}'")
    features = clip_pose_features(body, clip, CONTROL_FPS)
    if not np.isfinite(features).all():
        raise BoundsError(f"'{clip.name}' has places that are no numbers", "Repair the Action, or choose another")
    source = reference_pose_features(reference)
    sequences = [source, pose_features.mirror(source), features, pose_features.mirror(features)]
    encoder = load_or_train_encoder(sequences, folder)
    if len(features) < encoder.width:
        raise BoundsError(
            f"'{clip.name}' lasts {clip.duration_s:.2f} s, which is too short to tell its manner", "Choose a longer one"
        )
    return make_gram_style(encoder, features, pose_features.mirror(features) if reference.symmetric else None)


def reference_pose_features(reference: ReferenceTrajectory) -> Array:
    """(T, F) pose features of a reference; of a cycle several in a row."""
    features = PoseFeatures(reference.body)(*link_transforms(reference.body, reference.qpos))
    return np.concatenate([features[:-1]] * _CYCLES + [features[-1:]]) if reference.cyclic else features
