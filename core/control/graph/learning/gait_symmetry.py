# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits that do left as they do right: tracks, examples and policies shared by both strides."""

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
    """The mirror of one body in the frame of its fragments, which face along +X; does nothing for other chains."""

    def __init__(self, body: BodyModel, layout: GraphStructure, features: Features) -> None:
        self.layout, self._twins = layout, layout.twins
        if not any(chain.gait for chain in layout.chains):
            return
        self._mirror = BodyMirror(body)
        ahead = np.cross(self._mirror.normal, [0.0, 0.0, 1.0])
        self._heading = float(np.arctan2(ahead[1], ahead[0]))
        self._state = features.mirrored_state(self._mirror)
        self._action = features.mirrored_action(self._mirror)

    @property
    def seconds(self) -> Indices:
        """The fragments that mirror others."""
        return np.flatnonzero(self._twins != np.arange(len(self._twins)))

    def track(self, track: Track) -> Track:
        """The track with both strides of gaits made alike, each the average of one and the other's mirror image."""
        seconds = self.seconds
        if not len(seconds):
            return track
        firsts = self._twins[seconds]
        qpos, rates, targets = (np.array(part) for part in (track.qpos, track.rates, track.targets))
        image_qpos, image_rates, image_targets = self._image(track, seconds)
        half = 0.5 * track.space.difference(track.qpos[firsts], image_qpos)
        qpos[firsts] = track.space.integrate(track.qpos[firsts], half)
        rates[firsts] = 0.5 * (rates[firsts] + image_rates)
        targets[firsts] = 0.5 * (targets[firsts] + image_targets)
        even = Track(track.body, qpos, rates, targets)
        qpos[seconds], rates[seconds], targets[seconds] = self._image(even, firsts)
        return Track(track.body, qpos, rates, targets)

    def _image(self, track: Track, fragments: Indices) -> tuple[Array, Array, Array]:
        """The mirror images of fragments (n,): poses, rates, targets."""
        turn = np.full((len(fragments), track.qpos.shape[1]), self._heading)
        qpos, rates = rotate_pose_about_z(turn, track.qpos[fragments], track.rates[fragments])
        qpos, rates = rotate_pose_about_z(-turn, self._mirror.pose(qpos), self._mirror.velocity(rates))
        aimed = track.targets[fragments] - hold_pose_targets(track.body, track.qpos[fragments, 1:])
        return qpos, rates, hold_pose_targets(track.body, qpos[:, 1:]) + aimed @ self._mirror.offsets.T

    def pooled(self, states: Array, actions: Array) -> tuple[Array, Array]:
        """States (n, S) and actions (n, A) of the second stride as examples for the first."""
        return states @ self._state.T, actions @ self._action.T

    def spread(self, gains: Array, actions: Array) -> tuple[Array, Array]:
        """Changes of gains (..., F, A, S) and actions (..., F, A) with those of second strides as the first's are."""
        seconds = self.seconds
        if len(seconds):
            firsts = self._twins[seconds]
            gains[..., seconds, :, :] = self._action @ gains[..., firsts, :, :] @ np.linalg.inv(self._state)
            actions[..., seconds, :] = actions[..., firsts, :] @ self._action.T
        return gains, actions

    def policies(self, policies: Policies) -> Policies:
        """The policies with those of second strides made the mirror images of the first's."""
        seconds = self.seconds
        if not len(seconds):
            return policies
        firsts = self._twins[seconds]
        own = Policies(*(getattr(policies, name)[firsts] for name in vars(policies)))
        return policies.with_fragments(seconds, mirror_policies(own, self._state, self._action))
