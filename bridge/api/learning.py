# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs that learn, and verbs that test what was learned; ``Work.learned(file)`` keeps what comes of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.control import registry
from ...core.control.bounds.bounds import attach_keys
from ...core.control.bounds.style.style_choice import VARIANTS
from ...core.control.direct.test_method import DirectTest
from ...core.control.direct.train_method import DirectTrain
from ...core.control.graph.transitions.distances import propose_transitions
from ...core.control.graph.transitions.motion_graph import MotionGraph
from ...core.control.improvise.task_method import ImproviseTask
from ...core.control.improvise.test_method import ImproviseTest
from ...core.control.improvise.train_method import ImproviseTrain
from ...core.control.learned import Content
from ...core.control.respond.learned_file import responding_skeleton
from ...core.control.respond.test_method import RespondTest
from ...core.control.respond.train_method import RespondTrain
from ...core.control.tasks.tasks_table import get_task
from ...core.files import Attachment
from ..body.body_inputs import BodyRequest
from ..bounds import training
from ..bounds.styling import neutral_attachment, read_neutral
from ..direct.training import make_policy_job
from ..graph import learning as graph_learning
from ..graph import skills, transitions
from ..graph.skills import ReadSkill
from ..graph.transitions import plain_body_builder
from ..improvise.jobs import improvise_train_job, improviser_job
from ..jobs import requests
from ..jobs.preparing import do_at_once
from ..jobs.requests import Request
from ..methods.job_inputs import FamilyRequest
from ..rig.rig_reader import RigMotion
from .characters import Who, character
from .playing import File, read_learned
from .simulating import check_settings
from .work import Work


def learn_graph(
    who: Who = None,
    actions: Sequence[str] = (),
    *,
    propose: bool = False,
    begin_with: Path | None = None,
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Learn Actions as skills that keep their balance, linked into a graph: what Learn Skills does.

    actions: names, in place of those that are collected in the panel. propose: the best transitions as well, which are
    taken anyway where there are none. begin_with: a graph of the same skills, learned for another body.
    """
    meant = character(who)
    obj = meant.obj
    if actions:
        obj.sinew_skills.clear()
        obj.sinew_transitions.clear()
        for name in actions:
            skills.add_skill(obj, requests.find_action(name))
    found = skills.read_skills_at_once(obj, meant.scale)
    ways = transitions.graph_of(obj, found).transitions
    graph = make_motion_graph(meant.obj, found, ways, propose=propose)
    graph.require_connected()
    return learn_motion_graph(
        meant.armature,
        found,
        graph,
        begin_with=begin_with,
        body=body,
        engine=engine,
        seed=seed,
        folder=folder,
        **settings,
    )


def make_motion_graph(obj: Any, found: Sequence[ReadSkill], ways: Sequence[Any], *, propose: bool) -> MotionGraph:
    """Skills that were read, with these transitions; the best ones where there are none or where they are wanted."""
    known, ways = tuple(one.skill for one in found), tuple(ways)
    if propose or not ways:
        best = propose_transitions(plain_body_builder(obj, list(found))(), known) if len(known) > 1 else ()
        ways += tuple(way for way in best if way not in ways)
    return MotionGraph(known, ways)


def learn_motion_graph(
    armature: str,
    found: Sequence[ReadSkill],
    graph: MotionGraph,
    *,
    begin_with: Path | None = None,
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """The same of skills that were read, in a graph that is there."""
    request = graph_learning.GraphLearnRequest(
        settings=check_settings(graph_learning.METHOD, settings),
        engine=engine,
        seed=seed,
        body=body,
        known=None if begin_with is None else Path(begin_with).resolve(),
    )
    return Work(do_at_once(lambda own: graph_learning.make_learn_job(own, armature, found, graph, request, folder)))


def learn_bounds(
    who: Who = None,
    *,
    action: str = "",
    own: bool = True,
    keys: Mapping[str, Mapping[int, float]] | None = None,
    off: Sequence[str] = (),
    begin: Path | None = None,
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Practise one Action within bounds until it lasts by itself: what Train of Bounds and Style does.

    own: within the bounds on the armature; else within the preset of the settings, such as ``bounds='locomotion'``.
    keys: a bound's widths by frame, such as ``{'com z': {0: 0.2, 20: 0.05}}``. off: bounds that do not count. begin: a
    controller that has the skill already. settings: of the training, such as ``style='more_energy'``, ``minutes=5.0``.
    """
    meant = character(who)
    request = Request(
        armature=meant.armature,
        action=action,
        method=training.METHOD,
        settings=check_settings(training.METHOD, settings),
        engine=engine,
        seed=seed,
        scale=meant.scale,
        body=body,
    )
    begun = {} if begin is None else neutral_attachment(Path(begin))
    more = {**attach_keys({name: dict(one) for name, one in (keys or {}).items()}, list(off)), **begun}
    return learn_motion_bounds(request, requests.read(request), own=own, more=more, folder=folder)


def learn_motion_bounds(
    request: Request,
    rig: RigMotion,
    *,
    own: bool = True,
    more: Mapping[str, Attachment] | None = None,
    folder: Path | None = None,
) -> Work:
    """The same of a motion that was read; more: what else travels with the job."""
    asked = training.TrainRequest(request, own=own, more=more)
    return Work(do_at_once(lambda preparation: training.train_job(preparation, asked, rig, folder)))


def learn_styles(
    begin: Path,
    who: Who = None,
    styles: Sequence[str] = VARIANTS,
    *,
    action: str = "",
    off: Sequence[str] = (),
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    **settings: Any,
) -> list[Work]:
    """Practise one Action in several styles, from one controller that has the skill already: Train All Styles.

    begin: that controller. styles: such as 'more_energy'. settings: of the training.
    """
    meant = character(who)
    words = check_settings(training.METHOD, {"bounds": "style_exploration", **settings})
    request = Request(
        armature=meant.armature,
        action=action,
        method=training.METHOD,
        settings=words,
        engine=engine,
        seed=seed,
        scale=meant.scale,
        body=body,
    )
    return learn_motion_styles(request, requests.read(request), read_neutral(Path(begin)), styles, off=off)


def learn_motion_styles(
    request: Request, rig: RigMotion, neutral: Content, styles: Sequence[str], *, off: Sequence[str] = ()
) -> list[Work]:
    """The same of a motion that was read. neutral: what the controller's file holds."""
    asked = training.TrainRequest(request, own=False, more=attach_keys({}, off))
    return [Work(job) for job in do_at_once(lambda own: training.style_jobs(own, asked, rig, neutral, styles))]


def train_director(
    library: File,
    *,
    begin: File | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Let a library practise until it keeps its feet wherever it is directed: Train of Direct.

    library: one that was trained is gone on with. begin: another character's trained library. settings: such as
    ``minutes=30.0``.
    """
    learned = read_learned("direct", library)
    other = None if begin is None else read_learned("direct", begin)
    request = FamilyRequest("", check_settings(DirectTrain.name, settings), engine, seed)
    method = registry.get_method(DirectTrain.name)
    return Work(make_policy_job(method, request, learned, folder=folder, begin=other))


def measure_director(
    library: File, *, engine: str = "auto", seed: int = 0, folder: Path | None = None, **settings: Any
) -> Work:
    """Direct a trained library at random, and measure how often it falls and how it follows; see ``Work.report``."""
    request = FamilyRequest("", check_settings(DirectTest.name, settings), engine, seed)
    learned = read_learned("direct", library)
    return Work(make_policy_job(registry.get_method(DirectTest.name), request, learned, folder=folder))


def train_responder(library: File, *, seed: int = 0, folder: Path | None = None, **settings: Any) -> Work:
    """Teach a student to do a library's deeds in a given time without the library: Train of Respond."""
    return _about_responses(RespondTrain.name, library, "auto", seed, folder, settings)


def measure_responder(
    library: File, *, engine: str = "auto", seed: int = 0, folder: Path | None = None, **settings: Any
) -> Work:
    """Ask a library for deeds at random, and measure how many are on time; see ``Work.report``."""
    return _about_responses(RespondTest.name, library, engine, seed, folder, settings)


def _about_responses(
    name: str, library: File, engine: str, seed: int, folder: Path | None, settings: dict[str, Any]
) -> Work:
    learned = read_learned("respond", library)
    request = FamilyRequest("", check_settings(name, settings), engine, seed)
    skeleton = responding_skeleton(learned.model)
    return Work(make_policy_job(registry.get_method(name), request, learned, folder=folder, skeleton=skeleton))


def train_improviser(
    library: File, *, engine: str = "auto", seed: int = 0, folder: Path | None = None, **settings: Any
) -> Work:
    """Learn from a library to move like it, without being told anything: Train of Improvise."""
    request = FamilyRequest("", check_settings(ImproviseTrain.name, settings), engine, seed)
    library = read_learned("direct", library)
    return Work(improvise_train_job(registry.get_method(ImproviseTrain.name), request, library, folder=folder))


def learn_task(
    task: str, improviser: File, *, engine: str = "auto", seed: int = 0, folder: Path | None = None, **settings: Any
) -> Work:
    """Let what improvises learn to do something, such as to go to points: what Learn Task does.

    sigma: how far it may leave its style; without, as far as the task asks for.
    """
    asked = {"sigma": get_task(task).sigma_rad, **settings, "task": task}
    request = FamilyRequest("", check_settings(ImproviseTask.name, asked), engine, seed)
    learned = read_learned("improvise", improviser)
    return Work(improviser_job(registry.get_method(ImproviseTask.name), request, learned, folder=folder))


def measure_improviser(
    improviser: File, *, engine: str = "auto", seed: int = 0, folder: Path | None = None, **settings: Any
) -> Work:
    """Let characters improvise, and measure how long they stay up and what they show; see ``Work.report``."""
    request = FamilyRequest("", check_settings(ImproviseTest.name, settings), engine, seed)
    learned = read_learned("improvise", improviser)
    return Work(improviser_job(registry.get_method(ImproviseTest.name), request, learned, folder=folder))
