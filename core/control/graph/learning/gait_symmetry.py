# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric gaits: the second stride of a walk or run is the mirror image of the first (control graphs, 6.1).

Control clips, simulation tuples and policies are shared by both strides.
"""

import numpy as np

from ....body import BodyModel
from ....body.mirroring import BodyMirror
from ....geometry.quaternions import Array
from ...tracking.facing import rotate_pose_about_z
from ..model.features import Features
from ..model.fragments import Indices, Track, hold_pose_targets
from ..model.policies import Policies, mirror_policies
from ..model.structure import GraphStructure


class FragmentSymmetry:
    """The mirror of one body in the frame of its fragments, which face along +X; all but mirrored gaits stays."""

    def __init__(self, body: BodyModel, structure: GraphStructure, features: Features) -> None:
        self.structure, self._mirror_of = structure, structure.mirror_of
        if not len(self.second_strides):
            return
        self._mirror = BodyMirror(body)
        ahead = np.cross(self._mirror.normal, [0.0, 0.0, 1.0])
        self._heading = float(np.arctan2(ahead[1], ahead[0]))
        self._state = features.mirrored_state(self._mirror)
        self._action = features.mirrored_action(self._mirror)

    @property
    def second_strides(self) -> Indices:
        """The fragments that mirror others."""
        return np.flatnonzero(self._mirror_of != np.arange(len(self._mirror_of)))

    def symmetrize_track(self, track: Track) -> Track:
        """The track with both strides of gaits made symmetric, each the average of one and the other's mirror image."""
        seconds = self.second_strides
        if not len(seconds):
            return track
        firsts = self._mirror_of[seconds]
        qpos, rates, targets = (np.array(part) for part in (track.qpos, track.rates, track.targets))
        image_qpos, image_rates, image_targets = self._mirror_fragments(track, seconds)
        half = 0.5 * track.space.difference(track.qpos[firsts], image_qpos)
        qpos[firsts] = track.space.integrate(track.qpos[firsts], half)
        rates[firsts] = 0.5 * (rates[firsts] + image_rates)
        targets[firsts] = 0.5 * (targets[firsts] + image_targets)
        averaged = Track(track.body, qpos, rates, targets)
        qpos[seconds], rates[seconds], targets[seconds] = self._mirror_fragments(averaged, firsts)
        return Track(track.body, qpos, rates, targets)

    def _mirror_fragments(self, track: Track, fragments: Indices) -> tuple[Array, Array, Array]:
        """The mirror images of fragments (n,): poses, rates, targets."""
        turn = np.full((len(fragments), track.qpos.shape[1]), self._heading)
        qpos, rates = rotate_pose_about_z(turn, track.qpos[fragments], track.rates[fragments])
        qpos, rates = rotate_pose_about_z(-turn, self._mirror.pose(qpos), self._mirror.velocity(rates))
        offsets = track.targets[fragments] - hold_pose_targets(track.body, track.qpos[fragments, 1:])
        return qpos, rates, hold_pose_targets(track.body, qpos[:, 1:]) + offsets @ self._mirror.offsets.T

    def mirror_tuples(self, states: Array, actions: Array) -> tuple[Array, Array]:
        """States (n, S) and actions (n, A) of the second stride as examples for the first."""
        return states @ self._state.T, actions @ self._action.T

    def mirror_perturbations(self, gains: Array, actions: Array) -> tuple[Array, Array]:
        """Perturbations of gains (..., F, A, S) and actions (..., F, A) whose second strides mirror the first."""
        seconds = self.second_strides
        if len(seconds):
            firsts = self._mirror_of[seconds]
            gains[..., seconds, :, :] = self._action @ gains[..., firsts, :, :] @ np.linalg.inv(self._state)
            actions[..., seconds, :] = actions[..., firsts, :] @ self._action.T
        return gains, actions

    def symmetrize_policies(self, policies: Policies) -> Policies:
        """The policies with those of second strides made the mirror images of the first's."""
        seconds = self.second_strides
        if not len(seconds):
            return policies
        firsts = self._mirror_of[seconds]
        own = Policies(*(getattr(policies, name)[firsts] for name in vars(policies)))
        return policies.with_fragments(seconds, mirror_policies(own, self._state, self._action))
