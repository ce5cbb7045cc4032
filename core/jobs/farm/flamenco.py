# SPDX-License-Identifier: GPL-3.0-or-later
"""An order as a job type of Flamenco: settings with this order's values, and a script that makes tasks of them.

Flamenco puts its variables, ``{blender}``, into whatever it hands to a worker. The script therefore writes what comes
from a scene with escapes that have no braces, and ``farm take --encoded`` reads them.
"""

import json
from pathlib import Path
from typing import Any

from ...errors import BadSettings
from .order import MOST_TAKES, FarmOrder, write_frame_list

FILE_NAME = "sinew_takes.js"

_SCRIPT = Path(__file__).with_name("flamenco_tasks.js")
_LARGEST_INT32 = 2**31 - 1
_MOST_CHUNK = 1000


def encode_job_type(order: FarmOrder) -> bytes:
    """The job type as a file: its settings as plain JSON, which is JavaScript, and before it the script."""
    for what, path in (("scene", order.scene), ("results", order.results)):
        if "{" in path or "}" in path:
            raise BadSettings(
                f"The {what} would be at '{path}', and Flamenco reads braces as its variables",
                "Choose a folder without braces for --out",
            )
    if order.seed > _LARGEST_INT32:
        raise BadSettings(f"The seed is {order.seed}", f"Flamenco takes seeds up to {_LARGEST_INT32}")
    # Escapes for all that is not plain: a line separator would end a line of an older JavaScript.
    parts = {"JOB_TYPE": make_job_type(order), "OPTIONS": [[one.key, one.name] for one in order.numbered_options]}
    data = "".join(f"const {name} = {json.dumps(value, indent=4)};\n\n" for name, value in parts.items())
    return (_SCRIPT.read_text("utf-8").rstrip() + "\n\n" + data.rstrip() + "\n").encode("ascii")


def make_job_type(order: FarmOrder) -> dict[str, Any]:
    """What Flamenco shows of the job type, and what it asks for."""
    numbers = {"min": 0, "max": _LARGEST_INT32}
    settings: list[dict[str, Any]] = [
        # Flamenco's add-on puts the submitted file here.
        _setting("blendfile", order.scene, "The scene that is simulated", required=True, visible="web"),
        _setting("results", order.results, "Folder for takes, the merged .blend and frames", subtype="dir_path"),
        _setting("takes", order.takes, "How many takes", propargs={"min": 1, "max": MOST_TAKES}),
        _setting("seed", order.seed, "Same seed, same takes", propargs=numbers),
        *(_setting(one.key, one.value, f"--{one.name} of sinew simulate") for one in order.numbered_options),
        _setting("render_frames", write_frame_list(order.frames), "Frames of every take to render; empty for none"),
        _setting("chunk_size", 10, "Frames a task", propargs={"min": 1, "max": _MOST_CHUNK}),
        _setting("blender", order.blender or "{blender}", "Blender on the workers, with Sinew installed"),
        _setting("addon", order.addon, "The module of Sinew that Blender is to enable; empty if it is enabled"),
    ]
    return {
        "label": f"Sinew takes: {order.short_title}",
        "description": "Takes of a scene by Sinew, merged into one .blend, and frames of each",
        "settings": settings,
    }


def _setting(key: str, default: str | int, about: str, **more: Any) -> dict[str, Any]:
    kind = "int32" if isinstance(default, int) else "string"
    return {"key": key, "type": kind, "default": default, "description": about, **more}
