# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator can do: one verb a file."""

import bpy

from .body_override_add import SINEW_OT_body_override_add
from .body_override_remove import SINEW_OT_body_override_remove
from .body_part_edit import SINEW_OT_body_part_edit
from .body_part_mirror import SINEW_OT_body_part_mirror
from .body_part_reset import SINEW_OT_body_part_reset
from .body_preset import SINEW_OT_body_preset
from .body_preset_add import SINEW_OT_body_preset_add
from .body_reset import SINEW_OT_body_reset
from .bounds_bake import SINEW_OT_bounds_bake
from .bounds_bring_along import SINEW_OT_bounds_bring_along
from .bounds_clear_keys import SINEW_OT_bounds_clear_keys
from .bounds_finish import SINEW_OT_bounds_finish
from .bounds_loosen import SINEW_OT_bounds_loosen
from .bounds_part_add import SINEW_OT_bounds_part_add
from .bounds_part_remove import SINEW_OT_bounds_part_remove
from .bounds_preset import SINEW_OT_bounds_preset
from .bounds_preset_add import SINEW_OT_bounds_preset_add
from .bounds_styles import SINEW_OT_bounds_styles
from .bounds_tighten import SINEW_OT_bounds_tighten
from .bounds_train import SINEW_OT_bounds_train
from .cancel import SINEW_OT_cancel
from .cancel_batch import SINEW_OT_cancel_batch
from .cancel_preparing import SINEW_OT_cancel_preparing
from .check_ready import SINEW_OT_check_ready
from .check_source import SINEW_OT_check_source
from .clean_jobs import SINEW_OT_clean_jobs
from .collect import SINEW_OT_collect
from .disturbance_preset import SINEW_OT_disturbance_preset
from .disturbance_preset_add import SINEW_OT_disturbance_preset_add
from .forget_batch import SINEW_OT_forget_batch
from .forget_job import SINEW_OT_forget_job
from .gains_preset import SINEW_OT_gains_preset
from .gains_preset_add import SINEW_OT_gains_preset_add
from .graph_bake import SINEW_OT_graph_bake
from .graph_bring_along import SINEW_OT_graph_bring_along
from .graph_distances import SINEW_OT_graph_distances
from .graph_learn import SINEW_OT_graph_learn
from .graph_propose import SINEW_OT_graph_propose
from .graph_skill_add import SINEW_OT_graph_skill_add
from .graph_skill_add_all import SINEW_OT_graph_skill_add_all
from .graph_skill_remove import SINEW_OT_graph_skill_remove
from .graph_transition_add import SINEW_OT_graph_transition_add
from .graph_transition_remove import SINEW_OT_graph_transition_remove
from .install_cancel import SINEW_OT_install_cancel
from .install_missing import SINEW_OT_install_missing
from .overlay_refit import SINEW_OT_overlay_refit
from .pause import SINEW_OT_pause
from .pause_batch import SINEW_OT_pause_batch
from .pick_selected import SINEW_OT_pick_selected
from .push_preset import SINEW_OT_push_preset
from .push_preset_add import SINEW_OT_push_preset_add
from .resume import SINEW_OT_resume
from .resume_batch import SINEW_OT_resume_batch
from .simulate import SINEW_OT_simulate
from .simulate_variations import SINEW_OT_simulate_variations
from .stage_add_push import SINEW_OT_stage_add_push
from .stage_check import SINEW_OT_stage_check
from .stage_clear import SINEW_OT_stage_clear
from .stage_mark import SINEW_OT_stage_mark
from .stage_select import SINEW_OT_stage_select
from .style_preset import SINEW_OT_style_preset
from .style_preset_add import SINEW_OT_style_preset_add
from .take_compare import SINEW_OT_take_compare
from .take_delete import SINEW_OT_take_delete
from .take_delete_unkept import SINEW_OT_take_delete_unkept
from .take_keep import SINEW_OT_take_keep
from .take_rename import SINEW_OT_take_rename
from .take_show import SINEW_OT_take_show
from .take_show_source import SINEW_OT_take_show_source
from .take_to_nla import SINEW_OT_take_to_nla
from .take_visit import SINEW_OT_take_visit
from .tell import SINEW_OT_tell
from .try_mannequin import SINEW_OT_try_mannequin
from .use_frame_rate import SINEW_OT_use_frame_rate
from .use_scale import SINEW_OT_use_scale

_CLASSES = (
    SINEW_OT_check_ready,
    SINEW_OT_install_missing,
    SINEW_OT_install_cancel,
    SINEW_OT_try_mannequin,
    SINEW_OT_pick_selected,
    SINEW_OT_body_override_add,
    SINEW_OT_body_override_remove,
    SINEW_OT_body_part_edit,
    SINEW_OT_body_part_mirror,
    SINEW_OT_body_part_reset,
    SINEW_OT_body_reset,
    SINEW_OT_body_preset,
    SINEW_OT_body_preset_add,
    SINEW_OT_overlay_refit,
    SINEW_OT_check_source,
    SINEW_OT_use_frame_rate,
    SINEW_OT_use_scale,
    SINEW_OT_simulate,
    SINEW_OT_simulate_variations,
    SINEW_OT_cancel,
    SINEW_OT_cancel_batch,
    SINEW_OT_cancel_preparing,
    SINEW_OT_pause,
    SINEW_OT_pause_batch,
    SINEW_OT_resume,
    SINEW_OT_resume_batch,
    SINEW_OT_collect,
    SINEW_OT_forget_job,
    SINEW_OT_forget_batch,
    SINEW_OT_clean_jobs,
    SINEW_OT_stage_mark,
    SINEW_OT_stage_clear,
    SINEW_OT_stage_select,
    SINEW_OT_stage_add_push,
    SINEW_OT_stage_check,
    SINEW_OT_take_show,
    SINEW_OT_take_show_source,
    SINEW_OT_take_compare,
    SINEW_OT_take_rename,
    SINEW_OT_take_keep,
    SINEW_OT_take_delete,
    SINEW_OT_take_delete_unkept,
    SINEW_OT_take_to_nla,
    SINEW_OT_take_visit,
    SINEW_OT_graph_skill_add,
    SINEW_OT_graph_skill_add_all,
    SINEW_OT_graph_skill_remove,
    SINEW_OT_graph_propose,
    SINEW_OT_graph_distances,
    SINEW_OT_graph_transition_add,
    SINEW_OT_graph_transition_remove,
    SINEW_OT_graph_learn,
    SINEW_OT_graph_bake,
    SINEW_OT_graph_bring_along,
    SINEW_OT_bounds_loosen,
    SINEW_OT_bounds_tighten,
    SINEW_OT_bounds_clear_keys,
    SINEW_OT_bounds_part_add,
    SINEW_OT_bounds_part_remove,
    SINEW_OT_bounds_preset,
    SINEW_OT_bounds_preset_add,
    SINEW_OT_bounds_train,
    SINEW_OT_bounds_finish,
    SINEW_OT_bounds_styles,
    SINEW_OT_bounds_bake,
    SINEW_OT_bounds_bring_along,
    SINEW_OT_gains_preset,
    SINEW_OT_gains_preset_add,
    SINEW_OT_style_preset,
    SINEW_OT_style_preset_add,
    SINEW_OT_disturbance_preset,
    SINEW_OT_disturbance_preset_add,
    SINEW_OT_push_preset,
    SINEW_OT_push_preset_add,
    SINEW_OT_tell,
)

register, unregister = bpy.utils.register_classes_factory(_CLASSES)
