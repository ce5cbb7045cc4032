# SPDX-License-Identifier: GPL-3.0-or-later
"""Training a recurrent network to go on with motion as it was shown (Lee et al. 2021, section 6.2).

Truncated backpropagation through time: windows of 48 frames, in which the network goes on from what it put out itself,
as it will when it plays; memory is carried from window to window. At first it goes on from what was shown in every
second frame, and less and less often later (scheduled sampling, Bengio et al. 2015): one that is on its own from the
beginning, and has drifted off what was shown, learns the mean of all there is.
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
from .recurrent_approach import Approach
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
            gain = 0.01 if number == len(self._layers) - 1 else 1.0
            weights.data.copy_(torch.from_numpy(orthogonal_matrix(self._rng, tuple(weights.shape), gain)))
            if _ENCODER <= number < len(self._layers) - _DECODER:
                biases.data[settings.units : 2 * settings.units] = 1.0  # what is held is not forgotten at first
        self.updates = 0
        self._states, self._controls = torch.from_numpy(shown.states), torch.from_numpy(shown.controls)
        self._approach = Approach(shown, columns)
        self._place = self._draw(settings.streams)
        self._memory = torch.zeros(settings.layers, 2, settings.streams, settings.units)
        self._now = self._states[torch.from_numpy(self._place)].clone()
        self._away = torch.zeros(settings.streams, 3)

    @property
    def samples(self) -> int:
        """Frames that were gone through."""
        return self.updates * WINDOW * self.settings.streams

    def advance(self) -> dict[str, float]:
        """One window for all streams; gives the losses."""
        rate = self.settings.rate * max(0.05, 0.5 + 0.5 * np.cos(np.pi * min(self.updates / self.settings.updates, 1)))
        self._begin_anew()
        torch.set_num_threads(1)
        made, wanted, away = self._unroll()
        losses = self._losses(made, wanted, away)
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
        kept = {"memory": self._memory, "now": self._now, "away": self._away}
        return self.row.state() | own | {name: part.numpy().copy() for name, part in kept.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``, and change nothing."""
        try:
            place, memory, now, away = (np.asarray(arrays[name]) for name in ("place", "memory", "now", "away"))
            whole = place.shape == self._place.shape and memory.shape == tuple(self._memory.shape)
            whole = whole and away.shape == tuple(self._away.shape)
            if not whole or now.shape != tuple(self._now.shape) or (place >= len(self._states)).any():
                raise ValueError("it is of other data or of another size")
            self.row.restore(dict(arrays))
            restore_generator(self._rng, arrays["rng"])
            self.updates = int(arrays["updates"].item())
        except (KeyError, ValueError) as error:
            raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error
        self._place = place.astype(np.int64)
        self._memory, self._now, self._away = (torch.from_numpy(part.copy()) for part in (memory, now, away))

    def _draw(self, count: int) -> NDArray[np.int64]:
        """Frames to begin at: any that a sequence goes on after for a window; half are where something is asked."""
        starts = self._shown.starts
        ends = np.repeat(starts[1:], np.diff(starts))
        usable = np.flatnonzero(np.arange(len(ends)) + WINDOW < ends)
        drawn = self._rng.choice(usable, size=count)
        asked = np.intersect1d(self._shown.begins, usable)
        if len(asked):
            drawn = np.where(self._rng.random(count) < 0.5, self._rng.choice(asked, size=count), drawn)
        return drawn

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
        self._away[chosen] = 0.0

    def _draw_shown(self) -> tuple[NDArray[np.bool_], Tensor]:
        """(W, B) where streams go on from what was shown, and by how much that is off (B, S)."""
        own, streams = self.settings, self.settings.streams
        progress = min(self.updates / max(own.settled * own.updates, 1.0), 1.0)
        chance = own.shown_first + (own.shown_last - own.shown_first) * progress
        noise = self._rng.standard_normal((streams, self._states.shape[1])).astype(np.float32)
        return self._rng.random((WINDOW, streams)) < chance, torch.from_numpy(own.noise * noise)

    def _unroll(self) -> tuple[Tensor, Tensor, Tensor]:
        """(W + 1, B, S) what the network puts out, the first being where it begins, and what was shown.

        And (W, B, 3) where its root is, as seen from the one that was shown: metres and radians.
        """
        index = torch.from_numpy(self._place[None] + np.arange(WINDOW + 1)[:, None])
        put_back, noise = self._draw_shown()
        wanted, controls = self._states[index], self._controls[index]
        now, memory, made = self._now, list(self._memory), [self._now]
        away, aways = self._away, []
        for frame in range(1, WINDOW + 1):
            if put_back[frame - 1].any():
                own = torch.from_numpy(put_back[frame - 1])
                now = torch.where(own[:, None], wanted[frame - 1] + noise, now)
                away = torch.where(own[:, None], 0.0, away)
            control = self._approach.see_from(away, controls[frame])
            put_out, memory = self._step(now, control, memory)
            now = self._approach.go(now, now + put_out, control, index[frame])
            away = self._approach.move(away, now, wanted[frame])
            made.append(now)
            aways.append(away)
        self._place = self._place + WINDOW
        self._now, self._away = now.detach().clone(), away.detach().clone()
        self._memory = torch.stack([torch.stack(tuple(part)) for part in memory]).detach()
        return torch.stack(made), wanted, torch.stack(aways)

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
        return torch.addmm(self._layers[-1][1], hidden, self._layers[-1][0]), after

    def _losses(self, made: Tensor, wanted: Tensor, away: Tensor) -> dict[str, Tensor]:
        """Equations 14 to 16, as means over frames and streams, and how far the root has drifted off."""
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
            "drift": self.settings.drift * away.square().sum(-1).clamp_max(4.0).mean(),
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
