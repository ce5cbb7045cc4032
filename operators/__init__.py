# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator can do: one verb a file."""

import bpy

from .body.overlay_refit import SINEW_OT_overlay_refit
from .body.override_add import SINEW_OT_body_override_add
from .body.override_remove import SINEW_OT_body_override_remove
from .body.part_edit import SINEW_OT_body_part_edit
from .body.part_mirror import SINEW_OT_body_part_mirror
from .body.part_reset import SINEW_OT_body_part_reset
from .body.reset import SINEW_OT_body_reset
from .bounds.clear_keys import SINEW_OT_bounds_clear_keys
from .bounds.loosen import SINEW_OT_bounds_loosen
from .bounds.part_add import SINEW_OT_bounds_part_add
from .bounds.part_remove import SINEW_OT_bounds_part_remove
from .bounds.styles import SINEW_OT_bounds_styles
from .bounds.tighten import SINEW_OT_bounds_tighten
from .graph.distances import SINEW_OT_graph_distances
from .graph.propose import SINEW_OT_graph_propose
from .graph.skill_add import SINEW_OT_graph_skill_add
from .graph.skill_add_all import SINEW_OT_graph_skill_add_all
from .graph.skill_remove import SINEW_OT_graph_skill_remove
from .graph.transition_add import SINEW_OT_graph_transition_add
from .graph.transition_remove import SINEW_OT_graph_transition_remove
from .improvise.task import SINEW_OT_improvise_task
from .jobs.cancel import SINEW_OT_cancel
from .jobs.cancel_batch import SINEW_OT_cancel_batch
from .jobs.cancel_preparing import SINEW_OT_cancel_preparing
from .jobs.clean_jobs import SINEW_OT_clean_jobs
from .jobs.collect import SINEW_OT_collect
from .jobs.forget_batch import SINEW_OT_forget_batch
from .jobs.forget_job import SINEW_OT_forget_job
from .jobs.pause import SINEW_OT_pause
from .jobs.pause_batch import SINEW_OT_pause_batch
from .jobs.resume import SINEW_OT_resume
from .jobs.resume_batch import SINEW_OT_resume_batch
from .jobs.tell import SINEW_OT_tell
from .library.build import SINEW_OT_library_build
from .library.picture import SINEW_OT_library_picture
from .library.tag_accept import SINEW_OT_library_tag_accept
from .library.tag_add import SINEW_OT_library_tag_add
from .library.tag_propose import SINEW_OT_library_tag_propose
from .library.tag_remove import SINEW_OT_library_tag_remove
from .live.again import SINEW_OT_live_again
from .live.bake import SINEW_OT_live_bake
from .live.do import SINEW_OT_live_do
from .live.drive import SINEW_OT_live
from .methods import families
from .presets.body_preset import SINEW_OT_body_preset
from .presets.body_preset_add import SINEW_OT_body_preset_add
from .presets.bounds_preset import SINEW_OT_bounds_preset
from .presets.bounds_preset_add import SINEW_OT_bounds_preset_add
from .presets.disturbance_preset import SINEW_OT_disturbance_preset
from .presets.disturbance_preset_add import SINEW_OT_disturbance_preset_add
from .presets.gains_preset import SINEW_OT_gains_preset
from .presets.gains_preset_add import SINEW_OT_gains_preset_add
from .presets.push_preset import SINEW_OT_push_preset
from .presets.push_preset_add import SINEW_OT_push_preset_add
from .presets.style_preset import SINEW_OT_style_preset
from .presets.style_preset_add import SINEW_OT_style_preset_add
from .respond.cue_add import SINEW_OT_respond_cue_add
from .respond.cue_remove import SINEW_OT_respond_cue_remove
from .setup.add_street import SINEW_OT_add_street
from .setup.check_ready import SINEW_OT_check_ready
from .setup.install_cancel import SINEW_OT_install_cancel
from .setup.install_missing import SINEW_OT_install_missing
from .setup.open_help import SINEW_OT_open_help
from .simulate.check_source import SINEW_OT_check_source
from .simulate.choose_part import SINEW_OT_choose_part
from .simulate.fix_source import SINEW_OT_fix_source
from .simulate.give_travel import SINEW_OT_give_travel
from .simulate.key_muscle import SINEW_OT_key_muscle
from .simulate.move_muscle_keys import SINEW_OT_move_muscle_keys
from .simulate.pick_selected import SINEW_OT_pick_selected
from .simulate.retime_and_reach import SINEW_OT_retime_and_reach
from .simulate.simulate import SINEW_OT_simulate
from .simulate.simulate_variations import SINEW_OT_simulate_variations
from .simulate.try_mannequin import SINEW_OT_try_mannequin
from .simulate.use_frame_rate import SINEW_OT_use_frame_rate
from .simulate.use_scale import SINEW_OT_use_scale
from .stage.add_push import SINEW_OT_stage_add_push
from .stage.check import SINEW_OT_stage_check
from .stage.clear import SINEW_OT_stage_clear
from .stage.mark import SINEW_OT_stage_mark
from .stage.restore import SINEW_OT_stage_restore
from .stage.select import SINEW_OT_stage_select
from .takes.compare import SINEW_OT_take_compare
from .takes.delete import SINEW_OT_take_delete
from .takes.delete_unkept import SINEW_OT_take_delete_unkept
from .takes.keep import SINEW_OT_take_keep
from .takes.rename import SINEW_OT_take_rename
from .takes.show import SINEW_OT_take_show
from .takes.show_source import SINEW_OT_take_show_source
from .takes.to_nla import SINEW_OT_take_to_nla
from .takes.visit import SINEW_OT_take_visit
from .transfer.forget_given import SINEW_OT_forget_given_body
from .transfer.import_model import SINEW_OT_import_model
from .transfer.put_on import SINEW_OT_put_on_selected

_CLASSES = (
    *families.CLASSES,
    SINEW_OT_add_street,
    SINEW_OT_open_help,
    SINEW_OT_check_ready,
    SINEW_OT_install_missing,
    SINEW_OT_install_cancel,
    SINEW_OT_try_mannequin,
    SINEW_OT_key_muscle,
    SINEW_OT_move_muscle_keys,
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
    SINEW_OT_import_model,
    SINEW_OT_put_on_selected,
    SINEW_OT_forget_given_body,
    SINEW_OT_check_source,
    SINEW_OT_fix_source,
    SINEW_OT_use_frame_rate,
    SINEW_OT_use_scale,
    SINEW_OT_choose_part,
    SINEW_OT_simulate,
    SINEW_OT_give_travel,
    SINEW_OT_retime_and_reach,
    SINEW_OT_simulate_variations,
    SINEW_OT_live,
    SINEW_OT_live_do,
    SINEW_OT_live_bake,
    SINEW_OT_live_again,
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
    SINEW_OT_stage_restore,
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
    SINEW_OT_library_build,
    SINEW_OT_library_picture,
    SINEW_OT_library_tag_add,
    SINEW_OT_library_tag_remove,
    SINEW_OT_improvise_task,
    SINEW_OT_respond_cue_add,
    SINEW_OT_respond_cue_remove,
    SINEW_OT_library_tag_propose,
    SINEW_OT_library_tag_accept,
    SINEW_OT_bounds_loosen,
    SINEW_OT_bounds_tighten,
    SINEW_OT_bounds_clear_keys,
    SINEW_OT_bounds_part_add,
    SINEW_OT_bounds_part_remove,
    SINEW_OT_bounds_preset,
    SINEW_OT_bounds_preset_add,
    SINEW_OT_bounds_styles,
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
