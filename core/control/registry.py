# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of methods. A new method is one file here beside it and one line in ``_METHODS``."""

from importlib import import_module

from ..errors import UnknownMethod
from .method import Method

# name -> module and class; imported on demand so that listing methods costs nothing.
_METHODS = {
    "passthrough": ".passthrough:Passthrough",
    "sampling": ".sampling.method:SamplingMethod",
}
# Methods that learn and play control graphs, likewise: they have a panel and a verb of their own.
_OF_GRAPHS = {
    "graph_learn": ".graph.learn_method:GraphLearn",
    "graph_bake": ".graph.bake_method:GraphBake",
}
# Methods that learn within spacetime bounds and play what was learned: they, too, have a verb of their own.
_OF_BOUNDS = {
    "bounds_train": ".bounds.train_method:BoundsTrain",
    "bounds_bake": ".bounds.bake_method:BoundsBake",
}
_DEFAULT = "sampling"


def names() -> tuple[str, ...]:
    """The name of every method that makes a take of a clip, in the order of the list."""
    return tuple(_METHODS)


def graph_names() -> tuple[str, ...]:
    """The name of every method that learns or plays control graphs."""
    return tuple(_OF_GRAPHS)


def bounds_names() -> tuple[str, ...]:
    """The name of every method that learns within bounds, or plays what was learned there."""
    return tuple(_OF_BOUNDS)


def all_names() -> tuple[str, ...]:
    """The name of every method there is."""
    return (*names(), *graph_names(), *bounds_names())


def default_name() -> str:
    """The best method that has proven itself so far."""
    return _DEFAULT


def get(name: str) -> Method:
    """The method called ``name``."""
    known = _METHODS | _OF_GRAPHS | _OF_BOUNDS
    if name not in known:
        raise UnknownMethod(f"There is no method '{name}'", f"Choose one of: {', '.join(_METHODS)}")
    module, _, class_name = known[name].partition(":")
    method: Method = getattr(import_module(module, __package__), class_name)()
    return method


def simulates_cast(name: str) -> bool:
    """Whether the method simulates everybody on the stage together; one that does not say so knows only its clip."""
    return bool(getattr(get(name), "simulates_cast", False))
