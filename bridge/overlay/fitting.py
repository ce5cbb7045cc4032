# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies as a job would make them, fitted beside the interface and kept until something they depend on changes.

The scene is read on a timer, never while it is drawn; the body is then fitted on a thread of its own, which knows
nothing of Blender, and to a mesh by a process on the worker's Python. What is edited by hand is put on top at once.
Nothing here holds a datablock: undo and file loading may replace any of them.
"""

import threading
from dataclasses import dataclass, field, replace

import bpy

from ...core.body import BodyModel
from ...core.body.build import build_body
from ...core.body.edits import edited
from ...core.errors import SinewError
from ...core.jobs.body_fitting import fit_elsewhere
from .. import preferences
from ..bodies import BodyRequest, asked_of
from . import changes
from .parts import BodyParts
from .properties import redraw
from .reading import Reading, Signature, is_busy, read, signature_of

_SOON_S, _LATER_S = 0.05, 0.5


@dataclass(eq=False)
class Fitted:
    """What is known of one armature's body.

    base: as fitted, without edits; body and parts: with them. problem: why there is none, to be shown to people.
    bones: of the armature when it was fitted. seen: how it stood when it was last looked at, see ``look_quickly``.
    wanted, going, done: what it should be fitted to, what a thread fits it to now, and what it was fitted to.
    """

    wanted: tuple[Signature, Signature] = ((), ())
    done: tuple[Signature, Signature] = ((), ())
    reading: Reading | None = None
    base: BodyModel | None = None
    body: BodyModel | None = None
    parts: BodyParts | None = None
    problem: SinewError | None = None
    bones: object = None
    edits: tuple[object, ...] = ()
    seen: tuple[object, ...] = ()
    thread: threading.Thread | None = None
    going: tuple[Signature, Signature] = ((), ())
    _made: list[BodyModel | SinewError] = field(default_factory=list)

    def start(self, asked: BodyRequest) -> None:
        """Fit on a thread; ``finish`` takes what it made."""
        reading, made = self.reading, list[BodyModel | SinewError]()
        assert reading is not None
        self._made = made
        given = reading, asked, preferences.worker_python(), made
        self.thread = threading.Thread(target=_fit, args=given, daemon=True, name="sinew body")
        self.thread.start()

    def finish(self) -> None:
        """Take over what the thread has made of it."""
        self.thread = None
        found = self._made[0] if self._made else SinewError("The body could not be fitted", "Look into the console")
        self.done, self.bones, self.body = self.going, self.going[0][0], None
        if isinstance(found, SinewError):
            self._fail(found)
        else:
            self.base, self.problem = found, None

    def refuse(self, problem: SinewError) -> None:
        """Note why there is no body for what was wanted."""
        self.done = self.wanted
        self._fail(problem)

    def _fail(self, problem: SinewError) -> None:
        self.problem, self.base, self.body, self.parts = problem, None, None, None

    def put_on(self, asked: BodyRequest) -> None:
        """Let the body be as it is edited by hand now."""
        if self.base is None:
            return
        edits = (asked.mass_kg, *sorted(asked.edits.items()))
        if self.body is not None and edits == self.edits:
            return
        self.edits = edits
        try:
            self.body = edited(self.base, asked.edits, asked.mass_kg)
            self.problem = None
        except SinewError as error:
            self.body, self.problem = self.base, error
        self.parts = BodyParts(self.body)


_known: dict[int, Fitted] = {}


def look(scene: bpy.types.Scene, obj: bpy.types.Object) -> Fitted:
    """What is known of the armature's body now; what is out of date is fitted soon. Cheap enough for every redraw."""
    known = _known.setdefault(obj.session_uid, Fitted())
    asked = asked_of(obj)
    known.wanted = signature_of(scene, obj), _choices(asked)
    if known.wanted != known.done:
        _start_timer()
    if known.bones != known.wanted[0][0]:
        known.body = known.parts = None  # of other bones than there are now
    else:
        known.put_on(asked)
    return known


def look_quickly(scene: bpy.types.Scene, obj: bpy.types.Object, metres: float) -> Fitted:
    """``look`` for every redraw: it is left out where nothing that it asks for can have changed since the last time.

    What Blender tells of once it has evaluated a change, such as of bones and scale, counts from then on.
    """
    known, own, chosen = _known.get(obj.session_uid), obj.sinew_body, scene.sinew
    now = (
        *(changes.number(), metres, own.preset, own.gains, own.mass_kg, own.use_mesh, len(own.overrides)),
        *(uid_of(chosen.armature), uid_of(chosen.action), uid_of(obj.animation_data and obj.animation_data.action)),
    )
    if known is None or known.seen != now or len(own.overrides) or known.wanted != known.done:
        known = look(scene, obj)
        known.seen = now
    return known


def uid_of(block: bpy.types.ID | None) -> int:
    """The number of a datablock in this session; 0 for none."""
    return block.session_uid if block is not None else 0


def seen(obj: bpy.types.Object) -> Fitted | None:
    """What is known of the armature's body, without any work; for panels."""
    return _known.get(obj.session_uid)


def fit_now(scene: bpy.types.Scene, obj: bpy.types.Object, *, again: bool = False) -> Fitted:
    """The armature's body, fitted here and now if need be; its ``problem`` says why there is none.

    again: read mesh and motion anew, whatever is known of them.
    """
    known = look(scene, obj)
    if again:
        known.done = ((), ())
    if known.wanted != known.done:
        if known.thread is not None:
            known.thread.join()
            known.thread = None
        if _read(known, scene, obj):
            known.start(asked_of(obj))
            assert known.thread is not None
            known.thread.join()
            known.finish()
        look(scene, obj)
        redraw()
    return known


def fit_again(scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    """Let mesh and motion be read anew and the body be fitted to them, beside the interface like everything else."""
    known = look(scene, obj)
    known.thread, known.reading, known.done = None, None, ((), ())  # a thread that still works is left alone
    _start_timer()


def clear() -> None:
    """Forget everything; threads that still work are left alone."""
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
    if scene is None or not hasattr(scene, "sinew_overlay"):
        return None
    here = {obj.session_uid: obj for obj in scene.objects if obj.type == "ARMATURE"}
    wait: float | None = None
    for uid, known in list(_known.items()):
        if uid not in here:
            del _known[uid]
        elif known.thread is not None:
            if known.thread.is_alive():
                wait = _SOON_S
            else:
                known.finish()
                redraw()
        elif known.wanted != known.done:
            wait = _LATER_S if not _begin(known, scene, here[uid]) else _SOON_S
    return wait


def _begin(known: Fitted, scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Start to fit what is wanted; false if it has to wait."""
    if is_busy() or obj.mode == "EDIT":
        return False
    if _read(known, scene, obj):
        known.start(asked_of(obj))
    redraw()
    return True


def _read(known: Fitted, scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """See to it that motion and mesh are read; false if they cannot be."""
    known.going = known.wanted
    if known.reading is not None and known.wanted[0] == known.done[0] and known.base is not None:
        return True
    try:
        known.reading = read(scene, obj)
    except SinewError as error:
        known.refuse(error)
        return False
    return True


def _fit(reading: Reading, asked: BodyRequest, python: str | None, made: list[BodyModel | SinewError]) -> None:
    """On a thread: the body without what is edited by hand. A bug leaves its traceback in the console."""
    try:
        choices = replace(asked, edits={}).checked()
        if reading.mesh is not None:  # shapes are fitted to it by what only the worker's Python has
            made.append(fit_elsewhere(reading.skeleton, reading.clip, reading.mesh.skinned(), choices, python))
            return
        choices.require_bones(reading.skeleton)
        body, _ = build_body(
            reading.skeleton,
            clip=reading.clip,
            overrides=choices.overrides,
            preset=choices.preset,
            gains=choices.gains,
            mass_kg=choices.mass_kg,
        )
        made.append(body)
    except SinewError as error:
        made.append(error)
