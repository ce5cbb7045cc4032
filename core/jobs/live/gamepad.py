# SPDX-License-Identifier: GPL-3.0-or-later
"""A gamepad, where there is one: read by the worker through SDL, if its Python has PySDL2 (``pysdl2``, ``pysdl2-dll``).

Nothing else needs it, and it is not brought along.
"""

import contextlib
import importlib
from dataclasses import dataclass
from typing import Any

_MOST, _DEAD = 32767.0, 0.2  # an axis' end, and what is no more than a stick at rest
_PRESSED = 0.5  # of a trigger's way
_BUTTONS = {"push": "A", "limp": "B", "reset": "Y"}
_AWAY_FROM_WINDOW = b"SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS"


@dataclass(frozen=True)
class GamepadState:
    """right, away: of the left stick, -1 to 1, at most one long. fast: whether a trigger is held.

    pressed: what was asked for since the last look: 'push', 'limp' or 'reset'.
    """

    right: float = 0.0
    away: float = 0.0
    fast: bool = False
    pressed: frozenset[str] = frozenset()


class Gamepad:
    """One that SDL knows. name: what it calls itself."""

    def __init__(self, sdl: Any, handle: Any, name: str) -> None:
        self._sdl, self._handle, self.name = sdl, handle, name
        self._held: frozenset[str] = frozenset()

    def read(self) -> GamepadState:
        """How it is held now."""
        sdl, pad = self._sdl, self._handle
        sdl.SDL_GameControllerUpdate()
        right = self._axis("LEFTX")
        away = -self._axis("LEFTY")  # up is away
        length = float(max((right**2 + away**2) ** 0.5, 1.0))
        if right**2 + away**2 < _DEAD**2:
            right = away = 0.0
        held = frozenset(
            name
            for name, button in _BUTTONS.items()
            if sdl.SDL_GameControllerGetButton(pad, getattr(sdl, f"SDL_CONTROLLER_BUTTON_{button}"))
        )
        fresh, self._held = held - self._held, held
        return GamepadState(right / length, away / length, self._axis("TRIGGERRIGHT") > _PRESSED, fresh)

    def _axis(self, name: str) -> float:
        axis = getattr(self._sdl, f"SDL_CONTROLLER_AXIS_{name}")
        return float(self._sdl.SDL_GameControllerGetAxis(self._handle, axis)) / _MOST


def open_gamepad(sdl: Any = None) -> Gamepad | None:
    """The first one; None where there is none, or no SDL."""
    if sdl is None:
        with contextlib.suppress(Exception):  # whatever keeps an optional library from being loaded
            sdl = importlib.import_module("sdl2")
    if sdl is None:
        return None
    sdl.SDL_SetHint(_AWAY_FROM_WINDOW, b"1")
    if sdl.SDL_Init(sdl.SDL_INIT_GAMECONTROLLER) != 0:
        return None
    for number in range(int(sdl.SDL_NumJoysticks())):
        if sdl.SDL_IsGameController(number):
            handle = sdl.SDL_GameControllerOpen(number)
            if handle:
                name = sdl.SDL_GameControllerName(handle) or b"gamepad"
                return Gamepad(sdl, handle, name.decode("utf-8", "replace"))
    return None
