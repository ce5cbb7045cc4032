# SPDX-License-Identifier: GPL-3.0-or-later
"""Inside Blender: does what the session asks for over a socket, one line of JSON each way.

blender --python tools/session/pilot.py -- SOCKET       in a window, on a timer between Blender's own events
python tools/session/pilot.py -- SOCKET                 with the bpy wheel, which has no events and runs no timers
"""

import json
import os
import socket
import sys
import time
import traceback

import bpy

# Blender runs this file as a script; what it needs lies beside it.
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import inside
import lettering
import living
import places
import timing

PERIOD_S = 0.02
_heard = {"last": time.monotonic(), "longest_s": 0.0}


def listen(path: str) -> socket.socket:
    """A socket to be asked at."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(path + ".part")
    listening.listen()
    os.rename(path + ".part", path)  # whoever sees it is answered
    listening.setblocking(False)
    return listening


def look(listening: socket.socket) -> float:
    """Answer who has asked, if anybody; seconds until the next look."""
    timing.look()
    now = time.monotonic()
    _heard["longest_s"] = max(_heard["longest_s"], now - _heard["last"])
    try:
        client, _ = listening.accept()
    except BlockingIOError:
        _heard["last"] = now
        return PERIOD_S
    with client, client.makefile("rw", encoding="utf-8") as stream:
        client.settimeout(5.0)
        stream.write(json.dumps(answer(json.loads(stream.readline()))) + "\n")
    _heard["last"] = time.monotonic()  # what we were asked to do is nobody's wait for Sinew
    return PERIOD_S


def answer(asked: dict) -> dict:
    """What the function that was asked for gave, or the traceback of why not."""
    try:
        if asked["call"] == "longest_wait_s":
            longest, _heard["longest_s"] = _heard["longest_s"], 0.0
            return {"said": longest}
        room = next(room for room in (inside, places, lettering, timing, living) if hasattr(room, asked["call"]))
        return {"said": getattr(room, asked["call"])(*asked["args"], **asked["named"])}
    except Exception:  # noqa: BLE001 - the session must hear of whatever it was
        return {"error": traceback.format_exc()}


def main(path: str) -> None:
    """Listen from now on."""
    listening = listen(path)
    if bpy.app.background:
        # The module begins with factory settings, and with nothing to undo to.
        bpy.ops.wm.read_userpref()
        bpy.ops.ed.undo_push(message="Original")
        while not inside.leaving():
            look(listening)
            inside.tick()
            time.sleep(PERIOD_S)
        sys.stdout.flush()
        os._exit(0)  # as when a window is closed; the module may hang over an orderly end
    bpy.app.timers.register(lambda: look(listening), persistent=True)


main(sys.argv[sys.argv.index("--") + 1])
