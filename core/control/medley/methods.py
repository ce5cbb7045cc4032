# SPDX-License-Identifier: GPL-3.0-or-later
"""Medley: what it takes to add a family of methods. A library of clips is learned as a file, and a take plays it.

Nothing here is physics: 'learning' counts which clips there are and how they begin and end, and a take plays them in
random order, each begun where the last one ended. What matters is the declaration. From it come the jobs, the operators
``sinew.medley_learn`` and ``sinew.medley_bake``, a panel, ``./sinew medley learn|bake|show`` and their help.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BadFile, JobError
from ...motion import Clip, Take
from ...motion.library import LIBRARY, Library, library_from_arrays, make_library
from ...settings import Settings, setting
from ..learned import LearnedFormat, LearnedKind
from ..method import Method, Product, Run, Source, Watched

KIND = "sinew medley"
MEDLEY = LearnedKind(
    name="medley",
    label="medley",
    ending=".medley.npz",
    folder="medleys",
    module="core.control.medley.methods",
    learn_hint="learn one",
    missing="There is no medley in '{path}'",
    missing_hint="Choose another file, or learn it again",
)


def medley_from_content(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str) -> Library:
    """What was learned; called for every learned file of this kind, wherever it comes from."""
    if meta.get("kind") != KIND:
        raise BadFile(f"{label} is no medley", "Choose one that Sinew learned")
    return library_from_arrays(arrays, meta)


def describe_medley(library: Library) -> tuple[str, ...]:
    """What the panel and ``medley show`` say of a file."""
    return (f"{len(library)} clips, {library.motion.duration_s:.1f} s", f"Clips: {', '.join(library.names)}")


FORMAT = LearnedFormat(medley_from_content, describe_medley)


@dataclass(frozen=True)
class MedleyLearnSettings(Settings):
    """What an animator may set; panel, ``--set`` and ``spec.json`` follow from these fields."""

    shortest_s: float = setting(0.2, "Shortest Clip", "Leave out clips that are shorter", minimum=0.0, unit="s")


class MedleyLearn(Method):
    """From a library to a learned file, and the first clip as a take to look at."""

    name = "medley_learn"
    label = "Learn Medley"
    help = "Collect the character's Actions, to be played in random order"
    uses_engine = False
    takes = Source.LIBRARY
    makes = (Product.LEARNED_FILE, Product.TAKE)
    learned = MEDLEY
    stops_early = True
    watched = (Watched("clips", "Clips", "{:.0f}"),)
    result_name = "learned"
    settings_type = MedleyLearnSettings

    def run(self, clip: Clip, settings: MedleyLearnSettings, run: Run) -> Take:
        """Look at one clip after the other, and hand over those that are long enough."""
        attached = run.attachment(LIBRARY)
        if attached is None:
            raise JobError("The job has no library", "Choose Actions to learn from")
        library = library_from_arrays(*attached)
        chosen = []
        for index, one in enumerate(library):
            if one.duration_s >= settings.shortest_s:
                chosen.append(one)
            run.progress(index + 1, len(library), clips=float(len(chosen)))
            if run.is_enough() and chosen:
                break
        if not chosen:
            raise JobError(f"No clip is as long as {settings.shortest_s:g} s", "Choose others, or a shorter limit")
        arrays, meta = make_library(chosen).to_arrays()
        run.add_product(MEDLEY.name, arrays, {**meta, "kind": KIND})
        return Take(clip)


@dataclass(frozen=True)
class MedleyBakeSettings(Settings):
    """What an animator may set."""

    clips: int = setting(4, "Clips", "How many clips are played", minimum=1, maximum=1000)


class MedleyBake(Method):
    """From a learned file to a take."""

    name = "medley_bake"
    label = "Bake Medley"
    help = "Play what was learned in random order, and bake that as a new Action"
    uses_engine = False
    takes = Source.LEARNED_FILE
    learned = MEDLEY
    settings_type = MedleyBakeSettings

    def run(self, clip: Clip, settings: MedleyBakeSettings, run: Run) -> Take:
        """Play clips one after the other; the seed decides which."""
        attached = run.attachment(MEDLEY.attachment)
        if attached is None:
            raise JobError("The job has no medley", "Learn one first, or choose a file")
        library = medley_from_content(*attached, "The medley")
        if library.motion.skeleton.names != clip.skeleton.names:
            raise JobError(f"The medley has other bones than '{clip.name}'", "Learn one for this armature")
        roots = np.flatnonzero(clip.skeleton.parents < 0)
        order = run.rng.integers(len(library), size=settings.clips)
        pos, quat = [clip.local_pos[:1]], [clip.local_quat_wxyz[:1]]
        for step, index in enumerate(order, start=1):
            played = library.clip(int(index))
            moved = np.array(played.local_pos)
            moved[:, roots] += (pos[-1][-1, roots] - moved[0, roots]) * [1.0, 1.0, 0.0]  # from where the last one ended
            pos.append(moved)
            quat.append(played.local_quat_wxyz)
            run.progress(step, len(order))
        motion = Clip(clip.skeleton, library.motion.fps, np.concatenate(pos), np.concatenate(quat), clip.name)
        return Take(motion, own_clock=True)
