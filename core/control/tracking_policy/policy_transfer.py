# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy for another body: what one has learned, seen and done through the links that have the same roles.

Joints of two bodies turn in frames of their own, which the same pose of both tells apart. First and last layer are put
through linear maps between what the two see and do; the layers between them, where the skill is, stay as they are.
"""

from collections.abc import Sequence

import numpy as np

from ...body import BodyModel
from ...body.poses import link_transforms, pose_of_clip
from ...body.role_retargeting import transfer_by_roles
from ...body.style_proposals import measure_hip_height
from ...errors import BadSettings
from ...geometry.quaternions import Array, conjugate, multiply, to_matrix
from ...learn.normaliser import Normaliser, RunningStatistics
from ...learn.policy import Policy
from ...motion import Clip
from .environment import find_acting
from .observations import StreamFeatures, TrackingState, list_observation_parts
from .reference_streams import Indices, make_streams
from .stance_mirror import find_stance_links


def transfer_policy(
    policy: Policy, source: BodyModel, target: BodyModel, clips: Sequence[Clip], *, all_joints: bool = False
) -> Policy:
    """The policy of the source's body for the target's. clips: some of the source's motion, which is shown to both.

    What only the source has is taken to be as it mostly was; joints that only the target has are left to the stream.
    """
    moved = [transfer_by_roles(source, clip, target) for clip in clips]
    links = match_links(source, target)
    joints = _map_joints(source, target, links, _find_rotations(source, clips), _find_rotations(target, moved))
    acting = [find_acting(body, all_joints) for body in (source, target)]
    offsets = joints[np.ix_(*acting)]
    layouts = [list_observation_parts(*both) for both in zip((source, target), acting, strict=True)]
    its, own = ([*streams, *states] for streams, states in layouts)
    if policy.observation_size != sum(size for _, size in its) or policy.action_size != len(acting[0]):
        raise BadSettings("The policy to begin with does not fit the body in its file", "Train that library again")
    larger = measure_hip_height(source) / measure_hip_height(target)
    seen = _join([_map_part(*parts, links, joints, offsets, larger) for parts in zip(its, own, strict=True)])
    shown = [_observe(*both) for both in zip((source, target), (clips, moved), acting, strict=True)]
    return _put_through(policy, seen, np.mean(shown[0] - shown[1] @ seen.T, axis=0), offsets.T)


def _observe(body: BodyModel, clips: Sequence[Clip], acting: Indices) -> Array:
    """(F, O) what is seen of a body that does exactly what clips do, whose contacts nobody knows."""
    feet = len(find_stance_links(body))
    streams = make_streams(body, clips, [np.zeros((len(clip), feet), dtype=bool) for clip in clips])
    arrays = (streams.qpos, streams.qvel, streams.link_pos, streams.com, streams.com_velocity)
    features, frames = StreamFeatures(streams, acting), np.arange(len(streams))
    state = TrackingState(streams, features, frames, *(values.astype(float) for values in arrays))
    return state.observations(np.zeros((len(streams), len(acting)))).astype(float)


def match_links(source: BodyModel, target: BodyModel) -> Indices:
    """(L,) for each link of the target the one of the source with its role and side, in their order; -1 for none."""
    known: dict[tuple[str, str], list[int]] = {}
    for index, link in enumerate(source.links):
        known.setdefault((link.role, link.side), []).append(index)
    found = np.full(len(target.links), -1, dtype=np.int64)
    for index, link in enumerate(target.links):
        left = known.get((link.role, link.side))
        if left:
            found[index] = left.pop(0)
    return found


def _find_rotations(body: BodyModel, clips: Sequence[Clip]) -> Array:
    """(L, 4) in the world, of the links in the first pose."""
    return link_transforms(body, pose_of_clip(body, clips[0])[0][0])[1]


def _map_joints(source: BodyModel, target: BodyModel, links: Indices, turned: Array, turned_target: Array) -> Array:
    """(nu of the source, nu of the target): joint vectors of the target, in the source's frames.

    turned, turned_target: (L, 4) rotations of the links of both in one pose, which tell how frames lie in each other.
    """
    found = np.zeros((source.nu, target.nu))
    own, its = source.qvel_starts - 6, target.qvel_starts - 6
    for there, here in enumerate(links):
        if there == 0 or here <= 0:
            continue
        turn = to_matrix(multiply(conjugate(turned[here]), turned_target[there]))
        block = _axes(source, int(here)) @ turn @ _axes(target, there).T
        found[own[here] : own[here + 1], its[there] : its[there + 1]] = block
    return found


def _axes(body: BodyModel, link: int) -> Array:
    """(dofs, 3) what a joint can turn about, in its link's frame."""
    joint = body.links[link].joint
    return joint.axis[None] if joint.kind == "hinge" else np.eye(3)


def _map_part(
    source: tuple[str, int], target: tuple[str, int], links: Indices, joints: Array, offsets: Array, larger: float
) -> Array:
    """(size of the source's, size of the target's) what one sees, from what the other sees of the same kind."""
    kind, size = source
    if kind == "joints":
        return joints
    if kind == "offsets":
        return offsets
    if not kind.startswith("links"):
        return np.eye(size, target[1]) * (larger if kind == "vector" else 1.0)
    own, its = ([int(word) for word in name.split()[1:]] for name in (kind, target[0]))
    found = np.zeros((size, target[1]))
    for there, link in enumerate(its):
        if links[link] in own:
            here = own.index(int(links[link]))
            found[3 * here : 3 * here + 3, 3 * there : 3 * there + 3] = larger * np.eye(3)
    return found


def _join(parts: Sequence[Array]) -> Array:
    """The matrix with parts along its diagonal."""
    found = np.zeros((sum(len(part) for part in parts), sum(part.shape[1] for part in parts)))
    row = column = 0
    for part in parts:
        found[row : row + len(part), column : column + part.shape[1]] = part
        row, column = row + len(part), column + part.shape[1]
    return found


def _put_through(policy: Policy, seen: Array, apart: Array, acts: Array) -> Policy:
    """The policy between linear maps.

    seen: (O, P) and apart: (O,): what it sees is ``seen @ p + apart`` of what it will see. acts: (B, A) from its
    actions to the new ones.
    """
    statistics = policy.normaliser.statistics
    square = (seen**2).sum(axis=0)
    known = square > 0.0
    mean = np.where(known, seen.T @ (statistics.mean - apart) / np.where(known, square, 1.0), 0.0)
    spread = np.where(known, (seen**2).T @ statistics.std**2 / np.where(known, square, 1.0) ** 2, 1.0)
    (weights, biases), last = policy.layers[0], policy.layers[-1]
    # Numbers that only the source has are taken to be at their mean, where normalised ones are zero.
    raw = np.where(np.abs(seen).sum(axis=1) > 0.0, weights / statistics.std, 0.0)
    first = ((raw @ seen) * np.sqrt(spread), biases + raw @ (seen @ mean + apart - statistics.mean))
    layers = [first, *policy.layers[1:-1], (acts @ last[0], acts @ last[1])]
    noise = np.sqrt(acts**2 @ policy.noise.astype(float) ** 2)
    noise = np.where(noise > 0.0, noise, float(np.median(policy.noise)))
    normaliser = Normaliser(RunningStatistics(statistics.count, mean, spread * statistics.count))
    whole = tuple((a.astype(np.float32), b.astype(np.float32)) for a, b in layers)
    return Policy(normaliser, whole, policy.activation, policy.output_scale, noise.astype(np.float32))
