# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies as a job would make them, fitted beside the interface and kept until something they depend on changes.

The scene is read on a timer, in slices and never while it is drawn; the body is then fitted on a thread, which
knows nothing of Blender, and to a mesh by a process on the worker's Python. What is edited by hand is put on top.
Nothing here holds a datablock: undo and file loading may replace any of them.
"""

import time
from dataclasses import dataclass, replace

import bpy
from bpy.app.handlers import persistent

from ...core.body import BodyModel
from ...core.body.build import build_body
from ...core.body.edits import apply_edits
from ...core.errors import RigError, SinewError
from ...core.jobs.body_fitting import fit_in_worker
from ..scene import change_counter
from ..scene.preserved_state import find_by_uid
from ..scene.time_slicing import Slices, TimeSlicedTask, is_user_interacting, run_all_slices
from ..scene.viewport import redraw_viewports
from ..setup import preferences
from .body_inputs import BodyRequest, read_body_request
from .fit_inputs import SLICE_S, FitInputs, Signature, fit_signature, read_fit_inputs

_SOON_S, _LATER_S = 0.02, 0.5


@dataclass(eq=False)
class FittedBody:
    """What is known of one armature's body.

    base: as fitted, without edits; body: with them. problem: why there is none, to be shown to people.
    bones: of the armature when it was fitted. seen: how it stood when it was last looked at, see
    ``request_fit_if_changed``.
    wanted, going, done: what it should be fitted to, what it is being fitted to, and what it was fitted to. work: what
    is under way. reading: None while that is still being read.
    """

    wanted: tuple[Signature, Signature] = ((), ())
    done: tuple[Signature, Signature] = ((), ())
    reading: FitInputs | None = None
    base: BodyModel | None = None
    body: BodyModel | None = None
    problem: SinewError | None = None
    bones: object = None
    edits: tuple[object, ...] = ()
    seen: tuple[object, ...] = ()
    work: TimeSlicedTask | None = None
    going: tuple[Signature, Signature] = ((), ())

    def drop(self) -> None:
        """Let what is under way be."""
        if self.work is not None:
            self.work.close()
        self.work = None

    def steps(self, scene: bpy.types.Scene, obj: bpy.types.Object, slice_s: float = SLICE_S) -> Slices[None]:
        """Read what is wanted and fit to it; an error is that there is no body."""
        self.going = self.wanted
        asked, python = read_body_request(obj), preferences.preferred_python()
        if self.reading is None or self.wanted[0] != self.done[0] or self.base is None:
            self.reading = None
            self.reading = yield from read_fit_inputs(scene, obj, slice_s=slice_s)
        reading = self.reading
        made = yield lambda: _fitted(reading, asked, python)
        self.done, self.bones, self.problem = self.going, self.going[0][0], None
        self.base, self.edits, self.body = made

    def refuse(self, problem: SinewError) -> None:
        """Note why there is no body for what was wanted."""
        self.done, self.bones = self.going, self.going[0][0]
        self.problem, self.base, self.body = problem, None, None

    def put_on(self, asked: BodyRequest) -> None:
        """Let the body be as it is edited by hand now."""
        if self.base is None:
            return
        edits = _edits_in(asked)
        if self.body is not None and edits == self.edits:
            return
        self.edits = edits
        try:
            self.body = apply_edits(self.base, asked.edits, asked.mass_kg)
            self.problem = None
        except SinewError as error:
            self.body, self.problem = self.base, error


_known: dict[int, FittedBody] = {}


def request_fit(scene: bpy.types.Scene, obj: bpy.types.Object) -> FittedBody:
    """What is known of the armature's body now; what is out of date is fitted soon. Cheap enough for every redraw."""
    known = _known.setdefault(obj.session_uid, FittedBody())
    asked = read_body_request(obj)
    known.wanted = fit_signature(scene, obj), _choices(asked)
    if known.wanted != known.done:
        _start_timer()
    if known.bones != known.wanted[0][0]:
        known.body = None  # of other bones than there are now
    else:
        known.put_on(asked)
    return known


def request_fit_if_changed(scene: bpy.types.Scene, obj: bpy.types.Object, metres: float) -> FittedBody:
    """``request_fit`` for every redraw: left out where nothing that it asks for can have changed since the last time.

    What Blender tells of once it has evaluated a change, such as of bones and scale, counts from then on.
    """
    known, own, chosen = _known.get(obj.session_uid), obj.sinew_body, scene.sinew
    now = (
        *(change_counter.change_count(), metres, own.preset, own.gains, own.mass_kg, own.use_mesh, len(own.overrides)),
        *(
            uid_or_zero(chosen.armature),
            uid_or_zero(chosen.action),
            uid_or_zero(obj.animation_data and obj.animation_data.action),
        ),
    )
    if known is None or known.seen != now or len(own.overrides) or known.wanted != known.done:
        known = request_fit(scene, obj)
        known.seen = now
    return known


def uid_or_zero(block: bpy.types.ID | None) -> int:
    """The number of a datablock in this session; 0 for none."""
    return block.session_uid if block is not None else 0


def known_fit(obj: bpy.types.Object) -> FittedBody | None:
    """What is known of the armature's body, without any work; for panels."""
    return _known.get(obj.session_uid)


def fit_now(scene: bpy.types.Scene, obj: bpy.types.Object, *, again: bool = False) -> FittedBody:
    """The armature's body, fitted here and now if need be; its ``problem`` says why there is none.

    again: read mesh and motion anew, whatever is known of them.
    """
    known = request_fit(scene, obj)
    if again:
        known.done = ((), ())
    if known.wanted != known.done:
        known.drop()
        try:
            run_all_slices(known.steps(scene, obj, float("inf")))
        except SinewError as error:
            known.refuse(error)
        request_fit(scene, obj)
        redraw_viewports()
    return known


def fit_in_slices(scene: bpy.types.Scene, obj: bpy.types.Object, slice_s: float = SLICE_S) -> Slices[FittedBody]:
    """The same a little at a time, for who waits for it."""
    scene_name, uid = scene.name, obj.session_uid
    known = request_fit(scene, obj)
    while known.wanted != known.done:
        here = find_by_uid(bpy.data.objects, uid)
        if here is None or scene_name not in bpy.data.scenes:
            raise RigError("The armature went while its body was fitted", "Choose it again")
        if slice_s == float("inf"):
            return fit_now(bpy.data.scenes[scene_name], here)
        _bring_on(known, bpy.data.scenes[scene_name], here, waits=False)
        request_fit(bpy.data.scenes[scene_name], here)
        yield None
    return known


def refit(scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    """Let mesh and motion be read anew and the body be fitted to them, beside the interface like everything else."""
    known = request_fit(scene, obj)
    known.drop()
    known.reading, known.done = None, ((), ())
    _start_timer()


def forget_fits() -> None:
    """Forget everything; threads that still work are left alone."""
    for known in _known.values():
        known.drop()
    _known.clear()
    if bpy.app.timers.is_registered(_work):
        bpy.app.timers.unregister(_work)


def _choices(asked: BodyRequest) -> Signature:
    return asked.preset, asked.gains, asked.mass_kg, tuple(sorted(asked.overrides.items()))


def _start_timer() -> None:
    if not bpy.app.timers.is_registered(_work):
        bpy.app.timers.register(_work, first_interval=_SOON_S)


def _work() -> float | None:
    """Bring on whatever is out of date; seconds until the next look, None for no more."""
    scene = bpy.context.scene
    if scene is None or not hasattr(scene, "sinew"):
        return None
    here = {obj.session_uid: obj for obj in scene.objects if obj.type == "ARMATURE"}
    waits, begun = list[float](), time.perf_counter()
    for uid, known in list(_known.items()):
        if uid not in here:
            _known.pop(uid).drop()
        elif known.work is not None or known.wanted != known.done:
            late = time.perf_counter() - begun > SLICE_S
            waits.append(_SOON_S if late else _bring_on(known, scene, here[uid]))
    return min(waits, default=None)


def _bring_on(known: FittedBody, scene: bpy.types.Scene, obj: bpy.types.Object, *, waits: bool = True) -> float:
    """Run the next slice of what is wanted; seconds until the one after it. waits: for a moment to read in."""
    if known.work is None or known.reading is None:
        if waits and (is_user_interacting() or obj.mode == "EDIT"):
            return _LATER_S
        if known.work is None or known.going[0] != known.wanted[0]:  # something else is to be read by now
            known.drop()
            known.work = TimeSlicedTask(known.steps(scene, obj))
    try:
        ended = known.work.step()
    except SinewError as error:
        known.refuse(error)
        ended = True
    except BaseException:  # a bug, which would come again
        known.refuse(SinewError("The body could not be fitted", "Look into the console"))
        known.work = None
        raise
    if ended:
        known.work = None
        redraw_viewports()
    return _SOON_S


def _edits_in(asked: BodyRequest) -> tuple[object, ...]:
    return asked.mass_kg, *sorted(asked.edits.items())


def _fitted(
    reading: FitInputs, asked: BodyRequest, python: str | None
) -> tuple[BodyModel, tuple[object, ...], BodyModel | None]:
    """On a thread: the body without what is edited by hand; and the edits, and the body with them.

    None for the last where the edits cannot be put on: whoever looks at the body is told.
    """
    choices = replace(asked, edits={}).checked()
    if choices.given is not None:
        base, _ = choices.build_given(reading.skeleton)
    elif reading.mesh is not None:  # shapes are fitted to it by what only the worker's Python has
        base = fit_in_worker(reading.skeleton, reading.clip, reading.mesh.skinned(), choices, python)
    else:
        choices.require_bones(reading.skeleton)
        base, _ = build_body(
            reading.skeleton,
            clip=reading.clip,
            overrides=choices.overrides,
            preset=choices.preset,
            gains=choices.gains,
            mass_kg=choices.mass_kg,
        )
    try:
        body = apply_edits(base, asked.edits, asked.mass_kg)
    except SinewError:
        return base, (), None
    return base, _edits_in(asked), body


@persistent
def _on_load(_path: str) -> None:
    """Another file has other datablocks, which may have the numbers of those that were."""
    forget_fits()


def register() -> None:
    """Forget what another file's bodies were like when one is loaded."""
    bpy.app.handlers.load_post.append(_on_load)


def unregister() -> None:
    """Forget everything."""
    if _on_load in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_on_load)
    forget_fits()
