# SPDX-License-Identifier: GPL-3.0-or-later
"""Random skeletons and clips, made from a seed so that hypothesis can shrink and replay them."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings

from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.motion import Clip, Skeleton, Tag

# The same examples every time and no deadline: a test fails for what it tests, not for a busy machine.
settings.register_profile("sinew", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("sinew")


def make_skeleton(seed: int, bones: int) -> Skeleton:
    rng = np.random.default_rng(seed)
    parents = np.array([int(rng.integers(-1, bone)) if bone else -1 for bone in range(bones)])
    names = tuple(f"bone {i}" for i in range(bones))
    rest_quat = from_rotation_vector(rng.normal(size=(bones, 3)))
    return Skeleton(names, parents, rng.normal(size=(bones, 3)), rest_quat, rng.uniform(0.0, 1.0, bones))


def make_clip(seed: int, frames: int, bones: int, fps: float = 30.0, tags: tuple[Tag, ...] = ()) -> Clip:
    """Bones that turn by up to 0.5 rad a frame, from random poses."""
    rng = np.random.default_rng(seed + 1)
    quats = [from_rotation_vector(rng.normal(size=(bones, 3)))]
    for _ in range(frames - 1):
        quats.append(multiply(from_rotation_vector(rng.uniform(-0.28, 0.28, size=(bones, 3))), quats[-1]))
    return Clip(make_skeleton(seed, bones), fps, rng.normal(size=(frames, bones, 3)), np.array(quats), "random", tags)


@pytest.fixture(scope="session")
def random_skeleton() -> Callable[..., Skeleton]:
    return make_skeleton


@pytest.fixture(scope="session")
def random_clip() -> Callable[..., Clip]:
    return make_clip
