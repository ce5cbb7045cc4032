# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph learn``: from clips, or what was collected in a .blend, to a graph file."""

import argparse
from pathlib import Path

import bpy

from ....core import jobs
from ....core.control import registry
from ....core.control.graph.learned_file import GRAPH
from ....core.control.graph.transitions.distance_image import write_distance_image
from ....core.control.graph.transitions.motion_graph import MotionGraph
from ....core.errors import BadSettings
from ...api.graph_inputs import Choices, choices_of, open_blend, open_files
from ...api.learning import learn_motion_graph, make_motion_graph
from ...api.registering import registered
from ...api.work import bake_result
from ...graph import learning
from ...graph.figures import figures_of, number_texts
from ...graph.skills import ReadSkill
from ...graph.transitions import plain_body_builder
from ...learned.learned_file import learned_file
from ..bodies import add_body, body_of
from ..job_arguments import add_engine, add_job_folder, add_seed, add_settings
from ..lines import path_argument, say, say_aside
from ..outputs import add_outputs, preview_view, rendered, require_outputs, write_report
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add(
        "inputs",
        nargs="*",
        metavar="INPUT",
        help="stock clips' names (see 'clips') and motion files, one a skill; or one .blend with the skills collected; "
        "inside Blender it may be left out for the open scene",
    )
    add("--armature", default="", metavar="NAME", help="which armature of the .blend, where there are several")
    add("--action", action="append", default=[], metavar="NAME", help="an Action of the .blend as a skill; repeatable")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the inputs (default 1)")
    add("--kind", action="append", default=[], metavar="NAME=KIND", help="cycle, once or rise; repeatable")
    add("--gait", action="append", default=[], metavar="NAME[=no]", help="a symmetric walk or run, or not; repeatable")
    add(
        "--transition",
        action="append",
        default=[],
        metavar="A@S>B@S",
        help="a way from skill to skill, in seconds of both, such as 'walk@0.4>run@0.1'; repeatable. "
        "Without any, those of the .blend or the best ones are taken",
    )
    add("--propose", action="store_true", help="the best transitions besides those that are given")
    add("--begin-with", type=path_argument, metavar="GRAPH.npz", help="the same skills, learned for another body")
    add_engine(parser)
    add_seed(parser, "graph")
    add_settings(parser, "of learning")
    add_body(parser)
    add_outputs(parser, "GRAPH.npz", "the graph file to write")
    add("--picture", type=path_argument, metavar="FILE.png", help="how far the skills' moments are from each other")
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, learn in a worker, and write what was asked for."""
    if arguments.out is None:
        raise BadSettings("There is no place for the graph", "Give --out GRAPH.npz")
    settings = registry.get_method(learning.METHOD).settings_type.from_texts(arguments.set)
    choices = choices_of(arguments.kind, arguments.gait, arguments.transition)
    body = body_of(arguments)
    require_outputs(arguments, ".npz")
    with registered():
        obj, skills, graph = _opened(arguments, choices)
        graph.require_connected()
        _say(graph)
        if arguments.picture:
            write_distance_image(arguments.picture.resolve(), plain_body_builder(obj, skills)(), graph)
        job = learn_motion_graph(
            obj.name,
            skills,
            graph,
            begin_with=arguments.begin_with,
            body=body,
            engine=arguments.engine,
            seed=arguments.seed,
            folder=arguments.job_dir,
            **settings.to_mapping(),
        ).job
        if code := run_job(arguments, job, inputs=arguments.inputs):
            return code
        _finish(arguments, job)
    return 0


def _opened(arguments: argparse.Namespace, choices: Choices) -> tuple[bpy.types.Object, list[ReadSkill], MotionGraph]:
    """What is to be learned, with its transitions."""
    blends = [text for text in arguments.inputs if Path(text).suffix.lower() == ".blend"]
    if blends and len(arguments.inputs) > 1:
        raise BadSettings(f"'{blends[0]}' is a .blend and not alone", "Give one .blend, or clips by name or file")
    ways = choices.ways
    if blends or not arguments.inputs:
        text = blends[0] if blends else ""
        obj, skills, kept = open_blend(text, arguments.armature, arguments.action, arguments.scale, choices)
        ways = ways or kept
    else:
        if arguments.action or arguments.armature:
            raise BadSettings("--action and --armature are about a .blend", "Leave them out, or give a .blend")
        obj, skills = open_files(arguments.inputs, arguments.scale, choices)
    return obj, skills, make_motion_graph(obj, skills, ways, propose=arguments.propose)


def _say(graph: MotionGraph) -> None:
    for skill in graph.skills:
        say_aside(f"{skill.name}: {skill.duration_s:.2f} s, {'gait' if skill.gait else skill.kind}")
    for way in graph.transitions:
        say_aside(f"{way}")


def _finish(arguments: argparse.Namespace, job: jobs.Job) -> None:
    """Write the graph, show the walk, and say what was learned."""
    take = bake_result(job, {GRAPH.name: arguments.out.resolve()})
    graph = learned_file("graph").read_file(arguments.out.resolve()).model
    report = {**take.report, "inputs": arguments.inputs, "out": str(arguments.out)}
    report["preview"] = [
        str(path) for path in rendered(arguments, take.written, view=preview_view(next(iter(arguments.inputs), None)))
    ]
    write_report(arguments, report)
    count = len(graph.skills)
    say(f"{arguments.out}: {count} skill{'' if count == 1 else 's'} learned in {report['wall_s']:.0f} s")
    for one in figures_of(graph):
        say("  ".join([f"  {one.name:<16}", f"{one.duration_s:5.1f} s", *number_texts(one.numbers)]))


VERB = Verb(_add_arguments, _run)
