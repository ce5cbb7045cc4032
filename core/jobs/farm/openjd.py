# SPDX-License-Identifier: GPL-3.0-or-later
"""An order as an Open Job Description: a job template of the revision 2023-09.

A template is full of format strings, ``{{Param.Name}}``, and has no way to write two braces that mean themselves. So
nothing of a scene stands in one: it is the default value of a parameter, which is put in and never read again.
"""

from typing import Any

from ...errors import BadSettings
from ...files import encode_json
from .order import MOST_TAKES, RESULTS_NAME, SCENE_NAME, FarmOrder, write_frame_list

FILE_NAME = "template.json"
VERSION = "jobtemplate-2023-09"

_LARGEST_INT = 2**63 - 1
# A take that is cancelled keeps a checkpoint and ends its worker.
_CANCELLATION = {"mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": 60}
_TAKE = {"name": "Take", "type": "INT", "range": "1-{{Param.Takes}}"}
_MERGE_WORDS = (
    "farm",
    "merge",
    "--takes={{Param.Takes}}",
    "--into={{Param.Results}}/takes.blend",
    "{{Param.Results}}/takes",
)
_RENDER_WORDS = (
    "-b",
    "{{Param.Results}}/takes/{{Task.Param.Take}}.blend",
    "-o",
    "{{Param.Results}}/frames/{{Task.Param.Take}}-####",
    "-f",
    "{{Task.Param.Frame}}",
)


def encode_template(order: FarmOrder) -> bytes:
    """The template as a JSON file."""
    return encode_json(make_template(order))


def make_template(order: FarmOrder) -> dict[str, Any]:
    """Steps of takes, of their merging and of rendering, each after the one before; paths are beside the template."""
    if order.seed > _LARGEST_INT:
        raise BadSettings(f"The seed is {order.seed}", f"Open Job Description takes seeds up to {_LARGEST_INT}")
    steps = [_step("Takes", _sinew(order, *_take_words(order)), parameters=[_TAKE])]
    steps.append(_step("Merge", _sinew(order, *_MERGE_WORDS), after="Takes"))
    if order.frames:
        frame = {"name": "Frame", "type": "INT", "range": "{{Param.RenderFrames}}"}
        steps.append(_step("Render", list(_RENDER_WORDS), after="Merge", parameters=[_TAKE, frame]))
    return {
        "specificationVersion": VERSION,
        "name": "{{Param.JobName}}",
        "description": "Takes of a scene by Sinew, merged into one .blend, and frames of each.",
        "parameterDefinitions": _parameters(order),
        "steps": steps,
    }


def _take_words(order: FarmOrder) -> list[str]:
    """What makes one take. Values are joined to their options: one that begins with a dash is none itself."""
    words = ["farm", "take", "{{Task.Param.Take}}", "--takes={{Param.Takes}}", "--results={{Param.Results}}"]
    words += [f"--{option.name}={{{{Param.{_name(option.key)}}}}}" for option in order.numbered_options]
    return [*words, "--seed={{Param.Seed}}"]


def _sinew(order: FarmOrder, *words: str) -> list[str]:
    """Blender's arguments that run a verb of Sinew in the scene."""
    enabled = ["--addons", "{{Param.Addon}}"] if order.addon else []
    return [*enabled, "-b", "{{Param.Scene}}", "-c", "sinew", *words]


def _step(name: str, args: list[str], *, after: str = "", parameters: list[dict[str, Any]] | None = None) -> Any:
    step: dict[str, Any] = {"name": name}
    if after:
        step["dependencies"] = [{"dependsOn": after}]
    if parameters:
        step["parameterSpace"] = {"taskParameterDefinitions": parameters}
    action = {"command": "{{Param.Blender}}", "args": args, "cancelation": _CANCELLATION}
    step["script"] = {"actions": {"onRun": action}}
    return step


def _parameters(order: FarmOrder) -> list[dict[str, Any]]:
    """Everything that is not the same for every order, with what this one says as default."""
    found = [
        _text("JobName", order.short_title, "What the job is called"),
        _path("Scene", "FILE", "IN", SCENE_NAME, "The scene that is simulated"),
        _path("Results", "DIRECTORY", "OUT", RESULTS_NAME, "Where takes, the merged .blend and frames are written"),
        _text("Blender", order.blender or "blender", "Blender on the nodes, with Sinew installed"),
        _number("Takes", order.takes, "How many takes", minValue=1, maxValue=MOST_TAKES),
        _number("Seed", order.seed, "Same seed, same takes", minValue=0, maxValue=_LARGEST_INT),
    ]
    if order.addon:
        found.append(_text("Addon", order.addon, "The module of Sinew that Blender is to enable"))
    for option in order.numbered_options:
        found.append(_text(_name(option.key), option.value, f"--{option.name} of sinew simulate"))
    if order.frames:
        found.append(_text("RenderFrames", write_frame_list(order.frames), "Frames of every take to render"))
    return found


def _text(name: str, default: str, about: str) -> dict[str, Any]:
    return {"name": name, "type": "STRING", "default": default, "description": about}


def _number(name: str, default: int, about: str, **limits: int) -> dict[str, Any]:
    return {"name": name, "type": "INT", "default": default, **limits, "description": about}


def _path(name: str, kind: str, flow: str, default: str, about: str) -> dict[str, Any]:
    about_it = {"objectType": kind, "dataFlow": flow, "default": default, "description": about}
    return {"name": name, "type": "PATH", **about_it}


def _name(key: str) -> str:
    """``set_2`` -> ``Set2``."""
    return "".join(part.title() for part in key.split("_"))
