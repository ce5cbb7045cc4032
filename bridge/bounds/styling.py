# SPDX-License-Identifier: GPL-3.0-or-later
"""What travels with a job that learns a style: the policy that it begins with, and the motion in whose manner it is."""

from pathlib import Path

from ...core.control.bounds.learned_file import CONTROLLER
from ...core.control.bounds.style.style_choice import NEUTRAL, attach_style_clip
from ...core.control.learned import Content
from ...core.files import Attachment
from ...core.motion import Clip
from ...core.motion.io import stock
from ...core.paths import is_plain_file, real_path, usable_path
from ..importing.importers import open_input
from ..jobs import requests
from ..jobs.preparing import Preparation
from ..jobs.requests import Request
from ..rig.rig_reader import read_rig
from ..scene.time_slicing import Slices


def read_neutral(path: Path) -> Content:
    """What a controller file holds, if it holds one whole. For any thread."""
    content = CONTROLLER.read_content(real_path(path))
    CONTROLLER.from_content(content, f"'{path}'")
    return content


def neutral_attachment(path: Path) -> dict[str, Attachment]:
    """What a job has for the policy that it begins with."""
    return {NEUTRAL: read_neutral(path)}


def open_style_clip(text: str, scale: float = 1.0) -> Clip | None:
    """The motion of a file or a stock clip, which is opened for that in place of what is open now; None for neither."""
    if not is_plain_file(usable_path(text)) and text not in stock.stock_names():
        return None
    left = open_input(text, scale)
    return read_rig(requests.find_armature(), scale=left).clip


def read_style_of_action(own: Preparation, request: Request, action: str) -> Slices[dict[str, Attachment]]:
    """What a job has for a style that another Action of the request's armature has."""
    rig = yield from own.read(Request(request.armature, action, scale=request.scale))
    return attach_style_clip(rig.clip)
