# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender in a process of its own that answers (``pilot.py``): with a window, or as the bpy wheel."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))


class BlenderSaid(Exception):
    """What was asked of Blender failed there; the text is its traceback."""


class Blender:
    """A running Blender. ``command`` starts it, or is the Python that has bpy as a module; ``blend`` is opened."""

    def __init__(self, command: list[str], variables: dict[str, str], log: str, blend: str = "") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sinew-session-")
        self._path = os.path.join(self._folder.name, "pilot")
        self._log = open(log, "a", encoding="utf-8")  # noqa: SIM115 - as long as Blender writes to it
        pilot, is_module = os.path.join(HERE, "pilot.py"), "python" in os.path.basename(command[0])
        words = [pilot] if is_module else [*([blend] if blend else []), "--python", pilot]
        self.process = subprocess.Popen(
            [*command, *words, "--", self._path], env=variables, stdout=self._log, stderr=subprocess.STDOUT
        )
        self.wait_until_there()
        if blend and is_module:
            self.ask("open_file", blend)

    def wait_until_there(self, seconds: float = 90.0) -> None:
        """Wait until it answers."""
        stop = time.monotonic() + seconds
        while not os.path.exists(self._path):
            if self.process.poll() is not None:
                raise RuntimeError("Blender ended at once; its log is %s" % self._log.name)
            if time.monotonic() > stop:
                raise RuntimeError("Blender does not answer; its log is %s" % self._log.name)
            time.sleep(0.1)

    def ask(self, call: str, *args: object, **named: object) -> object:
        """Call a function of ``inside.py`` or ``places.py`` there."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(90.0)
            client.connect(self._path)
            with client.makefile("rw", encoding="utf-8") as stream:
                stream.write(json.dumps({"call": call, "args": args, "named": named}) + "\n")
                stream.flush()
                line = stream.readline()
        if not line:
            raise BlenderSaid("Blender hung up while it did '%s'" % call)
        said = json.loads(line)
        if "error" in said:
            raise BlenderSaid(said["error"])
        return said["said"]

    def gone(self, seconds: float) -> bool:
        """Whether it ends within that time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> None:
        """End it, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        self._log.close()
        self._folder.cleanup()
