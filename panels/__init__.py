# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Sinew": one panel a file."""

import bpy

from .character import SINEW_PT_character
from .jobs import SINEW_PT_jobs
from .simulate import SINEW_PT_simulate

register, unregister = bpy.utils.register_classes_factory((SINEW_PT_character, SINEW_PT_simulate, SINEW_PT_jobs))
