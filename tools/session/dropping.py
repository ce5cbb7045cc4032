# SPDX-License-Identifier: GPL-3.0-or-later
"""Drops a file on the window under the mouse, as a file manager does it on X: the XDND protocol, version 5."""

from __future__ import annotations

import ctypes
import time

_CLIENT_MESSAGE, _SELECTION_REQUEST, _SELECTION_NOTIFY = 33, 30, 31
_VERSION = 5


class NotDropped(Exception):
    """The window did not take the file."""


class _Source:
    """A window of ours that has something to give; an event is 24 longs, as all of X's are."""

    def __init__(self, display: str) -> None:
        self.x = ctypes.CDLL("libX11.so.6")
        self.x.XOpenDisplay.restype = self.x.XDefaultRootWindow.restype = ctypes.c_void_p
        self.x.XInternAtom.restype = self.x.XCreateSimpleWindow.restype = ctypes.c_ulong
        self.server = ctypes.c_void_p(self.x.XOpenDisplay(display.encode()))
        self.root = ctypes.c_ulong(self.x.XDefaultRootWindow(self.server) or 0)
        self.own = self.x.XCreateSimpleWindow(self.server, self.root, 0, 0, 1, 1, 0, 0, 0)

    def atom(self, name: str) -> int:
        return int(self.x.XInternAtom(self.server, name.encode(), 0))

    def under_mouse(self) -> tuple[int, int, int]:
        """The window there, and where that is."""
        root, child = ctypes.c_ulong(), ctypes.c_ulong()
        numbers = [ctypes.c_int() for _ in range(5)]
        places = [ctypes.byref(number) for number in numbers]
        self.x.XQueryPointer(self.server, self.root, ctypes.byref(root), ctypes.byref(child), *places)
        return child.value, numbers[0].value, numbers[1].value

    def send(self, target: int, event: dict[int, int]) -> None:
        packet = (ctypes.c_long * 24)()
        for place, value in event.items():
            packet[place] = value
        self.x.XSendEvent(self.server, ctypes.c_ulong(target), 0, ctypes.c_long(0), ctypes.byref(packet))
        self.x.XFlush(self.server)

    def say(self, target: int, name: str, *data: int) -> None:
        """A client message: type, window, its name, 32 bits a number, and the numbers."""
        event = {0: _CLIENT_MESSAGE, 4: target, 5: self.atom(name), 6: 32, 7: self.own}
        self.send(target, {**event, **{8 + place: value for place, value in enumerate(data)}})

    def next_event(self, stop: float) -> list[int]:
        packet = (ctypes.c_long * 24)()
        while time.monotonic() < stop:
            if self.x.XPending(self.server):
                self.x.XNextEvent(self.server, ctypes.byref(packet))
                return list(packet)
            time.sleep(0.01)
        raise NotDropped("the window under the mouse does not answer")

    def give(self, asked: list[int], content: bytes) -> None:
        """Answer who asks for what is dropped."""
        requestor, selection, target, prop, when = asked[5:10]
        kinds = (ctypes.c_ulong(requestor), ctypes.c_ulong(prop), ctypes.c_ulong(target))
        self.x.XChangeProperty(self.server, *kinds, 8, 0, content, len(content))
        self.send(requestor, {0: _SELECTION_NOTIFY, 4: requestor, 5: selection, 6: target, 7: prop, 8: when})


def drop(path: str, display: str, seconds: float = 20.0) -> None:
    """Drop the file where the mouse is."""
    source, stop = _Source(display), time.monotonic() + seconds
    selection, kind = source.atom("XdndSelection"), source.atom("text/uri-list")
    source.x.XSetSelectionOwner(source.server, ctypes.c_ulong(selection), ctypes.c_ulong(source.own), ctypes.c_ulong(0))
    target, x, y = source.under_mouse()
    source.say(target, "XdndEnter", _VERSION << 24, kind)
    source.say(target, "XdndPosition", 0, x << 16 | y, 0, source.atom("XdndActionCopy"))
    content, accepted = b"file://%s\r\n" % path.encode(), False
    while True:
        event = source.next_event(stop)
        kind_of_event = event[0] & 0xFFFFFFFF
        if kind_of_event == _SELECTION_REQUEST:
            source.give(event, content)
        elif kind_of_event == _CLIENT_MESSAGE and event[5] == source.atom("XdndStatus") and not accepted:
            accepted = bool(event[8] & 1)
            if not accepted:
                raise NotDropped("the window under the mouse takes no files")
            source.say(target, "XdndDrop", 0, 0)
        elif kind_of_event == _CLIENT_MESSAGE and event[5] == source.atom("XdndFinished"):
            source.x.XCloseDisplay(source.server)
            return
