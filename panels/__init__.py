# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Sinew": who, what, what happens; one panel a file.

What the character does is one of a few things, and only what that takes is drawn below. What is rarely touched is
behind one switch (``advanced.py``), and what is not ready yet is a line with its button.

Nothing is greyed out here: what does not apply is not drawn, or a line says why. A button is grey by its operator's
``poll``, whose message says why.
"""

import bpy

from . import families
from .body import SINEW_PT_body, SINEW_UL_bone_overrides
from .body_part import SINEW_PT_body_part
from .bounds import SINEW_PT_bounds, SINEW_UL_bound_parts
from .character import SINEW_PT_character
from .direct import SINEW_PT_direct
from .happens import SINEW_PT_happens
from .jobs import SINEW_PT_jobs
from .library import SINEW_PT_library, SINEW_UL_library_actions
from .live import SINEW_PT_live
from .overlay import SINEW_PT_overlay
from .presets import (
    SINEW_PT_body_presets,
    SINEW_PT_bounds_presets,
    SINEW_PT_disturbance_presets,
    SINEW_PT_gains_presets,
    SINEW_PT_push_presets,
    SINEW_PT_style_presets,
)
from .ready import SINEW_PT_ready
from .respond import SINEW_PT_respond, SINEW_UL_cues
from .retime import SINEW_PT_retime
from .simulate import SINEW_PT_simulate
from .skills import SINEW_PT_skills, SINEW_UL_skills, SINEW_UL_transitions
from .stage import SINEW_PT_stage
from .takes import SINEW_PT_takes, SINEW_UL_takes
from .variations import SINEW_PT_variations
from .what import SINEW_PT_what

_CLASSES = (
    SINEW_PT_body_presets,
    SINEW_PT_gains_presets,
    SINEW_PT_bounds_presets,
    SINEW_PT_style_presets,
    SINEW_PT_disturbance_presets,
    SINEW_PT_push_presets,
    SINEW_UL_bone_overrides,
    SINEW_UL_skills,
    SINEW_UL_transitions,
    SINEW_UL_bound_parts,
    SINEW_UL_takes,
    SINEW_UL_library_actions,
    SINEW_UL_cues,
    SINEW_PT_ready,
    SINEW_PT_character,
    SINEW_PT_body,
    SINEW_PT_body_part,
    SINEW_PT_overlay,
    SINEW_PT_what,
    SINEW_PT_simulate,
    SINEW_PT_variations,
    SINEW_PT_retime,
    SINEW_PT_skills,
    SINEW_PT_bounds,
    SINEW_PT_direct,
    SINEW_PT_respond,
    *families.CLASSES,
    SINEW_PT_library,
    SINEW_PT_happens,
    SINEW_PT_stage,
    SINEW_PT_live,
    SINEW_PT_takes,
    SINEW_PT_jobs,
)

register, unregister = bpy.utils.register_classes_factory(_CLASSES)
