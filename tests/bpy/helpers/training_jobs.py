# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that train within bounds, made at once from a motion that was read."""

from sinew.bridge.bounds.training import TrainRequest, train_job
from sinew.bridge.jobs.preparing import do_at_once


def create_training(request, rig, **words):
    """The job that learns the motion within the armature's bounds; words: of ``TrainRequest``."""
    return do_at_once(lambda own: train_job(own, TrainRequest(request, **words), rig))
