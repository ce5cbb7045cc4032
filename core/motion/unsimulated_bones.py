# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that are not simulated (fingers, face, twist, props) keep their local animation."""

from collections.abc import Collection

from ..errors import BadMotion
from ..geometry.quaternions import multiply, rotate
from .clip import Clip


def copy_unsimulated_bones(source: Clip, moved: Clip, simulated: Collection[str]) -> Clip:
    """``moved`` for the simulated bones; every other bone keeps its place to its parent as in ``source``.

    Both clips have the same bones, frame count and frame rate. A simulated bone keeps the world
    transform it has in ``moved`` even where the bones between it and the next simulated one are not simulated.
    """
    if not source.skeleton.same_bones(moved.skeleton) or len(source) != len(moved) or source.fps != moved.fps:
        raise BadMotion("The simulated motion and its source differ in bones, frames or frame rate")
    unknown = [name for name in simulated if name not in source.skeleton.names]
    if unknown:
        raise BadMotion(f"There is no bone '{unknown[0]}' to simulate")
    world_pos, world_quat = moved.world()
    for bone, parent in enumerate(source.skeleton.parents):
        if source.skeleton.names[bone] in simulated:
            continue
        own_pos, own_quat = source.local_pos[:, bone], source.local_quat_wxyz[:, bone]
        if parent >= 0:
            own_pos = world_pos[:, parent] + rotate(world_quat[:, parent], own_pos)
            own_quat = multiply(world_quat[:, parent], own_quat)
        world_pos[:, bone], world_quat[:, bone] = own_pos, own_quat
    return Clip.from_world(source.skeleton, source.fps, world_pos, world_quat, moved.name, moved.tags)
