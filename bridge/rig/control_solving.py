# SPDX-License-Identifier: GPL-3.0-or-later
"""Values for a rig's controls that bring its bones where a take wants them: tried, looked at and corrected.

Chains with inverse kinematics are posed as the take has them, with target and pole where the solver finds nothing left
to do. Every other control is moved by what its bone is still away, and what it carries is expected to go along.
"""

from collections.abc import Mapping

import bpy
import numpy as np
from mathutils import Matrix

from ...core.geometry.quaternions import Array
from ..scene.time_slicing import Slices
from .channels import basis_matrices
from .control_map import Control, ControlMap, IkChain, angle_of, unit_axes
from .posed_copy import PosedCopy
from .rest_bones import RestBone

_TRIES = 8
_NEAR, _TURNED_RAD = 5e-4, np.radians(0.1)  # metres and radians that need no further correction
_BETTER = 0.9


class ControlSolving:
    """Poses of a rig's controls, one frame after the other; each begins with the one before.

    wanted: bone -> (T, 4, 4) in armature space. measured: the bones that must come out right. metres: a unit of
    armature space in metres.
    """

    def __init__(
        self,
        posed: PosedCopy,
        controls: ControlMap,
        wanted: Mapping[str, Array],
        measured: tuple[str, ...],
        metres: float,
    ) -> None:
        self._posed, self._map, self._metres = posed, controls, metres
        self._wanted = {**wanted, **{other: wanted[name] for other, name in controls.stand_ins.items()}}
        self._measured = [posed.place[name] for name in measured]
        self._goal = np.stack([wanted[name] for name in measured], axis=1)
        bones = posed.resolve()[1].pose.bones
        self._rest = {name: RestBone.of(bones[name]) for name in controls.keyed}
        self._lengths = {bone.name: bone.bone.length for bone in bones}
        self._leads = {one.name: one for one in controls.controls}
        first = posed.evaluate()
        self._offsets = {chain.target: self._offset(first, chain) for chain in controls.chains}
        self._pole_far = {chain.pole: self._far(first, chain) for chain in controls.chains if chain.pole}
        own = posed.bases()
        self._bases = {name: own[name] for name in controls.keyed}

    def solve_frame(self, index: int, frame: float) -> Slices[tuple[dict[str, Array], Array, Array]]:
        """Bases (4, 4) by control at take's frame ``index``, and what bones then miss: metres and radians (M,).

        Pauses after every look: a large rig takes tens of milliseconds for one.
        """
        best: tuple[float, dict[str, Array], Array, Array] | None = None
        worse = 0
        self._posed.set_bases(self._bases)
        poses = self._posed.evaluate(frame)
        for _ in range(_TRIES):
            yield None
            far, turned = self._missed(index, poses)
            score = float(np.sum(far) / _NEAR + np.sum(turned) / _TURNED_RAD)
            worse = worse + 1 if best is not None and score > _BETTER * best[0] else 0
            if best is None or score < best[0]:
                best = score, dict(self._bases), far, turned
            if worse == 2 or (far.max() <= _NEAR and turned.max() <= _TURNED_RAD):
                break
            self._correct(index, poses)
            self._posed.set_bases(self._bases)
            poses = self._posed.evaluate()
        assert best is not None
        self._bases = best[1]
        return best[1:]

    def _missed(self, index: int, poses: Array) -> tuple[Array, Array]:
        is_now, goal = poses[self._measured], self._goal[index]
        far = np.linalg.norm(is_now[:, :3, 3] - goal[:, :3, 3], axis=-1) * self._metres
        return far, angle_of(np.swapaxes(unit_axes(goal), -1, -2) @ unit_axes(is_now))

    def _correct(self, index: int, poses: Array) -> None:
        """Move every control by what its bone misses."""
        posed, fixes, new = self._posed, {}, {}
        for one in self._map.controls:
            lead, own = _rigid(poses[posed.place[one.lead]]), _rigid(poses[posed.place[one.name]])
            turn = self._turn(one, index, poses)
            fixes[one.name] = fix = _fix(turn, _rigid(self._wanted[one.lead][index]), lead, own, one.places)
            if one.name in self._offsets:
                continue  # the chain says where it is
            frame = poses[posed.place[one.name]] @ np.linalg.inv(self._bases[one.name])
            if one.over:
                frame = fixes.get(one.over, np.eye(4)) @ frame
            new[one.name] = self._basis(one, np.linalg.inv(frame) @ fix @ own)
        for chain in self._map.chains:
            new |= self._posed_chain(chain, index, poses)
            target = self._target(chain, index, poses, fixes.get(chain.target))
            new[chain.target] = self._free_basis(chain.target, target, poses)
            if chain.pole:
                new[chain.pole] = self._free_basis(chain.pole, self._pole(chain, index, poses), poses)
        self._bases |= new

    def _turn(self, one: Control, index: int, poses: Array) -> Array:
        """(3, 3) by what a control is to be turned."""
        goal, lead = unit_axes(self._wanted[one.lead][index]), unit_axes(poses[self._posed.place[one.lead]])
        if one.roll == one.lead:
            return goal @ lead.T if one.aims else _twist(goal @ lead.T, lead[:, 1])
        swing = _swing(lead[:, 1], goal[:, 1])
        if not one.roll:
            return swing
        rolled = unit_axes(self._wanted[one.roll][index]) @ unit_axes(poses[self._posed.place[one.roll]]).T @ swing.T
        return _twist(rolled, goal[:, 1]) @ swing

    def _basis(self, one: Control, basis: Array) -> Array:
        """A basis that only turns, or turns and moves."""
        found = _rigid(basis)
        if not one.places:
            found[:3, 3] = self._bases[one.name][:3, 3]
        return found

    def _free_basis(self, name: str, pose: Array, poses: Array) -> Array:
        frame = poses[self._posed.place[name]] @ np.linalg.inv(self._bases[name])
        return _rigid(np.linalg.inv(frame) @ pose)

    def _posed_chain(self, chain: IkChain, index: int, poses: Array) -> dict[str, Array]:
        """The chain's own channels as the take has its bones."""
        found = {}
        bones: bpy.types.bpy_prop_collection | None = None
        for name in chain.bones:
            rest, own = self._rest[name], self._wanted[name][index]
            above = None
            if rest.parent:
                known = self._wanted.get(rest.parent) if rest.parent in self._measured_or_keyed() else None
                above = known[index] if known is not None else poses[self._posed.place[rest.parent]]
            if rest.is_plain(above):
                basis = basis_matrices(rest, own[None], above[None] if above is not None else None)[0]
            else:
                bones = bones or self._posed.resolve()[1].data.bones
                basis = _converted(bones[name], own, above)
            basis = _rigid(basis)
            if rest.connected:
                basis[:3, 3] = 0.0
            found[name] = basis
        return found

    def _measured_or_keyed(self) -> set[str]:
        return {*self._rest, *(one.lead for one in self._map.controls)}

    def _goal_of(self, chain: IkChain, index: int) -> Array:
        tip = self._wanted[chain.tip][index]
        return tip[:3, 3] + tip[:3, 1] * self._lengths[chain.tip] * chain.at

    def _target(self, chain: IkChain, index: int, poses: Array, fix: Array | None) -> Array:
        """Where the target must be for the chain to stay as it is."""
        own, tip = poses[self._posed.place[chain.target]], unit_axes(self._wanted[chain.tip][index])
        pose = np.eye(4)
        if fix is not None:
            pose[:3, :3] = fix[:3, :3] @ unit_axes(own)
        else:
            pose[:3, :3] = tip if chain.turns else tip @ self._offsets[chain.target]
        pose[:3, 3] = self._goal_of(chain, index) - pose[:3, 1] * self._lengths[chain.target] * chain.reach
        return pose

    def _pole(self, chain: IkChain, index: int, poses: Array) -> Array:
        """Where the pole must be: Blender turns the chain until its root's X axis, turned by the angle, looks there."""
        root, goal = self._wanted[chain.bones[0]][index], self._goal_of(chain, index)
        axes, start = unit_axes(root), root[:3, 3]
        along = (goal - start) / (np.linalg.norm(goal - start) + 1e-12)
        up = axes[:, 0] * np.cos(chain.pole_angle_rad) + axes[:, 2] * np.sin(chain.pole_angle_rad)
        up = up - along * (up @ along)
        up = up / (np.linalg.norm(up) + 1e-12)
        knee = self._wanted[chain.bones[-1]][index][:3, 3]
        pose = _rigid(poses[self._posed.place[chain.pole]])
        pose[:3, 3] = start + along * ((knee - start) @ along) + up * self._pole_far[chain.pole]
        return pose

    def _offset(self, poses: Array, chain: IkChain) -> Array:
        """(3, 3) how the target is turned against the tip to begin with."""
        place = self._posed.place
        return unit_axes(poses[place[chain.tip]]).T @ unit_axes(poses[place[chain.target]])

    def _far(self, poses: Array, chain: IkChain) -> float:
        """How far the pole is from the line between the chain's ends to begin with."""
        place = self._posed.place
        start, tip = poses[place[chain.bones[0]]][:3, 3], poses[place[chain.tip]]
        end = tip[:3, 3] + tip[:3, 1] * self._lengths[chain.tip] * chain.at
        along = (end - start) / (np.linalg.norm(end - start) + 1e-12)
        off = poses[place[chain.pole]][:3, 3] - start
        return float(max(np.linalg.norm(off - along * (off @ along)), 0.5 * self._lengths[chain.bones[0]]))


def _rigid(matrix: Array) -> Array:
    """(4, 4) the matrix without scale and shear."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = unit_axes(matrix), matrix[:3, 3]
    return found


def _fix(turn: Array, goal: Array, lead: Array, own: Array, places: bool) -> Array:
    """(4, 4) by what a control is to be turned, and moved for its bone to come to its goal; or turned in place."""
    fix = np.eye(4)
    fix[:3, :3] = turn
    fix[:3, 3] = goal[:3, 3] - turn @ lead[:3, 3] if places else own[:3, 3] - turn @ own[:3, 3]
    return fix


def _swing(start: Array, end: Array) -> Array:
    """(3, 3) the shortest turn from one unit vector to another."""
    axis, cosine = np.cross(start, end), float(start @ end)
    if cosine < -0.999999:
        return np.eye(3)  # no shortest way; the next try sees another pose
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.eye(3) + cross + cross @ cross / (1.0 + cosine)


def _twist(turn: Array, axis: Array) -> Array:
    """(3, 3) the part of a turn that is about a unit vector."""
    return _swing(turn @ axis, axis) @ turn


def _converted(bone: bpy.types.Bone, pose: Array, above: Array | None) -> Array:
    """The basis of a bone that only Blender can convert."""
    parents = {}
    if bone.parent is not None and above is not None:
        parents = {"parent_matrix": Matrix(above), "parent_matrix_local": bone.parent.matrix_local}
    return np.array(bone.convert_local_to_pose(Matrix(pose), bone.matrix_local, invert=True, **parents))
