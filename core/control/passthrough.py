# SPDX-License-Identifier: GPL-3.0-or-later
"""Passthrough: the clip as it is. Read this file first to see how a method is made.

A method is three things:
1. settings: a frozen dataclass whose fields carry label, help and range. The panel, the command
   line's ``--set`` and the job's ``spec.json`` are all drawn from them;
2. a class with a name, a label, a line of help and ``run``;
3. one line in ``registry.py``.

``run`` is called in the worker process. It gets the source clip (NumPy arrays: metres, seconds,
radians, Z up, wxyz), its settings and a ``Run``: progress, checkpoints, randomness. It returns a
``Take``; the worker saves it and Blender bakes it as a new Action beside the old one.
"""

import time
from dataclasses import dataclass

import numpy as np

from ..motion import Clip, Take
from ..settings import Settings, setting
from .method import Method, Run


@dataclass(frozen=True)
class PassthroughSettings(Settings):
    """What an animator may set for this method."""

    chunk_frames: int = setting(
        30, "Frames a Step", "How many frames are copied between two reports of progress", minimum=1, maximum=10_000
    )
    pause_s: float = setting(
        0.0,
        "Pause",
        "Seconds to wait in each step, to watch progress, cancel and resume",
        minimum=0.0,
        maximum=60.0,
        unit="s",
    )


class Passthrough(Method):
    """Returns the clip as it is: the whole path through Sinew and nothing else."""

    name = "passthrough"
    label = "Passthrough"
    help = "Send the Action to the worker and bake it back unchanged"
    uses_engine = False
    settings_type = PassthroughSettings

    def run(self, clip: Clip, settings: PassthroughSettings, run: Run) -> Take:
        """Copy the clip chunk by chunk."""
        pos, quat = np.empty_like(clip.local_pos), np.empty_like(clip.local_quat_wxyz)
        done = 0

        # After a kill the worker starts again in the same job folder. What was saved last comes back
        # here, so that no work is done twice.
        if checkpoint := run.load_checkpoint():
            done, arrays = checkpoint
            pos[:done], quat[:done] = arrays["pos"], arrays["quat"]

        while done < len(clip):
            stop = min(done + settings.chunk_frames, len(clip))
            pos[done:stop], quat[done:stop] = clip.local_pos[done:stop], clip.local_quat_wxyz[done:stop]
            time.sleep(settings.pause_s)
            done = stop
            # A checkpoint first, then progress: what was reported is never lost. ``progress`` is also
            # where a cancel arrives, as an exception that needs no handling here.
            run.save_checkpoint(done, pos=pos[:done], quat=quat[:done])
            run.progress(done, len(clip))

        # Measurements go into the report and the panel; their unit is part of their name.
        motion = Clip(clip.skeleton, clip.fps, pos, quat, clip.name, clip.tags)
        return Take(motion, measurements={"frames": len(clip)})
