# SPDX-License-Identifier: GPL-3.0-or-later
"""From the zip to the first simulated Action in a real Blender, with a clock: the figures of docs/first_minutes.md.

    python tools/first_minutes.py dist/sinew-0.1.0-linux_x64.zip --blender "blender"

installs the zip into an empty user folder, as Blender's own command line does it, then does what the buttons do, and
prints the seconds of every step as JSON. Nothing is downloaded: take the network away to see it.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))

# What is done by hand, in a window, from the moment that the zip is on the disk.
CLICKS = (
    "drop the zip on Blender's window",
    "OK",
    "N, or the arrow at the view's edge",
    "the tab Sinew",
    "Try It on the Mannequin",
)

INSIDE = """
import json, sys, time
import bpy
out = sys.argv[sys.argv.index("--") + 1]
package = next(name for name in bpy.context.preferences.addons.keys() if name.endswith(".sinew"))
rooms = ("jobs.monitor", "setup.readiness")
monitor, readiness = (__import__(package + ".bridge." + name, fromlist=["x"]) for name in rooms)
clock = time.monotonic()
said = {"blender": bpy.app.version_string, "python": sys.version.split()[0], "online": bpy.app.online_access}
def lap(name):
    global clock
    said[name], clock = round(time.monotonic() - clock, 2), time.monotonic()
readiness.check_readiness()
while readiness.poll_readiness() is not None:
    time.sleep(0.02)
known = readiness.current_readiness()
said.update(simulates=known.engine, learns=known.learner, missing=known.missing, problem=known.problem)
lap("check_s")
bpy.ops.sinew.try_mannequin()
lap("click_s")
while monitor.tick_monitor() is not None:
    time.sleep(0.05)
lap("simulated_s")
armature = bpy.context.scene.sinew.armature
view = monitor.watched_jobs()[0]
said.update(state=view.state, message=view.message, action=armature.animation_data.action.name)
said["fell"] = [take.fell for take in armature.sinew_takes]
said["heavy"] = sorted({"torch", "mujoco", "pybullet", "scipy", "cma", "coacd"} & set(sys.modules))
bpy.ops.wm.save_as_mainfile(filepath=out + "/first.blend")
open(out + "/first.json", "w").write(json.dumps(said))
"""


def main(argv: list[str]) -> int:
    """Install, try, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("zip", help="an extension's zip with wheels for this machine")
    parser.add_argument("--blender", default="blender", help="how Blender is started (default: blender)")
    parser.add_argument("--seen-as", default=ROOT, help="where that Blender sees this folder")
    given = parser.parse_args(argv)
    work = os.path.join(ROOT, "out", "first_minutes")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    with open(os.path.join(work, "inside.py"), "w", encoding="utf-8") as stream:
        stream.write(INSIDE)

    def seen(path: str) -> str:
        return os.path.join(given.seen_as, os.path.relpath(path, ROOT))

    variables = {key: value for key, value in os.environ.items() if not key.startswith(("SINEW_", "PYTHON"))}
    variables["BLENDER_USER_RESOURCES"] = seen(os.path.join(work, "user"))
    variables["XDG_DATA_HOME"] = seen(os.path.join(work, "data"))  # jobs and packages
    blender = [*shlex.split(given.blender), "-b"]
    install = ["--command", "extension", "install-file", "-r", "user_default", "-e", seen(os.path.abspath(given.zip))]
    began = time.monotonic()
    subprocess.run([*blender, *install], env=variables, cwd=ROOT, check=True)
    took = round(time.monotonic() - began, 2)
    inside = ["--python-exit-code", "1", "--python", seen(os.path.join(work, "inside.py")), "--", seen(work)]
    subprocess.run([*blender, *inside], env=variables, cwd=ROOT, check=True)
    with open(os.path.join(work, "first.json"), encoding="utf-8") as stream:
        said = {"clicks": len(CLICKS), "install_s": took, **json.load(stream)}
    print(json.dumps(said, indent=2))
    return 0 if said["state"] == "done" and not said["heavy"] and not any(said["fell"]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
