# SPDX-License-Identifier: GPL-3.0-or-later
"""The session's pictures for the docs: smaller, and with as many colours as an interface needs.

python3 -m tools.session.pictures                        out/session/window/shots --> docs/images/session
python3 -m tools.session.pictures live SHOTS SHOTS ...   of live sessions --> docs/images
"""

from __future__ import annotations

import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SHOTS = os.path.join(ROOT, "out", "session", "window", "shots")
IMAGES = os.path.join(ROOT, "docs", "images", "session")

# What a step took a picture of -> which part of the screen is shown, as ImageMagick says it: size + left + top.
WHOLE, VIEW = "1600x900+0+0", "1315x875+0+25"
NAMES = {
    "drop": VIEW,
    "ready": VIEW,
    "mannequin": VIEW,
    "first_take": VIEW,
    "second_take": VIEW,
    "nla": VIEW,
    "push": VIEW,
    "pushed": VIEW,
    "compared": VIEW,
    "found": VIEW,
}


# Of live sessions: what a step took a picture of -> what it is called.
LIVE = {"dragged": "live_dragged", "rising": "live_rising", "way_2": "live_course", "streamed_more": "live_streamed"}
_LIVE_PART, _LIVE_SIZE = "1020x714+2+80", "760x532"


def main(argv: list[str]) -> int:
    """Make them all again; a step that took no picture is named."""
    if argv and argv[0] == "live":
        images = os.path.dirname(IMAGES)
        for name, called in LIVE.items():
            for shots in argv[1:]:
                make(shots, name, _LIVE_PART, os.path.join(images, called + ".png"), ("-resize", _LIVE_SIZE))
        return 0
    shots = argv[0] if argv else SHOTS
    os.makedirs(IMAGES, exist_ok=True)
    missing = [name for name, part in NAMES.items() if not make(shots, name, part)]
    for name in missing:
        print("there is no picture of '%s' in %s" % (name, shots))
    return 1 if missing else 0


def make(shots: str, name: str, part: str, out: str = "", more: tuple[str, ...] = ()) -> bool:
    """Write one picture; False where there is none to be made from. more: what else is done to it."""
    found = sorted(glob.glob(os.path.join(shots, "*_%s.png" % name)))
    if not found:
        return False
    out = out or os.path.join(IMAGES, name + ".png")
    fewer = [
        "-crop",
        part,
        "+repage",
        *more,
        "-strip",
        "-dither",
        "None",
        "-colors",
        "192",
        "-define",
        "png:compression-level=9",
    ]
    subprocess.run(["magick", found[-1], *fewer, out], check=True)
    print("%s %d kB" % (out, os.path.getsize(out) // 1000))
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
