# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew from Python: what the panels do, for pipelines and scripts.

Where Sinew is installed it is ``from bl_ext.user_default.sinew import api`` (or the repository's own name in place of
``user_default``), in a script for ``blender -b --python`` as well as in the Python Console. A verb reads the open scene
at once and gives ``Work``; that is done in a process of its own when it is run, or when what comes of it is asked for.

What cannot be is a ``SinewError`` whose message names the thing and whose hint names the fix. Units are metres,
seconds, newtons and kilograms; Z is up. The same seed gives the same take. The command line is made of these verbs.
"""

from ...core.errors import SinewError
from ..body.body_inputs import BodyRequest
from ..retime.moments import KeyMoment
from .characters import Character, character, open_character, save, session
from .families import learn_family, play_family
from .learning import (
    learn_bounds,
    learn_graph,
    learn_styles,
    learn_task,
    measure_director,
    measure_improviser,
    measure_responder,
    train_director,
    train_improviser,
    train_responder,
)
from .libraries import build_library, extend_library
from .playing import bake_controller, bake_graph, direct, improvise, read_learned, respond
from .simulating import replay_live, resume, retime, simulate, vary
from .staging import key_strength, place_push, put_on_stage
from .work import BakedTake, Work, WorkCancelled

__all__ = [
    "BakedTake",
    "BodyRequest",
    "Character",
    "KeyMoment",
    "SinewError",
    "Work",
    "WorkCancelled",
    "bake_controller",
    "bake_graph",
    "build_library",
    "character",
    "direct",
    "extend_library",
    "improvise",
    "key_strength",
    "learn_bounds",
    "learn_family",
    "learn_graph",
    "learn_styles",
    "learn_task",
    "measure_director",
    "measure_improviser",
    "measure_responder",
    "open_character",
    "place_push",
    "play_family",
    "put_on_stage",
    "read_learned",
    "replay_live",
    "respond",
    "resume",
    "retime",
    "save",
    "session",
    "simulate",
    "train_director",
    "train_improviser",
    "train_responder",
    "vary",
]
