# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about one Action: simulate it, vary it, edit its key moments, and do again what was done to it live."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core import jobs
from ...core.control import registry
from ...core.control.editing.retime_method import RetimeSettings
from ...core.control.live.commands import LiveRecording, read_recording
from ...core.control.live.method import LiveSettings
from ...core.errors import BadMotion
from ...core.motion.inspection import inspect_clip
from ...core.sim.variations import VariationSettings
from ..body.body_inputs import BodyRequest
from ..jobs import batches, requests
from ..jobs.preparing import do_at_once
from ..jobs.requests import Request
from ..learned.learned_file import Learned
from ..live.recipes import METHOD as LIVE
from ..live.recipes import live_job
from ..retime.moments import METHOD as RETIME
from ..retime.moments import KeyMoment, RetimeRequest
from ..retime.recipes import retime_job
from ..rig.rig_reader import RigMotion
from .characters import Who, character
from .one_push import OnePush, create_pushed_job, parse_push
from .work import Work


def simulate(
    who: Who = None,
    *,
    action: str = "",
    pushes: Sequence[str | OnePush] = (),
    frames: tuple[int, int] | None = None,
    fade_s: float | None = None,
    cycles: int = 1,
    muscle: Sequence[tuple[float, float]] | None = None,
    body: BodyRequest | None = None,
    place: str = "auto",
    method: str = "",
    engine: str = "auto",
    seed: int = 0,
    true_fps: float | None = None,
    anyway: bool = False,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Give an Action a body: what the button Simulate Selected Action does.

    action: its name, '' for what moves the character now. pushes: on the trunk, besides those on the stage, such as
    '200@1.5:left' for newtons at seconds from a side, or 'stagger@1.5'. frames: first and last; fade_s: seconds to
    blend them into the rest of the Action, which is then kept. cycles: how often a cyclic Action is played.
    muscle: (frame, 0 to 1) keys. place: auto, action, nla, copy or controls. anyway: also what no body can do.
    folder: for the job, to go on in after a kill. settings: of the method, such as ``quality='high'``.
    """
    meant = character(who)
    method = method or registry.default_method_name()
    request = Request(
        armature=meant.armature,
        action=action,
        method=method,
        settings=check_settings(method, settings),
        engine=engine,
        seed=seed,
        frames=frames,
        fade_s=fade_s,
        true_fps=true_fps,
        scale=meant.scale,
        cycles=cycles,
        place=place.upper(),
        body=body,
        muscle=None if muscle is None else tuple(muscle),
    )
    rig = requests.read(request)
    if not anyway:
        require_possible(rig)
    return simulate_motion(request, rig, [parse_push(one) if isinstance(one, str) else one for one in pushes], folder)


def simulate_motion(
    request: Request, rig: RigMotion, pushes: Sequence[OnePush] = (), folder: Path | None = None
) -> Work:
    """The same of a motion that was read, on the stage of the scene and with these pushes besides."""
    return Work(create_pushed_job(request, rig, pushes, folder))


def require_possible(rig: RigMotion) -> None:
    """Refuse a motion that no body can do, such as of somebody 60 m tall."""
    for finding in inspect_clip(rig.clip):
        if finding.is_impossible:
            raise BadMotion(f"{finding.message.rstrip('.')}. It was not simulated", finding.hint)


def vary(
    who: Who = None,
    count: int = 20,
    *,
    pushes: tuple[float, float] = (0.0, 0.0),
    action: str = "",
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    vary: dict[str, Any] | None = None,
    **settings: Any,
) -> list[Work]:
    """Simulate one Action so many times, each with a seed of its own: what the panel Variations does.

    pushes: the least and the most newtons; each take is pushed once. folder: for a numbered folder of each. vary: what
    else may differ, such as ``{'mass': 0.1, 'friction': 0.5}``. settings: of the method.
    """
    meant = character(who)
    method = registry.default_method_name()
    wanted = VariationSettings.from_mapping(
        {"count": count, "least_n": pushes[0], "most_n": pushes[1], **(vary or {})}  # in the panel's words
    )
    request = Request(
        armature=meant.armature,
        action=action,
        method=method,
        settings=check_settings(method, settings),
        engine=engine,
        seed=seed,
        scale=meant.scale,
        body=body,
    )
    batch = batches.plan(request, requests.read(request), wanted)
    digits = len(str(count))
    return [
        Work(batch.create(one, None if folder is None else Path(folder) / f"{one.number:0{digits}d}"))
        for one in batch.variations
    ]


def retime(
    who: Who = None,
    frame: int | None = None,
    *,
    at: int | None = None,
    place: tuple[float, float] | None = None,
    heading_deg: float | None = None,
    reach: tuple[str, tuple[float, float, float]] | None = None,
    also: Sequence[KeyMoment] = (),
    action: str = "",
    true_fps: float | None = None,
    result: str = "auto",
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Let a key moment of an Action be when, where and as it is wanted, without physics: Retime and Reach.

    frame: of the Action, with the key moment. at: the frame at which it is to happen. place: metres on the ground where
    the hips are then. heading_deg: which way they face, about Z from +X. reach: a hand's or foot's bone, and the point
    in metres where it is then. also: further key moments. result: where it goes, as ``place`` elsewhere.
    settings: of the method, such as ``slowest=0.7``.
    """
    meant = character(who)
    bone, point = reach or ("", None)
    heading = None if heading_deg is None else math.radians(heading_deg)
    moments = list(also)
    if frame is not None:
        moments.insert(0, KeyMoment(frame, at, place, heading, bone, point))
    source = Request(
        armature=meant.armature,
        action=action,
        method=RETIME,
        settings=RetimeSettings.from_mapping(settings).to_mapping(),
        true_fps=true_fps,
        scale=meant.scale,
        place=result.upper(),
    )
    request = RetimeRequest(source, tuple(moments))
    return Work(do_at_once(lambda own: retime_job(own, request, folder)))


def replay_live(
    recording: LiveRecording | str | Path,
    who: Who = None,
    *,
    learned: Learned | None = None,
    action: str = "",
    body: BodyRequest | None = None,
    engine: str = "auto",
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Do again what was done to a live character, and make a take of it: the same commands, the same bits.

    recording: as a session wrote it, a line of JSON for each. learned: what was live instead of the Action.
    """
    told = recording if isinstance(recording, LiveRecording) else read_recording(Path(recording))
    meant = character(who)
    request = Request(
        armature=meant.armature,
        action=action,
        method=LIVE,
        settings=LiveSettings.from_mapping(settings).to_mapping(),
        engine=engine,
        seed=told.seed,
        scale=meant.scale,
        body=body,
    )
    return Work(do_at_once(lambda own: live_job(own, request, told, folder, learned)))


def check_settings(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """All settings of a method, with these among them; a name or a value that cannot be is refused."""
    return dict(registry.get_method(method).settings_type.from_mapping(settings).to_mapping())


def resume(job: str | Path | jobs.Job) -> Work:
    """A job that was made before, by its folder: to go on with it, or to bake it in the scene that is open now."""
    return Work(job if isinstance(job, jobs.Job) else jobs.open_job(Path(job)))
