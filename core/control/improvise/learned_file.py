# SPDX-License-Identifier: GPL-3.0-or-later
"""What improvises, as a file: a body, its latent model, poses to begin in, and what of the library to compare with.

With a task it is the same file with the task's policy in it, so that it plays alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...body import BodyModel
from ...body.io import body_from_arrays, body_to_arrays
from ...errors import BadFile, SinewError
from ...geometry.quaternions import Array
from ...learn.policy import Policy
from ...learn.rollout import arrays_under
from ..learned import Content, LearnedFormat, LearnedKind
from ..tasks.tasks_table import get_task
from .body_states import NUMBERS
from .falling import FallHeights
from .latent_model import LatentModel
from .variety import KnownMotion

KIND, VERSION = "sinew improviser", 2
IMPROVISER = LearnedKind(
    name="improvise",
    label="improviser",
    ending=".improvise.npz",
    folder="improvisers",
    module="core.control.improvise.learned_file",
    learn_hint="train {whose} library to improvise",
    missing="There is no improviser in '{path}'",
    missing_hint="Choose another file, or train it again",
)
_AGAIN = "Train it again"
_POLICIES = ("prior", "decoder")


@dataclass(frozen=True, eq=False)
class TaskPolicy:
    """What does a task in the latent space. name: of the task. policy: from states and what the task sees to latent
    vectors and helper offsets. sigma_rad: the helper's range σ (equation 2). settings: the task's own.
    """

    name: str
    policy: Policy
    sigma_rad: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Improviser:
    """body, model; start_qpos: (K, nq) and start_qvel: (K, nv) of the library; fall_heights: when one has fallen.
    about: how it was trained.
    """

    body: BodyModel
    model: LatentModel
    start_qpos: Array
    start_qvel: Array
    known: KnownMotion
    fall_heights: FallHeights
    about: Mapping[str, Any] = field(default_factory=dict)
    task: TaskPolicy | None = None

    def to_content(self) -> Content:
        """(arrays, meta) for a file."""
        body, body_meta = body_to_arrays(self.body)
        arrays = {f"body.{name}": array for name, array in body.items()}
        meta: dict[str, Any] = {
            "kind": KIND,
            "version": VERSION,
            "body": body_meta,
            "fallen_m": [self.fall_heights.head_m, self.fall_heights.root_m],
        }
        for name in _POLICIES:
            own, meta[name] = getattr(self.model, name).to_arrays()
            arrays |= {f"{name}.{part}": array for part, array in own.items()}
        if self.model.steadier is not None:
            own, meta["steadier"] = self.model.steadier.to_arrays()
            arrays |= {f"steadier.{part}": array for part, array in own.items()}
        arrays |= {"start_qpos": self.start_qpos.astype(np.float32), "start_qvel": self.start_qvel.astype(np.float32)}
        known = self.known
        arrays |= {"known_features": known.features, "known_style": known.style}
        meta |= {"styles": list(known.styles), "reach_m": known.reach_m, "about": dict(self.about)}
        if (task := self.task) is not None:
            own, about = task.policy.to_arrays()
            arrays |= {f"task.{part}": array for part, array in own.items()}
            meta["task"] = {
                "name": task.name,
                "policy": about,
                "sigma_rad": task.sigma_rad,
                "settings": dict(task.settings),
                "about": dict(task.about),
            }
        return arrays, meta


def improviser_from_content(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str) -> Improviser:
    """What is in a file; one that is not whole is a ``BadFile``, for it may come from anywhere."""
    if meta.get("kind") != KIND:
        raise BadFile(f"{label} is no improviser", "Choose a file that 'sinew improvise train' wrote")
    version = meta.get("version")
    if not isinstance(version, int) or version < 1:
        raise BadFile(f"{label} does not say of what version it is", _AGAIN)
    if version > VERSION:
        raise BadFile(f"{label} was written by a newer Sinew (format {version})", "Update Sinew")
    try:
        return _read(arrays, meta)
    except SinewError as error:
        raise BadFile(f"{label} is no whole improviser: {error.message}", error.hint or _AGAIN) from error
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise BadFile(f"{label} is no whole improviser: {error}", _AGAIN) from error


def _read(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Improviser:
    body = body_from_arrays(arrays_under("body.", arrays), meta["body"])
    model = LatentModel(*(Policy.from_arrays(arrays_under(f"{name}.", arrays), meta[name]) for name in _POLICIES))
    state, latent = NUMBERS * len(body.links), model.latent_size
    if (model.state_size, model.prior.action_size) != (state, 2 * latent) or latent < 1:
        raise ValueError("its prior is not that of its body")
    if (model.decoder.observation_size, model.decoder.action_size) != (state + latent, body.nu):
        raise ValueError("its decoder is not that of its body")
    if "steadier" in meta:
        steadier = Policy.from_arrays(arrays_under("steadier.", arrays), meta["steadier"])
        if (steadier.observation_size, steadier.action_size) != (state, latent):
            raise ValueError("what keeps it up is not for its body")
        model = model.with_steadier(steadier)
    qpos, qvel = _numbers(arrays["start_qpos"], (body.nq,)), _numbers(arrays["start_qvel"], (body.nv,))
    if len(qpos) != len(qvel) or not len(qpos):
        raise ValueError("its poses to begin in are not whole")
    features = _numbers(arrays["known_features"], (6 * len(body.links),)).astype(np.float32)
    style, styles = np.asarray(arrays["known_style"]), tuple(str(name) for name in meta["styles"])
    if style.shape != (len(features),) or style.dtype.kind != "i" or not styles:
        raise ValueError("its styles are not whole")
    if len(style) and not 0 <= style.min() <= style.max() < len(styles):
        raise ValueError("it has frames of a style that there is not")
    known = KnownMotion(features, style.astype(np.int64), styles, _positive(meta["reach_m"]))
    about = meta["about"]
    if not isinstance(about, Mapping):
        raise TypeError("it does not say how it was trained")
    task = _read_task(arrays, meta["task"], body, model) if "task" in meta else None
    return Improviser(body, model, qpos, qvel, known, _read_heights(meta["fallen_m"]), about, task)


def _read_task(
    arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], body: BodyModel, model: LatentModel
) -> TaskPolicy:
    policy = Policy.from_arrays(arrays_under("task.", arrays), meta["policy"])
    sigma = float(meta["sigma_rad"])
    wanted = model.latent_size + (body.nu if sigma > 0.0 else 0)
    name = str(meta["name"])
    if not 0.0 <= sigma <= np.pi or policy.action_size != wanted:
        raise ValueError("its task is for another body")
    if policy.observation_size != model.state_size + get_task(name).goal_size:
        raise ValueError(f"what it sees of '{name}' is not what this Sinew tells of it, or is of another body")
    return TaskPolicy(name, policy, sigma, dict(meta["settings"]), dict(meta["about"]))


def _numbers(array: np.ndarray, shape: tuple[int, ...]) -> Array:
    if array.shape[1:] != shape or array.dtype != np.float32 or not np.isfinite(array).all():
        raise ValueError(f"an array of {array.dtype} has the shape {array.shape}")
    return array.astype(float)


def _read_heights(values: Any) -> FallHeights:
    head, root = values
    return FallHeights(_positive(head), _positive(root))


def _positive(value: Any) -> float:
    number = float(value)
    if not (np.isfinite(number) and number > 0.0):
        raise ValueError(f"{value} is no length")
    return number


def describe_improviser(improviser: Improviser) -> tuple[str, ...]:
    """What the panel says of a file."""
    about = improviser.about
    lines = [f"Styles: {', '.join(improviser.known.styles)}"]
    if "mean_up_s" in about:
        lines.append(
            f"Trained for {about['seconds'] / 60.0:.0f} min: stays up {about['mean_up_s']:.0f} s "
            f"of {about.get('cut_s', 30.0):.0f} on noise"
        )
    if (task := improviser.task) is not None:
        lines.append(f"Task: {task.name}, learned in {task.about.get('seconds', 0.0) / 60.0:.0f} min")
    return tuple(lines)


FORMAT = LearnedFormat(improviser_from_content, describe_improviser, lambda improviser: improviser.body.skeleton)
