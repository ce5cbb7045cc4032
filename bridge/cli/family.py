# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb of a family of methods, from what it declares: ``sinew FAMILY learn|bake|test|show``.

Families with words of their own (skills, bounds) have a package here instead, whose verbs run jobs in the same way.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ...core import jobs
from ...core.control.method import Method, Product, Source
from ...core.control.registry import Family
from ...core.errors import BadSettings
from ..api.characters import character
from ..api.families import learn_family, play_family
from ..api.registering import registered
from ..importing.importers import open_input
from ..learned.learned_file import learned_file
from .bodies import add_body, body_of
from .job_arguments import add_engine, add_job_folder, add_seed, add_settings
from .lines import indented, path_argument, say, say_json
from .outputs import add_outputs, preview_view, require_outputs, write_report
from .running import bake_take, render_take, run_job, summarize
from .subverbs import run_subverb
from .verb import Verb


def _add_arguments(parser: argparse.ArgumentParser, family: Family) -> None:
    """Declare the verbs below the family's."""
    verbs = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for product in Product:
        method = family.method(product)
        if method is None:
            continue
        help = method.help[:1].lower() + method.help[1:]
        verb = verbs.add_parser(method.name.removeprefix(f"{family.name}_"), help=help, description=f"{method.help}.")
        _add_common(verb, method)
        verb.set_defaults(do=partial(_learn if product is Product.LEARNED_FILE else _play, family, method))
    kind = family.learned
    show = verbs.add_parser("show", help=f"print what is in a {kind.label} file")
    show.add_argument("file", type=path_argument, metavar=f"FILE{kind.ending}")
    show.set_defaults(do=partial(_show, family))


VERB = Verb(_add_arguments, run_subverb)


def _add_common(parser: argparse.ArgumentParser, method: Method) -> None:
    """What every method is asked with: inputs by what it takes, its settings, and where results go."""
    add, kind = parser.add_argument, method.learned
    assert kind is not None
    if method.takes is Source.LEARNED_FILE:
        add("file", type=path_argument, metavar=f"FILE{kind.ending}", help="what was learned")
    add("input", nargs="?", metavar="INPUT", help="a .blend, a motion file or a stock clip's name; or the open scene")
    add("--armature", default="", metavar="NAME", help="which armature, where there are several")
    if method.takes in (Source.CLIPS, Source.LIBRARY):
        add(
            "--action",
            action="append",
            default=[],
            metavar="NAME",
            help="learn from this Action; repeatable, * fits all",
        )
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the input (default 1)")
    add_engine(parser)
    add_seed(parser, "result")
    names = ", ".join(method.settings_type.field_names()) or "it has none"
    add_settings(parser, f"of these: {names}")
    if method.uses_engine:
        add_body(parser)
    if Product.LEARNED_FILE in method.makes:
        add_outputs(parser, f"FILE{kind.ending}", f"the {kind.label} file to write")
    else:
        add_outputs(parser)
    add_job_folder(parser)


def _opened(arguments: argparse.Namespace) -> float:
    """Open what was given; metres a unit that are left to be taken into account."""
    if arguments.input:
        return open_input(arguments.input, arguments.scale)
    if not bpy.context.scene.objects:
        raise BadSettings(
            "There is no scene", "Give a .blend, a motion file or a stock clip's name (see 'sinew clips')"
        )
    return float(arguments.scale)


def _words(arguments: argparse.Namespace, method: Method, scale: float) -> dict[str, Any]:
    return {
        "who": character(arguments.armature, scale=scale),
        "engine": arguments.engine,
        "seed": arguments.seed,
        "body": body_of(arguments) if method.uses_engine else None,
        "folder": arguments.job_dir,
        **method.settings_type.from_texts(arguments.set).to_mapping(),
    }


def _learn(family: Family, method: Method, arguments: argparse.Namespace) -> int:
    """Open, learn in a worker, write the learned file, and say what is in it."""
    file = learned_file(family.name)
    if arguments.out is None:
        raise BadSettings(f"There is no place for the {file.kind.label}", f"Give --out FILE{file.kind.ending}")
    method.settings_type.from_texts(arguments.set)
    require_outputs(arguments, Path(f"x{file.kind.ending}").suffix)
    with registered():
        words = _words(arguments, method, _opened(arguments))
        actions = tuple(getattr(arguments, "action", ()))
        job = learn_family(family.name, actions=actions, **words).job
        if code := run_job(arguments, job, input=arguments.input):
            return code
        arguments.learned, arguments.out = arguments.out, None  # it is the job that writes it
        files = {file.kind.name: arguments.learned.resolve()}
        report, written = bake_take(arguments, job, files, input=arguments.input, out=str(arguments.learned))
        render_take(arguments, report, written, preview_view(arguments.input))
    model = file.read_file(arguments.learned.resolve()).model
    say(*indented(f"{arguments.learned}: learned in {report['wall_s']:.0f} s", file.kind.describe(model)))
    return 0


def _play(family: Family, method: Method, arguments: argparse.Namespace) -> int:
    """Open, bake or test in a worker, and say what came of it."""
    require_outputs(arguments)
    learned = learned_file(family.name).read_file(arguments.file.resolve())
    with registered():
        is_test = method.makes == (Product.REPORT,)
        job = play_family(family.name, learned, test=is_test, **_words(arguments, method, _opened(arguments))).job
        if code := run_job(arguments, job, input=arguments.input):
            return code
        if method.makes == (Product.REPORT,):
            return _report(arguments, job)
        report, written = bake_take(arguments, job, file=str(arguments.file), input=arguments.input)
        render_take(arguments, report, written, preview_view(arguments.input))
        say(*summarize(report))
    return 0


def _report(arguments: argparse.Namespace, job: jobs.Job) -> int:
    report = job.report()
    write_report(arguments, report)
    say_json(report.get("test", report))
    return 0


def _show(family: Family, arguments: argparse.Namespace) -> int:
    """Print what is in a file."""
    file = learned_file(family.name)
    say(*file.kind.describe(file.read_file(arguments.file.resolve()).model))
    return 0
