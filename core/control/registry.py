# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of methods: a new one is a row here, and all that shows it follows from what it declares."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from ..errors import UnknownMethod
from .learned import LearnedKind
from .live_character import OpenLive
from .method import Method, Product

# name -> module and class; imported on demand so that listing methods costs nothing.
_METHODS = {
    "passthrough": ".passthrough:Passthrough",
    "sampling": ".sampling.method:SamplingMethod",
    "travel": ".travel:TravelMethod",
    "retime": ".editing.retime_method:RetimeMethod",
    "live": ".live.method:LiveMethod",
    "graph_learn": ".graph.learn_method:GraphLearn",
    "graph_bake": ".graph.bake_method:GraphBake",
    "graph_test": ".graph.test_method:GraphTest",
    "bounds_train": ".bounds.train_method:BoundsTrain",
    "bounds_bake": ".bounds.bake_method:BoundsBake",
    "bounds_test": ".bounds.test_method:BoundsTest",
    "direct_train": ".direct.train_method:DirectTrain",
    "direct_bake": ".direct.bake_method:DirectBake",
    "direct_test": ".direct.test_method:DirectTest",
    "respond_train": ".respond.train_method:RespondTrain",
    "respond_bake": ".respond.bake_method:RespondBake",
    "respond_test": ".respond.test_method:RespondTest",
    "improvise_train": ".improvise.train_method:ImproviseTrain",
    "improvise_bake": ".improvise.bake_method:ImproviseBake",
    "improvise_test": ".improvise.test_method:ImproviseTest",
    "improvise_task": ".improvise.task_method:ImproviseTask",
    "medley_learn": ".medley.methods:MedleyLearn",
    "medley_bake": ".medley.methods:MedleyBake",
}
_DEFAULT = "sampling"
# What can be live -> module and function: the Action itself, and families' learned files by the family's name.
_LIVE = {
    "action": ".sampling.live_character:open_clips",
    "direct": ".direct.live_character:open_directed",
    "graph": ".graph.live_character:open_graph",
    "bounds": ".bounds.live_character:open_controller",
    "improvise": ".improvise.live_character:open_improviser",
}
# Methods that are asked for more than settings can say, by a button and a verb of their own: no menu offers them.
_HAS_OWN_VERB = ("retime", "live")


@dataclass(frozen=True)
class Family:
    """Methods that share a kind of learned file: one makes it, the others play or measure it.

    name: the first part of its methods' names, its verb on the command line, and its properties' name on an armature
    (``object.sinew_<name>``). label: its panel. help: what its verb does. is_example: shown to nobody but developers.
    """

    name: str
    label: str
    help: str
    is_example: bool = False

    def method(self, product: Product) -> Method | None:
        """Its method that makes this: the learned file, takes of one, or a report; None where it has none."""
        for name in _METHODS:
            if name.startswith(f"{self.name}_"):
                method = get_method(name)
                # What learns may show a take of what it has learned: it is still the one that learns.
                if (Product.LEARNED_FILE if Product.LEARNED_FILE in method.makes else method.makes[0]) is product:
                    return method
        return None

    @property
    def learn(self) -> Method | None:
        """The method that learns; None for a family that only plays files that are made otherwise."""
        return self.method(Product.LEARNED_FILE)

    @property
    def learned(self) -> LearnedKind:
        """The kind of file that its methods share."""
        methods = (self.method(product) for product in Product)
        found = next((method.learned for method in methods if method is not None), None)
        assert found is not None, f"no method of '{self.name}' has a learned file"
        return found


_FAMILIES = (
    Family("graph", "Skills", "learn skills that keep their balance, and make new motion from them"),
    Family(
        "bounds",
        "Bounds and Style",
        "learn a motion within spacetime bounds, and make takes with what was learned",
    ),
    Family("direct", "Direct", "let a library of motion go where it is told"),
    Family("respond", "Respond", "let a library of motion do deeds on cue"),
    Family("improvise", "Improvise", "let characters move by themselves, like a library of motion"),
    Family("medley", "Medley", "the example of CONTRIBUTING.md: clips of a library in random order", is_example=True),
)


def clip_method_names() -> tuple[str, ...]:
    """The name of every method that makes a take of a clip and its settings, in the order of the table."""
    return tuple(
        name
        for name in _METHODS
        if name not in _HAS_OWN_VERB and not any(name.startswith(f"{family.name}_") for family in _FAMILIES)
    )


def all_method_names() -> tuple[str, ...]:
    """The name of every method there is."""
    return tuple(_METHODS)


def families() -> tuple[Family, ...]:
    """Every family of methods, in the order of the table."""
    return _FAMILIES


def get_family(name: str) -> Family:
    """The family called ``name``."""
    return next(family for family in _FAMILIES if family.name == name)


def family_of(method: str) -> Family | None:
    """The family that a method belongs to; None for one that makes a take of a clip."""
    return next((family for family in _FAMILIES if method.startswith(f"{family.name}_")), None)


def default_method_name() -> str:
    """The best method that has proven itself so far."""
    return _DEFAULT


@cache
def get_method(name: str) -> Method:
    """The method called ``name``."""
    if name not in _METHODS:
        raise UnknownMethod(f"There is no method '{name}'", f"Choose one of: {', '.join(clip_method_names())}")
    module, _, class_name = _METHODS[name].partition(":")
    method: Method = getattr(import_module(module, __package__), class_name)()
    return method


def live_names() -> tuple[str, ...]:
    """What can be live: 'action' for what needs nothing learned, and the names of families."""
    return tuple(_LIVE)


def open_live(name: str) -> OpenLive:
    """What opens that for a live session."""
    module, _, function = _LIVE[name].partition(":")
    found: OpenLive = getattr(import_module(module, __package__), function)
    return found
