# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a job's result into the scene: every character's take and every prop's motion, all of them or none.

What takes long can be done before, in slices, without a visible change: ``prepare_takes``.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...core.control.cast import attachment_name
from ...core.errors import JobError, RigError
from ...core.jobs import CastTarget, Job, Result
from ...core.motion import PropMotion, Take
from ...core.motion.io.npz import clip_from_arrays
from ...core.sim.stage_io import stage_from_arrays
from ..rig import actions, keying, sources
from ..rig.keying import KeyedAction
from ..rig.placing import key_at_place
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import WrittenAction, require_writable, write_take
from ..scene.time_slicing import Slices
from ..stage.prop_writer import write_prop
from . import take_data
from .copies import reusable_copy
from .marks import find_renamed
from .take_names import compose_name, find_free_name


@dataclass(frozen=True)
class BakedCharacter:
    """A character's part of a job's result. source: the Action that was simulated, None where there was none."""

    obj: bpy.types.Object
    take: Take
    rig: RigMotion
    name: str
    source: bpy.types.Action | None
    written: WrittenAction | None = None


@dataclass(frozen=True)
class _Loose:
    """A prop's motion, one frame a scene frame, and when the prop appeared."""

    obj: bpy.types.Object
    motion: PropMotion
    appears_s: float


@dataclass(frozen=True, eq=False)
class LoadedResult:
    """What a job made, and each character's motion as it was read, the main one's first."""

    result: Result
    rigs: tuple[RigMotion, ...]

    @classmethod
    def of(cls, job: Job) -> "LoadedResult":
        """From the job's folder. For any thread."""
        result, rigs = job.result(), []
        for number in range(1 + len(job.spec.target.cast)):
            clip = clip_from_arrays(*job.attachment(attachment_name("clip", number))) if number else job.clip()
            rigs.append(RigMotion.from_arrays(clip, *job.attachment(attachment_name("rig", number))))
        return cls(result, tuple(rigs))


@dataclass(frozen=True, eq=False)
class PreparedTakes:
    """What was prepared before takes are written. keyed: by the characters' names."""

    loaded: LoadedResult
    keyed: Mapping[str, KeyedAction] = field(default_factory=dict)

    def drop(self) -> None:
        """Leave nothing of it."""
        for one in self.keyed.values():
            keying.remove_keyed(one)


def prepare_takes(job: Job) -> Slices[PreparedTakes]:
    """Load what the job made, and key the characters' takes on Actions that nothing uses yet."""
    loaded = yield lambda: LoadedResult.of(job)
    where, keyed = job.spec.target.place, dict[str, KeyedAction]()
    ready = PreparedTakes(loaded, keyed)
    alone = len(loaded.rigs) == 1 and not loaded.result.take.props
    try:
        for number in range(len(loaded.rigs)):
            one = _characters(job, loaded, where)[number]  # found anew after each pause
            if not alone and (one.obj.parent is not None or one.obj.constraints):
                continue  # it may be carried by what is not written yet
            source = one.source or (one.obj.animation_data.action if one.obj.animation_data else None)
            words = {"name": f".{one.name}", "source": source, "where": where, "copy": reusable_copy(one.obj)}
            words["tolerance_m"] = _key_tolerance_m(job)
            name = one.obj.name
            keyed[name] = yield from key_at_place(one.obj, one.take, one.rig, **words)
    except BaseException:
        ready.drop()
        raise
    return ready


def write_stage_takes(job: Job, ready: PreparedTakes) -> tuple[BakedCharacter, ...]:
    """Write everything in the take; gives the characters, the main one first with all the rest in its ``written``.

    Looks at everything before it writes anything. The caller owns the undo step, and drops ``ready`` if this fails.
    """
    target, take = job.spec.target, ready.loaded.result.take
    where = target.place
    title = _title(job, target.armature if target.named_after == "armature" else target.action)
    characters = _characters(job, ready.loaded, where)
    rig = characters[0].rig
    things = _things(job, take, rig)
    written: dict[str, WrittenAction] = {}
    copies = {one.obj.name: reusable_copy(one.obj) for one in characters}
    objects = [one.obj for one in (*characters, *things)] + [copy for copy in copies.values() if copy is not None]
    with _all_or_nothing(objects):
        # What is carried comes after what carries it: where it stands depends on that.
        for one in sorted((*characters, *things), key=lambda one: _depth(one.obj)):
            if isinstance(one, BakedCharacter):
                before, keyed = sources.prior_animation(one.obj), ready.keyed.get(one.obj.name)
                free, tolerance_m = find_free_name(one.name, bpy.data.actions), _key_tolerance_m(job)
                words = {"name": free, "source_action": one.source, "where": where, "keyed": keyed}
                words |= {"copy": copies[one.obj.name], "tolerance_m": tolerance_m}
                made = write_take(one.obj, one.take, one.rig, **words)
                take_data.store_take_data(made.action, one.take, one.rig)
                if made.where != "COPY":
                    placed = {**sources.custom_values(one.obj, made.switches), **before.placed}
                    sources.store_prior(made.action, replace(before, action=one.source, placed=placed))
            else:
                name = find_free_name(f"{one.obj.name} {title}", bpy.data.actions)
                made = write_prop(one.obj, one.motion, rig, one.appears_s, name=name, where=where)
            if made is not None:
                written[one.obj.name] = made
    done = [replace(one, written=written[one.obj.name]) for one in characters]
    company = {
        "others": tuple(one.written for one in done[1:]),
        "props": tuple(written[thing.obj.name] for thing in things if thing.obj.name in written),
    }
    return (replace(done[0], written=replace(done[0].written, **company)), *done[1:])


def _key_tolerance_m(job: Job) -> float:
    """Metres by which a bone may be off for having fewer keys, of a method that asks for it."""
    return 0.001 * float(job.spec.settings.get("key_tolerance_mm", 0.0))


def job_context(job: Job) -> "bpy.types.ContextTempOverride":
    """The window, scene and view layer where the job's armature lives, as far as there are any."""
    windows = bpy.context.window_manager.windows
    for window in windows:
        if _is_home(window.scene, job):
            return bpy.context.temp_override(window=window)
    for scene in bpy.data.scenes:
        if _is_home(scene, job):
            # A scene that no window shows; its first view layer is as good as any.
            return bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0])
    return bpy.context.temp_override(window=windows[0]) if windows else bpy.context.temp_override()


def hidden_scene(job: Job) -> str:
    """The name of the scene with the job's armature while windows show only others; '' if it can be written to.

    Evaluating a scene that no window shows crashes Blender. Without a window, in the background, nothing is drawn and
    any scene may be evaluated.
    """
    shown = shown_scenes()
    if not shown or any(_is_home(scene, job) for scene in shown):
        return ""
    return next((scene.name for scene in bpy.data.scenes if _is_home(scene, job)), "")


def _is_home(scene: bpy.types.Scene, job: Job) -> bool:
    """Whether the job's armature is in the scene, by whatever name."""
    try:
        return find_renamed(scene, job.spec.target.armature, job.spec.target.mark) is not None
    except RigError:  # it is one of several here; who bakes will be told
        return True


def shown_scenes() -> list[bpy.types.Scene]:
    """The scenes that windows show; none in the background."""
    return [] if bpy.app.background else [window.scene for window in bpy.context.window_manager.windows]


def find_object(name: str, what: str, mark: str = "") -> bpy.types.Object:
    """The scene's object that the take is about: the one of that name, or what it is called by now."""
    obj = find_renamed(bpy.context.scene, name, mark)
    if obj is None:
        again = "Bring it back or give it its old name, and bake again"
        armatures = ", ".join(f"'{here.name}'" for here in bpy.context.scene.objects if here.type == "ARMATURE")
        if what == "armature" and armatures:
            again = f"The armatures here are: {armatures}. {again}"
        raise RigError(f"There is no {what} '{name}' in this scene, and the take moves it", again)
    return obj


def _title(job: Job, whose: str) -> str:
    """What a take is called: after whom or what, and what happened or how it was made."""
    target = job.spec.target
    return compose_name(whose, target.words) if target.words else f"{whose} {target.named or job.spec.method}"


def _characters(job: Job, loaded: LoadedResult, where: str) -> list[BakedCharacter]:
    """Whom the job is about, each found and fit to be written to."""
    target, take = job.spec.target, loaded.result.take
    cast = [CastTarget(target.armature, target.action, target.mark), *target.cast]
    if len(take.others) != len(cast) - 1:
        raise JobError(
            f"The take of '{job.spec.title}' has {len(take.others)} other characters, and the job {len(cast) - 1}",
            "Start the job again",
        )
    found = []
    for one, its, rig in zip(cast, (take, *take.others), loaded.rigs, strict=True):
        obj = find_object(one.armature, "armature", one.mark)
        if obj.type != "ARMATURE":
            raise RigError(f"'{obj.name}' is no armature any more", "Give the armature its old name")
        require_writable(obj, its.motion.skeleton.names, where)
        source = bpy.data.actions.get(one.action)
        whose = obj.name if target.named_after == "armature" else one.action or obj.name
        found.append(BakedCharacter(obj, its, rig, _title(job, whose), source))
    return found


def _things(job: Job, take: Take, rig: RigMotion) -> list[_Loose]:
    """The props, each found and fit to be written to, in scene frames."""
    if not take.props:
        return []
    appears_s = {prop.name: prop.appears_s for prop in stage_from_arrays(*job.attachment("stage")).props}
    places = np.arange(len(take.motion.resample(rig.scene_fps, end="hold"))) * take.motion.fps / rig.scene_fps
    found = []
    for prop in take.props:
        obj = find_object(prop.name, "object")
        if obj.is_editable:
            actions.require_no_tweak_mode(obj)
        found.append(_Loose(obj, prop.sample(places), appears_s.get(prop.name, 0.0)))
    return found


def _depth(obj: bpy.types.Object) -> int:
    """How many objects carry it, one on the other."""
    return 0 if obj.parent is None else 1 + _depth(obj.parent)


@contextmanager
def _all_or_nothing(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """If anything goes wrong, the objects are moved as before and nothing new is left."""
    kinds = ("actions", "objects", "armatures")
    known = {kind: {block.session_uid for block in getattr(bpy.data, kind)} for kind in kinds}
    before = [(obj, _animation(obj)) for obj in objects]
    unkept = [action for action in bpy.data.actions if not action.use_fake_user]
    try:
        yield
    except BaseException:
        for obj, animation in before:
            _put_back(obj, animation)
        for kind in kinds:
            blocks = getattr(bpy.data, kind)
            for block in [block for block in blocks if block.session_uid not in known[kind]]:
                blocks.remove(block)
        for action in unkept:
            if action.use_fake_user:  # it was about to lose its user
                action.use_fake_user = False
        raise


def _animation(obj: bpy.types.Object) -> tuple[object, str | None, int] | None:
    data = obj.animation_data
    if data is None:
        return None
    return data.action, data.action_slot.identifier if data.action_slot else None, len(data.nla_tracks)


def _put_back(obj: bpy.types.Object, animation: tuple[object, str | None, int] | None) -> None:
    data = obj.animation_data
    if data is None or not obj.is_editable:
        return
    if animation is None:
        obj.animation_data_clear()
        return
    action, slot, tracks = animation
    for track in list(data.nla_tracks)[tracks:]:
        data.nla_tracks.remove(track)
    data.action = action
    if action is not None and slot is not None:
        data.action_slot = action.slots[slot]
