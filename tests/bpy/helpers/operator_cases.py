# SPDX-License-Identifier: GPL-3.0-or-later
"""For every operator: when it is refused, how it goes wrong, and what it changes. A new one needs its lines here.

REFUSED: scenes in which ``poll`` says no, and words of its message, which name the thing and the fix.
WRONG: a scene in which it fails although it was offered, what it is given, and words of the error.
STILL: a scene in which it does what it is for without any change of the file, and what it is given.
UNDONE: a scene of which it changes something, and what it is given.
What stands in ELSEWHERE is tested there, because it takes a body, a file or a worker.
"""

from .operator_scenes import (
    at_ten,
    before_it,
    being_read,
    bone,
    camera,
    chosen,
    complete,
    cube,
    cue,
    editing,
    first_batch,
    first_job,
    first_reading,
    kept,
    lacking,
    lost_files,
    no_actions,
    no_skill_action,
    no_way,
    nothing,
    obstacle,
    own_part,
    painted,
    paused_job,
    physics,
    push,
    push_off_stage,
    role,
    short,
    skill,
    skills,
    tagged,
    tagged_by_hand,
    takes,
    two_jobs,
    unmoved,
    unsaved_files,
    unselected,
)
from .rigs import arm, wave

ARMATURE = "Choose an armature"
_KINDS = ("body", "gains", "bounds", "style", "disturbance", "push")
_EDITED = "'Hero' is in Edit Mode: leave it with Tab"
_NO_BONE = "Select a bone of the character in Pose Mode"
_LIBRARY = [(nothing, ARMATURE), (chosen, "No library yet: build one from the Actions, or choose a library file")]
_MOTION = [
    (nothing, ARMATURE),
    (unmoved, "'Hero' has no Action: choose one"),
    (editing, _EDITED),
]
_TAKES = [(nothing, "Select an armature that has takes"), (chosen, "'Hero' has no takes yet: simulate its Action")]
_CHARACTER = [(nothing, ARMATURE)]
_PART = [(nothing, ARMATURE), (editing, _EDITED), (chosen, _NO_BONE)]
_SKILLS = [(nothing, ARMATURE), (chosen, "No skills yet: add Actions"), (no_skill_action, "Skill 'Wave' has no Action")]
_TWO = [*_SKILLS, (skill, "Add another skill")]

_TAGGED = [(nothing, ARMATURE), (unmoved, "'Hero' has no Action: give it one in the Action Editor")]

REFUSED = {
    "install_missing": [
        (nothing, "does not know yet what is missing: wait a moment, or check again"),
        (complete, "Nothing is missing"),
        (lacking("torch"), "online"),
    ],
    "install_cancel": [(nothing, "Nothing is being installed: there is nothing to cancel")],
    "try_mannequin": [
        (lacking("mujoco"), "needs a physics engine: install what is missing first"),
        (editing, "Go to Object Mode first"),
    ],
    "add_street": [(editing, "Go to Object Mode first")],
    "pick_selected": [(nothing, "Select an armature, or a mesh that an armature deforms")],
    "key_muscle": _CHARACTER,
    "move_muscle_keys": [*_CHARACTER, (chosen, "No take of 'Hero' that shows has keys of muscle")],
    "choose_part": [(nothing, ARMATURE), (chosen, "This method simulates nothing: choose the method Simulate")],
    "body_override_add": _PART,
    "body_override_remove": [*_CHARACTER, (chosen, "no bone in the list: add one first")],
    "body_part_edit": _PART,
    "body_part_mirror": [*_PART, (bone, "Bone 'bone1' is as it was fitted: edit it first")],
    "body_part_reset": [*_PART, (bone, "Bone 'bone1' is as it was fitted: edit it first")],
    "body_reset": [*_CHARACTER, (chosen, "The whole body is as it was fitted: there is nothing to reset")],
    "body_preset": _CHARACTER,
    "body_preset_add": _CHARACTER,
    "gains_preset": _CHARACTER,
    "gains_preset_add": _CHARACTER,
    "style_preset": _CHARACTER,
    "style_preset_add": _CHARACTER,
    "disturbance_preset": [(chosen, "has no physics, so only the seed varies: choose another")],
    "disturbance_preset_add": [(chosen, "has no physics, so only the seed varies: choose another")],
    "push_preset": [(nothing, "Select a push: Add Push makes one")],
    "push_preset_add": [(nothing, "Select a push: Add Push makes one")],
    "overlay_refit": [(nothing, ARMATURE), (editing, _EDITED)],
    "import_model": [(editing, "Go to Object Mode first")],
    "put_on_selected": [*_MOTION, (chosen, "Select the armature that is to do it")],
    "forget_given_body": [*_CHARACTER, (chosen, "'Hero' has no given body: its own is fitted")],
    "check_source": _MOTION,
    "fix_source": _MOTION,
    "simulate": _MOTION,
    "give_travel": _MOTION,
    "retime_and_reach": _MOTION,
    "simulate_variations": _MOTION,
    "live": _MOTION,
    "live_do": [(nothing, "Nobody is live: Start Live first")],
    "live_bake": [(nothing, "Nothing is recorded: Start Live and press Record, twice")],
    "live_again": [(nothing, "Choose an armature that shows a take of a live session")],
    "stage_check": _MOTION,
    "stage_mark": [(nothing, "Select the objects that are to be on the stage")],
    "stage_add_push": [(nothing, "Select the bone to push, in Pose Mode")],
    "take_show": _TAKES,
    "take_show_source": _TAKES,
    "take_compare": _TAKES,
    "take_rename": _TAKES,
    "take_keep": _TAKES,
    "take_delete": _TAKES,
    "take_delete_unkept": [
        *_TAKES,
        (kept, "Every take of 'Hero' is kept, linked or in the NLA: take a star off first"),
    ],
    "take_to_nla": _TAKES,
    "graph_skill_add": [(nothing, ARMATURE), (unmoved, "'Hero' has no Action: give it one in the Action Editor")],
    "graph_skill_add_all": _CHARACTER,
    "graph_skill_remove": [*_CHARACTER, (chosen, "no skill in the list: add one first")],
    "graph_propose": _TWO,
    "graph_distances": _SKILLS,
    "graph_transition_add": _TWO,
    "graph_transition_remove": [*_CHARACTER, (chosen, "no transition in the list: propose some, or add one")],
    "graph_learn": [*_SKILLS, (no_way, "No transitions yet: propose them")],
    "graph_bake": [(nothing, ARMATURE), (chosen, "No graph yet: learn the skills, or choose a graph file")],
    "graph_bring_along": [
        (nothing, ARMATURE),
        (chosen, "'Hero' has no graph yet: learn its skills"),
        (unsaved_files, "The .blend was never saved: save it first"),
    ],
    "bounds_loosen": [
        (nothing, ARMATURE),
        (unmoved, "'Hero' has no Action"),
        (before_it, "Frame -50 is outside of Action 'Wave': go to one from 1 to 20"),
    ],
    "bounds_tighten": [
        (nothing, ARMATURE),
        (unmoved, "'Hero' has no Action"),
        (before_it, "Frame -50 is outside of Action 'Wave': go to one from 1 to 20"),
    ],
    "bounds_clear_keys": [*_CHARACTER, (chosen, "The Action of 'Hero' has no keys of bounds: Loosen Here and Tighten")],
    "bounds_part_add": _CHARACTER,
    "bounds_part_remove": [*_CHARACTER, (chosen, "no part in the list: add one first")],
    "bounds_preset": _CHARACTER,
    "bounds_preset_add": _CHARACTER,
    "bounds_train": _MOTION,
    "bounds_styles": [*_MOTION, (chosen, "No controller yet: train one, or choose a controller file")],
    "bounds_bake": [(nothing, ARMATURE), (chosen, "No controller yet: train one, or choose a controller file")],
    "bounds_bring_along": [
        (nothing, ARMATURE),
        (chosen, "'Hero' has no controller yet: train one"),
        (unsaved_files, "The .blend was never saved: save it first"),
    ],
    "graph_test": [(nothing, ARMATURE), (chosen, "No graph yet: learn the skills, or choose a graph file")],
    "bounds_test": [(nothing, ARMATURE), (chosen, "No controller yet: train one, or choose a controller file")],
    "direct_train": _LIBRARY,
    "direct_bake": _LIBRARY,
    "direct_test": _LIBRARY,
    "direct_bring_along": [
        (nothing, ARMATURE),
        (chosen, "'Hero' has no library yet: build one from its Actions"),
        (unsaved_files, "The .blend was never saved: save it first"),
    ],
    "improvise_train": _LIBRARY,
    "improvise_bake": [(nothing, ARMATURE), (chosen, "No improviser yet: train the library to improvise")],
    "improvise_test": [(nothing, ARMATURE), (chosen, "No improviser yet: train the library to improvise")],
    "improvise_task": [(nothing, ARMATURE), (chosen, "No improviser yet: train the library to improvise")],
    "improvise_bring_along": [
        (nothing, ARMATURE),
        (chosen, "'Hero' has no improviser yet: train its library to improvise"),
        (unsaved_files, "The .blend was never saved: save it first"),
    ],
    "respond_train": _LIBRARY,
    "respond_bake": _LIBRARY,
    "respond_test": _LIBRARY,
    "respond_bring_along": [
        (nothing, ARMATURE),
        (chosen, "'Hero' has no library yet: build one from its Actions"),
        (unsaved_files, "The .blend was never saved: save it first"),
    ],
    "respond_cue_add": _CHARACTER,
    "respond_cue_remove": [*_CHARACTER, (chosen, "no cue in the list: add one first")],
    "library_build": [(nothing, ARMATURE), (editing, _EDITED), (no_actions, "This file has no Actions")],
    "library_picture": [
        (nothing, ARMATURE),
        (chosen, "No library yet: build one from the Actions"),
        (lost_files, "There is no library in"),
    ],
    "library_tag_add": _TAGGED,
    "library_tag_propose": _TAGGED,
    "library_tag_remove": [*_TAGGED, (chosen, "The Action has no style tags: add one, or have some proposed")],
    "library_tag_accept": [*_TAGGED, (tagged_by_hand, "No style is proposed: Propose Styles finds some")],
    "medley_learn": [
        (nothing, ARMATURE),
        (editing, _EDITED),
        (unmoved, "No Action moves the bones of 'Hero': add one"),
    ],
    "medley_bake": [(nothing, ARMATURE), (chosen, "No medley yet: learn one, or choose a medley file")],
    "medley_bring_along": [
        (nothing, ARMATURE),
        (chosen, "'Hero' has no medley yet: learn one"),
        (unsaved_files, "The .blend was never saved: save it first"),
    ],
}

_SHORT = ("'Wave' is too short",)
_NO_BODY = ("Nothing in the skeleton can stand", "give their bones a role by hand")
_NO_JOB = ("This file knows no job 'nobody'", "Open the file")
_NO_BATCH = ("This file knows no batch 'nobody'", "Open the file")
_NO_TAKE = ("'Hero' has no take 9", "Choose one in the list")
_GONE = ("There is no 'Nobody' in this scene any more", "choose another")

WRONG = {
    "body_part_edit": (bone, {}, _NO_BODY),
    "body_part_mirror": (role, {}, _NO_BODY),
    "overlay_refit": (chosen, {}, _NO_BODY),
    "import_model": (chosen, {"filepath": "/no/such.urdf"}, ("'such.urdf' does not exist", "Check the path")),
    "key_muscle": (chosen, {"remove": True}, ("Muscle has no key at frame 1 of 'Wave'", "Go to a frame")),
    "choose_part": (unselected, {"part": "SELECTED"}, ("No bone of 'Hero' is selected", "Select some in Pose Mode")),
    "check_source": (short, {}, _SHORT),
    "fix_source": (chosen, {}, ("There is nothing to fix", "Check the motion first")),
    "simulate": (short, {}, _SHORT),
    "give_travel": (short, {}, _SHORT),
    "retime_and_reach": (chosen, {}, ("Nothing is asked of frame 1", "Retime it")),
    "simulate_variations": (short, {}, _SHORT),
    "stage_check": (short, {}, _SHORT),
    "stage_mark": (camera, {"role": "TERRAIN"}, ("'Eye' cannot be a terrain", "Select a mesh")),
    "stage_clear": (cube, {"name": ""}, ("None of these objects is on the stage", "Select some that are")),
    "stage_select": (chosen, {"name": "Nobody"}, _GONE),
    "stage_restore": (chosen, {"name": "Nobody"}, _GONE),
    "take_visit": (chosen, {"name": "Nobody"}, _GONE),
    **{name: (takes, {"index": 8}, _NO_TAKE) for name in REFUSED if name.startswith("take_") and "unkept" not in name},
    **dict.fromkeys(
        (
            *("cancel", "pause", "resume", "collect", "bounds_finish", "direct_finish"),
            *("respond_finish", "improvise_finish", "medley_finish"),
        ),
        (chosen, {"job": "nobody"}, _NO_JOB),
    ),
    **dict.fromkeys(
        ("cancel_batch", "pause_batch", "resume_batch", "forget_batch"), (chosen, {"batch": "nobody"}, _NO_BATCH)
    ),
    "cancel_preparing": (chosen, {"number": 0}, ("Nothing that is being read has the number 0", "cancel its job")),
    "graph_skill_add_all": (unmoved, {}, ("No Action moves the bones of 'Hero'", "Import or make one")),
    "graph_propose": (no_way, {}, _NO_BODY),
    "graph_distances": (skills, {}, _NO_BODY),
    "graph_transition_add": (skills, {"source": "Wave", "target": "Wave"}, ("to itself is none", "another skill")),
    "graph_learn": (skills, {}, ("From 'Nod' there is no way to 'Wave'", "Add transitions")),
    "graph_bring_along": (lost_files, {}, ("There is no graph in", "learn the skills again")),
    "bounds_bring_along": (lost_files, {}, ("'/no/such/file.npz' does not exist", "train one again")),
    "direct_bring_along": (lost_files, {}, ("There is no library in", "build it again")),
    "respond_bring_along": (lost_files, {}, ("There is no library in", "build it again")),
    "improvise_bring_along": (lost_files, {}, ("There is no improviser in", "train it again")),
    "medley_bring_along": (lost_files, {}, ("There is no medley in", "learn it again")),
    "library_build": (chosen, {}, _NO_BODY),
    "library_tag_propose": (chosen, {}, _NO_BODY),
    "library_tag_add": (
        chosen,
        {"name": "walk", "first": 1, "last": 999},
        ("beyond Action 'Wave'", "goes from 1 to 20"),
    ),
    "library_tag_remove": (tagged, {"index": 7}, ("'Wave' has no style tag 8", "It has 2")),
    "library_tag_accept": (tagged, {"index": 0}, ("Style tag 'walk' is no proposal", "It counts already")),
    "bounds_train": (lacking("torch"), {}, ("Training needs torch", "pip install torch")),
}

UNDONE = {
    "pick_selected": (lambda: wave(arm("Hero")), {}),
    "key_muscle": (chosen, {}),
    "body_override_add": (bone, {}),
    "body_override_remove": (role, {}),
    "body_part_reset": (role, {}),
    "body_reset": (role, {}),
    "choose_part": (physics, {"part": "left_arm"}),
    "fix_source": (chosen, {"fix": "scale", "value": 2.0}),
    "use_frame_rate": (chosen, {"fps": 60.0}),
    "add_street": (chosen, {}),
    "use_scale": (chosen, {"factor": 2.0}),
    "simulate": (chosen, {}),
    "give_travel": (chosen, {}),
    "simulate_variations": (chosen, {}),
    "forget_job": (two_jobs, first_job),
    "forget_batch": (two_jobs, first_batch),
    "clean_jobs": (two_jobs, {"days": 0, "keep_unbaked": False}),
    "stage_mark": (cube, {"role": "PROP"}),
    "stage_clear": (obstacle, {}),
    "stage_select": (push, {"name": "Push"}),
    "stage_restore": (push_off_stage, {"name": "Push"}),
    "stage_add_push": (bone, {}),
    "take_show": (takes, {"index": 0}),
    "take_show_source": (takes, {}),
    "take_compare": (takes, {}),
    "take_rename": (takes, {"index": 1, "name": "Better"}),
    "take_keep": (takes, {"index": 1}),
    "take_delete": (takes, {"index": 1}),
    "take_delete_unkept": (takes, {}),
    "take_to_nla": (takes, {"index": 0}),
    "take_visit": (push, {"name": "Push"}),
    "graph_skill_add": (chosen, {}),
    "graph_skill_add_all": (chosen, {}),
    "graph_skill_remove": (skills, {}),
    "graph_transition_remove": (skills, {}),
    "library_tag_add": (chosen, {"name": "walk", "first": 2, "last": 9}),
    "library_tag_remove": (tagged, {"index": 1}),
    "library_tag_accept": (tagged, {}),
    "respond_cue_add": (chosen, {}),
    "respond_cue_remove": (cue, {}),
    "bounds_loosen": (at_ten, {}),
    "bounds_tighten": (at_ten, {}),
    "bounds_clear_keys": (painted, {}),
    "bounds_part_add": (chosen, {}),
    "bounds_part_remove": (own_part, {}),
}

# A scene in which it does what it is for, and what it is given: nothing of the file is changed, so there is no step.
STILL = {
    "cancel": (two_jobs, first_job),
    "pause": (two_jobs, first_job),
    "resume": (paused_job, first_job),
    "cancel_batch": (two_jobs, first_batch),
    "pause_batch": (two_jobs, first_batch),
    "resume_batch": (paused_job, first_batch),
    "cancel_preparing": (being_read, first_reading),
    "check_source": (chosen, {}),
    "stage_check": (chosen, {}),
    "tell": (chosen, {"text": "Good news"}),
}
_FILES = "writes or removes a file of the user's, which no .blend has"
STILL_BY_NATURE = {
    "check_ready": "asks another Python",
    "install_missing": "packages are no part of a .blend",
    "install_cancel": "packages are no part of a .blend",
    "overlay_refit": "bodies are fitted beside the file",
    "live": "what is shown is put back, and nothing is keyed",
    "live_do": "what is shown is put back, and nothing is keyed",
    "live_bake": "a started job is no part of a .blend",
    "live_again": "a started job is no part of a .blend",
    "bounds_finish": "leaves a file in the job's folder",
    "direct_finish": "leaves a file in the job's folder",
    "improvise_finish": "leaves a file in the job's folder",
    "respond_finish": "leaves a file in the job's folder",
    "medley_finish": "leaves a file in the job's folder",
    **dict.fromkeys([f"{kind}_preset_add" for kind in _KINDS], _FILES),
}

# Tests by name that press the operator and look at the same thing, because that takes a body, a file or a worker.
ELSEWHERE = {
    "wrong": {
        "put_on_selected": "transfer/test_transfer_operators.py::test_what_has_no_legs_cannot_do_it",
        "install_missing": "setup/test_installing.py::test_a_failure_leaves_what_was_there_and_says_why",
        "try_mannequin": "operators/test_try_mannequin.py::test_a_worker_that_cannot_start_is_a_message_and_the_mannequin_stays",
        "forget_job": "operators/test_operators.py::test_forgetting_and_cleaning",
        "graph_bake": "operators/test_graph_operators.py::test_a_stage_that_cannot_be_is_told_in_the_panel_and_makes_no_job",
        "bounds_bake": "bounds/test_bounds_jobs.py::test_a_controller_of_another_skeleton_is_refused_before_there_is_a_job",
        "bounds_styles": "bounds/test_bounds_jobs.py::test_a_python_that_cannot_train_is_told_how_before_there_is_a_job",
        **dict.fromkeys(
            (
                *(
                    "medley_learn",
                    "medley_bake",
                    "direct_train",
                    "direct_bake",
                    "direct_test",
                    "graph_test",
                    "bounds_test",
                ),
                *(
                    "respond_train",
                    "respond_bake",
                    "respond_test",
                    "improvise_train",
                    "improvise_bake",
                    "improvise_test",
                    "improvise_task",
                ),
            ),
            "methods/test_families.py::test_what_cannot_be_is_told_in_the_panel_and_makes_no_job",
        ),
        "move_muscle_keys": "takes/test_muscle_keys.py::test_keys_of_a_take_without_a_source_stay_where_they_are",
        "take_delete_unkept": "operators/test_takes_verbs.py::test_tweak_mode_and_linked_armatures_are_named",
        **dict.fromkeys(
            [f"{kind}_preset" for kind in _KINDS],
            "operators/test_presets.py::test_a_file_that_is_gone_or_broken_is_named",
        ),
        **dict.fromkeys(
            [f"{kind}_preset_add" for kind in _KINDS],
            "operators/test_presets.py::test_what_comes_with_sinew_stays",
        ),
    },
    "undone": {
        **dict.fromkeys(
            ("import_model", "put_on_selected", "forget_given_body"),
            "transfer/test_transfer_operators.py::test_each_is_one_step",
        ),
        "move_muscle_keys": "takes/test_muscle_keys.py::test_moving_them_is_one_step_back_and_forth",
        "body_part_edit": "body/test_body_editing.py::test_each_is_one_step_back_and_forth",
        "body_part_mirror": "body/test_body_editing.py::test_each_is_one_step_back_and_forth",
        "retime_and_reach": "operators/test_retime_and_reach.py::test_it_is_one_step_back_and_forth",
        "collect": "rig/test_undo.py::test_an_undone_bake_is_not_made_again_until_asked_for",
        "graph_bake": "operators/test_graph_operators.py::test_beginning_to_bake_is_one_step",
        "graph_bring_along": "graph/test_graph_files.py::test_bringing_a_graph_along_is_one_step",
        "bounds_bake": "bounds/test_bounds_jobs.py::test_beginning_to_learn_and_to_bake_is_one_step_each",
        "bounds_styles": "bounds/test_bounds_jobs.py::test_beginning_to_learn_and_to_bake_is_one_step_each",
        "bounds_train": "bounds/test_bounds_jobs.py::test_beginning_to_learn_and_to_bake_is_one_step_each",
        "bounds_bring_along": "bounds/test_bounds_jobs.py::test_a_controller_is_copied_beside_the_file",
        **dict.fromkeys(
            (
                *("medley_learn", "medley_bake", "medley_bring_along", "graph_test", "bounds_test"),
                *("direct_bake", "direct_bring_along"),
                *("respond_train", "respond_bake", "respond_test", "respond_bring_along"),
                *("improvise_train", "improvise_bake", "improvise_test", "improvise_task", "improvise_bring_along"),
            ),
            "methods/test_families.py::test_each_verb_is_one_step",
        ),
        **dict.fromkeys(
            ("direct_train", "direct_test"),
            "direct/test_policy_training.py::test_beginning_to_train_and_to_test_is_one_step_each",
        ),
        **dict.fromkeys(
            ("library_build", "library_picture", "library_tag_propose"),
            "library/test_action_libraries.py::test_each_verb_is_one_step",
        ),
        "graph_propose": "operators/test_every_operator.py::test_what_takes_a_body_is_one_step_too",
        "graph_distances": "operators/test_every_operator.py::test_what_takes_a_body_is_one_step_too",
        "graph_transition_add": "operators/test_every_operator.py::test_what_takes_a_body_is_one_step_too",
        "graph_learn": "operators/test_every_operator.py::test_what_takes_a_body_is_one_step_too",
        "try_mannequin": "operators/test_every_operator.py::test_what_takes_a_body_is_one_step_too",
        **dict.fromkeys(
            [f"{kind}_preset" for kind in _KINDS],
            "operators/test_presets.py::test_using_one_is_one_step_back_and_forth",
        ),
    },
}

# Always offered, because there is always something to do: why.
ALWAYS = {
    "check_ready": "asks again, whatever was answered before",
    "clean_jobs": "other files may have jobs, too",
    "tell": "only the monitor calls it",
    "use_frame_rate": "stands beside the doubt that it settles",
    "use_scale": "stands beside the doubt that it settles",
    "stage_clear": "the name says which, or the selection, and then an error says what is wrong",
    "stage_select": "stands in the list of what there is",
    "stage_restore": "stands in the list of what was taken off",
    "take_visit": "stands beside the armature that it leads to",
    "cancel_preparing": "stands with the motion that is being read",
    **dict.fromkeys(
        (
            "cancel",
            "pause",
            "resume",
            "collect",
            "forget_job",
            "bounds_finish",
            "direct_finish",
            "improvise_finish",
            "respond_finish",
            "medley_finish",
        ),
        "stands with the job that it is about",
    ),
    **dict.fromkeys(
        ("cancel_batch", "pause_batch", "resume_batch", "forget_batch"), "stands with the batch that it is about"
    ),
}

# Nothing that an animator does can make these fail once they are offered: why.
NEVER_WRONG = {
    "add_street": "it takes nothing of the file but its frame rate",
    "stage_add_push": "there is a bone, and a collection that is shown",
    "graph_skill_add": "the Action that moves the character has keys for it",
    "graph_skill_remove": "the list has one",
    "respond_cue_add": "there is a character",
    "respond_cue_remove": "the list has one",
    "library_picture": "its file was read before it is offered",
    "graph_transition_remove": "the list has one",
    "bounds_loosen": "all that it needs is asked before it is offered",
    "bounds_tighten": "all that it needs is asked before it is offered",
    "bounds_clear_keys": "there are keys",
    "bounds_part_add": "there is a character",
    "bounds_part_remove": "the list has one",
    "clean_jobs": "what cannot be deleted is left",
    "live_bake": "there is a recording",
    "live_again": "there is a recording in the job's folder",
}
