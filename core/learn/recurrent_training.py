# SPDX-License-Identifier: GPL-3.0-or-later
"""Training a recurrent network to go on with motion as it was shown (Lee et al. 2021, section 6.2).

Truncated backpropagation through time: windows of 48 frames, in which the network goes on from what it put out itself,
as it will when it plays; memory is carried from window to window.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import BadFile
from .networks import Tensor, WeightRow, orthogonal_matrix
from .randomness import generator_state, restore_generator
from .recurrent import RecurrentNetwork, layer_shapes
from .recurrent_data import WINDOW, MotionColumns, RecurrentSettings, ShownMotion

_ENCODER, _DECODER = 2, 2
_NORM = 1.0


class RecurrentTraining:
    """A network that learns from shown motion; ``state`` is everything that decides how it goes on."""

    def __init__(self, shown: ShownMotion, columns: MotionColumns, settings: RecurrentSettings, seed: int) -> None:
        self.settings, self.columns = settings, columns
        self._shown, self._rng = shown, np.random.default_rng(seed)
        size, controls = shown.states.shape[1], shown.controls.shape[1]
        shapes = layer_shapes(size + controls, size, settings.units, settings.layers)
        self.row = WeightRow([part for shape in shapes for part in (shape, shape[1:])])
        self._layers = list(zip(self.row.parts[::2], self.row.parts[1::2], strict=True))
        for number, (weights, biases) in enumerate(self._layers):
            gain = 0.1 if number == len(self._layers) - 1 else 1.0
            weights.data.copy_(torch.from_numpy(orthogonal_matrix(self._rng, tuple(weights.shape), gain)))
            if _ENCODER <= number < len(self._layers) - _DECODER:
                biases.data[settings.units : 2 * settings.units] = 1.0  # what is held is not forgotten at first
        self.updates = 0
        self._states, self._controls = torch.from_numpy(shown.states), torch.from_numpy(shown.controls)
        self._place = self._draw(settings.streams)
        self._memory = torch.zeros(settings.layers, 2, settings.streams, settings.units)
        self._now = self._states[torch.from_numpy(self._place)].clone()

    @property
    def samples(self) -> int:
        """Frames that were gone through."""
        return self.updates * WINDOW * self.settings.streams

    def advance(self) -> dict[str, float]:
        """One window for all streams; gives the losses."""
        rate = self.settings.rate * max(0.05, 0.5 + 0.5 * np.cos(np.pi * min(self.updates / self.settings.updates, 1)))
        self._begin_anew()
        torch.set_num_threads(1)
        made, wanted = self._unroll()
        losses = self._losses(made, wanted)
        total = sum(losses.values())
        self.row.adam_step(total, rate, _NORM)
        self.updates += 1
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def network(self) -> RecurrentNetwork:
        """What was learned."""
        layers = tuple(tuple(part.detach().numpy().copy() for part in layer) for layer in self._layers)
        return RecurrentNetwork(layers[:_ENCODER], layers[_ENCODER:-_DECODER], layers[-_DECODER:])

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how it goes on."""
        own = {"updates": np.array([self.updates]), "place": self._place.copy(), "rng": generator_state(self._rng)}
        return self.row.state() | own | {"memory": self._memory.numpy().copy(), "now": self._now.numpy().copy()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``, and change nothing."""
        try:
            place, memory, now = (np.asarray(arrays[name]) for name in ("place", "memory", "now"))
            whole = place.shape == self._place.shape and memory.shape == tuple(self._memory.shape)
            if not whole or now.shape != tuple(self._now.shape) or (place >= len(self._states) - WINDOW).any():
                raise ValueError("it is of other data or of another size")
            self.row.restore(dict(arrays))
            restore_generator(self._rng, arrays["rng"])
            self.updates = int(arrays["updates"].item())
        except (KeyError, ValueError) as error:
            raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error
        self._place = place.astype(np.int64)
        self._memory, self._now = torch.from_numpy(memory.copy()), torch.from_numpy(now.copy())

    def _draw(self, count: int) -> NDArray[np.int64]:
        """Frames to begin at: any after which a sequence goes on for a window."""
        starts = self._shown.starts
        ends = np.repeat(starts[1:], np.diff(starts))
        usable = np.flatnonzero(np.arange(len(ends)) + WINDOW < ends)
        return self._rng.choice(usable, size=count)

    def _begin_anew(self) -> None:
        """Some streams begin elsewhere: by chance, and where their sequence ends."""
        starts = self._shown.starts
        end = starts[np.searchsorted(starts, self._place, side="right")]
        anew = (self._rng.random(len(self._place)) < self.settings.again) | (self._place + WINDOW >= end)
        self._place[anew] = self._draw(int(anew.sum()))
        chosen = torch.from_numpy(np.flatnonzero(anew))
        own = self._states[torch.from_numpy(self._place[anew])]
        noise = torch.from_numpy(self._rng.standard_normal(tuple(own.shape)).astype(np.float32))
        self._now[chosen] = own + self.settings.noise * noise
        self._memory[:, :, chosen] = 0.0

    def _unroll(self) -> tuple[Tensor, Tensor]:
        """(W + 1, B, S) what the network puts out, the first being where it begins, and what was shown."""
        index = torch.from_numpy(self._place[None] + np.arange(WINDOW + 1)[:, None])
        wanted, controls = self._states[index], self._controls[index]
        now, memory, made = self._now, list(self._memory), [self._now]
        for frame in range(1, WINDOW + 1):
            now, memory = self._step(now, controls[frame], memory)
            made.append(now)
        self._place = self._place + WINDOW
        self._now = now.detach().clone()
        self._memory = torch.stack([torch.stack(tuple(part)) for part in memory]).detach()
        return torch.stack(made), wanted

    def _step(self, now: Tensor, control: Tensor, memory: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        hidden, units = torch.cat([now, control], dim=1), self.settings.units
        for weights, biases in self._layers[:_ENCODER]:
            hidden = torch.tanh(torch.addmm(biases, hidden, weights))
        after = []
        for (weights, biases), part in zip(self._layers[_ENCODER:-_DECODER], memory, strict=True):
            put_out, cell = part[0], part[1]
            sums = torch.addmm(biases, torch.cat([hidden, put_out], dim=1), weights)
            gates = torch.sigmoid(sums[:, : 3 * units])
            cell = gates[:, units : 2 * units] * cell + gates[:, :units] * torch.tanh(sums[:, 3 * units :])
            hidden = gates[:, 2 * units :] * torch.tanh(cell)
            after.append(torch.stack([hidden, cell]))
        for weights, biases in self._layers[-_DECODER:-1]:
            hidden = torch.tanh(torch.addmm(biases, hidden, weights))
        return now + torch.addmm(self._layers[-1][1], hidden, self._layers[-1][0]), after

    def _losses(self, made: Tensor, wanted: Tensor) -> dict[str, Tensor]:
        """Equations 14 to 16, as means over frames and streams."""
        columns, weights = self.columns, torch.from_numpy(self._shown.weights)
        motion = ((made - wanted)[1:].square() * weights).mean()
        raw = made * torch.from_numpy(columns.scale) + torch.from_numpy(columns.mean)
        first = columns.joints
        joints = raw[..., first : first + 3 * columns.joint_count].unflatten(-1, (columns.joint_count, 3))
        links = torch.from_numpy(columns.links)
        length = (joints[..., links[:, 0], :] - joints[..., links[:, 1], :]).square().sum(-1).clamp_min(1e-8).sqrt()
        rigid = (length - torch.from_numpy(columns.lengths)).square().mean()
        return {
            "motion": motion,
            "contact": self.settings.contact * self._slide(raw, joints),
            "rigid": self.settings.rigid * rigid,
        }

    def _slide(self, raw: Tensor, joints: Tensor) -> Tensor:
        """Mean squared metres that feet in contact move from a frame to the next (equation 15)."""
        columns = self.columns
        if not columns.feet:
            return torch.zeros(())
        feet = joints[..., list(columns.feet), :]
        step = raw[1:, :, columns.step : columns.step + 3]
        cos, sin = torch.cos(step[..., 2:]), torch.sin(step[..., 2:])
        x = cos * feet[1:, ..., 0] - sin * feet[1:, ..., 1] + step[..., :1]
        y = sin * feet[1:, ..., 0] + cos * feet[1:, ..., 1] + step[..., 1:2]
        contact = raw[..., columns.contacts : columns.contacts + len(columns.feet)].clamp(0.0, 1.0)
        away = (x - feet[:-1, ..., 0]).square() + (y - feet[:-1, ..., 1]).square()
        away = away + (feet[1:, ..., 2] - feet[:-1, ..., 2]).square()
        return (contact[1:] * contact[:-1] * away).mean()
