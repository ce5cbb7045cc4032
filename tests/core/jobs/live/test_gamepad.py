# SPDX-License-Identifier: GPL-3.0-or-later
"""A gamepad, by an SDL that says what it is told to: what its stick and buttons are as commands."""

from types import SimpleNamespace

import numpy as np
import pytest

from sinew.core.control.live.commands import BadCommand, BeginAnew, PushBone, SetMuscle, Steer
from sinew.core.jobs.live.gamepad import GamepadState, open_gamepad
from sinew.core.jobs.live.worker import LiveWorker


class ToldSdl:
    """As much of SDL as is asked for, with one gamepad that is held as ``axes`` and ``buttons`` say."""

    SDL_INIT_GAMECONTROLLER = 1

    def __init__(self, pads=1, works=True):
        self.pads, self.works, self.axes, self.buttons = pads, works, {}, set()

    def __getattr__(self, name):
        for group in ("SDL_CONTROLLER_AXIS_", "SDL_CONTROLLER_BUTTON_"):
            if name.startswith(group):
                return name.removeprefix(group)
        return {
            "SDL_SetHint": lambda *_: 1,
            "SDL_Init": lambda _: 0 if self.works else -1,
            "SDL_NumJoysticks": lambda: self.pads,
            "SDL_IsGameController": lambda number: number == self.pads - 1,
            "SDL_GameControllerOpen": lambda number: number + 1,
            "SDL_GameControllerName": lambda _: b"Pad",
            "SDL_GameControllerUpdate": lambda: None,
            "SDL_GameControllerGetAxis": lambda _, axis: self.axes.get(axis, 0),
            "SDL_GameControllerGetButton": lambda _, button: button in self.buttons,
        }[name]


def test_where_there_is_none_there_is_none():
    assert open_gamepad(ToldSdl(pads=0)) is None
    assert open_gamepad(ToldSdl(works=False)) is None


def test_a_stick_leads_and_a_button_counts_once():
    sdl = ToldSdl(pads=2)
    pad = open_gamepad(sdl)
    assert pad.name == "Pad" and pad.read() == GamepadState()
    sdl.axes = {"LEFTX": 3000, "LEFTY": -2000}
    assert pad.read() == GamepadState()  # a stick at rest is never quite at rest
    sdl.axes, sdl.buttons = {"LEFTX": 32767, "LEFTY": -32767, "TRIGGERRIGHT": 30000}, {"B"}
    state = pad.read()
    assert (state.right, state.away) == pytest.approx((0.5**0.5, 0.5**0.5))
    assert state.fast and state.pressed == {"limp"}
    assert pad.read().pressed == frozenset()


def test_what_it_says_are_commands_as_seen_in_the_view():
    given, links = [], [SimpleNamespace(bone="hips"), SimpleNamespace(bone="chest")]

    def add(command):
        if isinstance(command, Steer) and command.velocity == (0.0, 0.0):
            raise BadCommand("It goes where it goes")
        given.append(command)

    worker = LiveWorker.__new__(LiveWorker)
    worker._looks_rad, worker._led, worker._going = 0.5 * np.pi, 0, (0.0, 0.0)
    worker.timeline = SimpleNamespace(add=add)
    body, moment = SimpleNamespace(links=links, mass=50.0), SimpleNamespace(wished=np.ones(1))
    worker.session = SimpleNamespace(frame=9, characters=[SimpleNamespace(body=body)], moment=moment)
    worker.hear_gamepad(GamepadState(right=1.0, pressed=frozenset({"push", "limp", "reset"})))
    steer, push, limp, anew = given
    assert isinstance(steer, Steer) and steer.velocity == pytest.approx((1.3, 0.0))
    assert isinstance(push, PushBone) and push.bone == "chest" and push.force == pytest.approx((0.0, 100.0, 0.0))
    assert limp == SetMuscle(9, 0, 0.0) and anew == BeginAnew(9)
    worker.hear_gamepad(GamepadState(right=1.0))
    worker.hear_gamepad(GamepadState())  # refused, and nothing happens
    assert len(given) == 4 and worker._going == (0.0, 0.0)


@pytest.fixture
def virtual_pad():
    """(SDL itself, a gamepad that it makes up): its axes and buttons are set by hand, all else is real."""
    sdl2 = pytest.importorskip("sdl2", reason="the environment has no pysdl2 and pysdl2-dll")
    assert sdl2.SDL_Init(sdl2.SDL_INIT_GAMECONTROLLER) == 0
    number = sdl2.SDL_JoystickAttachVirtual(sdl2.SDL_JOYSTICK_TYPE_GAMECONTROLLER, 6, 15, 0)
    assert number >= 0
    joystick = sdl2.SDL_JoystickOpen(number)
    yield sdl2, joystick
    sdl2.SDL_JoystickClose(joystick)
    sdl2.SDL_JoystickDetachVirtual(number)
    sdl2.SDL_Quit()


def test_a_gamepad_of_sdl_itself_is_read(virtual_pad):
    sdl2, joystick = virtual_pad
    pad = open_gamepad()
    assert pad is not None and pad.name
    sdl2.SDL_JoystickSetVirtualAxis(joystick, sdl2.SDL_CONTROLLER_AXIS_TRIGGERRIGHT, -32768)
    assert pad.read() == GamepadState()
    sdl2.SDL_JoystickSetVirtualAxis(joystick, sdl2.SDL_CONTROLLER_AXIS_LEFTX, 32767)
    sdl2.SDL_JoystickSetVirtualAxis(joystick, sdl2.SDL_CONTROLLER_AXIS_TRIGGERRIGHT, 32767)
    sdl2.SDL_JoystickSetVirtualButton(joystick, sdl2.SDL_CONTROLLER_BUTTON_A, 1)
    state = pad.read()
    assert state.right == pytest.approx(1.0) and state.away == 0.0
    assert state.fast and state.pressed == {"push"}
    assert pad.read().pressed == frozenset()
    sdl2.SDL_JoystickSetVirtualAxis(joystick, sdl2.SDL_CONTROLLER_AXIS_LEFTY, 32767)
    assert pad.read().away == pytest.approx(-(0.5**0.5), abs=1e-3)
