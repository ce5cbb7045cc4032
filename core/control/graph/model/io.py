# SPDX-License-Identifier: GPL-3.0-or-later
"""Control graphs as ``.npz`` files: plain arrays and a JSON description, versioned, no pickles."""

from collections.abc import Mapping
from dataclasses import asdict
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import __version__
from ....body import BodyModel
from ....body.io import body_from_arrays, body_to_arrays
from ....errors import BadFile, GraphError, SinewError
from ....files import read_arrays, to_jsonable, write_arrays
from ....geometry.quaternions import Array
from ....motion.skeleton import freeze_array
from ..transitions.motion_graph import Transition
from .control_graph import ControlGraph
from .features import Features, state_names
from .fragments import Track
from .policies import Policies
from .structure import Chain, GraphStructure
from .validation import require_valid_graph

KIND = "sinew control graph"
VERSION = 1
"""Newest format. Also goes up when fragments get another length or policies see something else."""

AGAIN = "Learn the skills again, or take a copy of the file that is whole"
_BODY = "body_"
_TURNS, _TURN_RATES = "turns", "turn_rates"
_TRACK = ("qpos", "rates", "targets")
_POLICIES = ("gains", "states", "actions", "spreads")


def save_graph(path: Path, graph: ControlGraph) -> None:
    """Write the graph whole."""
    write_arrays(path, *graph_to_arrays(graph), checksum=True)


def load_graph(path: Path) -> ControlGraph:
    """Read a graph; anything else is a ``BadFile`` that says what is wrong."""
    try:
        arrays, meta = read_arrays(path)
    except BadFile as error:
        raise BadFile(error.message, AGAIN) from error
    return graph_from_arrays(arrays, meta, f"'{path}'")


def graph_to_arrays(graph: ControlGraph) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """(arrays, meta) of a graph; one that could not be read again is a ``GraphError``."""
    require_valid_graph(graph)
    body_arrays, body_meta = body_to_arrays(graph.body)
    arrays = {f"{_BODY}{name}": array for name, array in body_arrays.items()}
    arrays |= {f"track_{name}": np.asarray(getattr(graph.track, name), dtype=float) for name in _TRACK}
    arrays |= {f"policies_{name}": np.asarray(getattr(graph.policies, name), dtype=float) for name in _POLICIES}
    arrays[_TURNS] = np.asarray(graph.turns, dtype=float)
    rates = np.zeros(graph.structure.count) if graph.turn_rates is None else graph.turn_rates
    arrays[_TURN_RATES] = np.asarray(rates, dtype=float)
    meta = {
        "kind": KIND,
        "version": VERSION,
        "sinew": __version__,
        "about": graph.about,
        "chains": [_describe_chain(chain) for chain in graph.structure.chains],
        "follows": graph.structure.successors,
        "transitions": [asdict(transition) for transition in graph.transitions],
        "features": _feature_names(graph.body),
        "body": body_meta,
    }
    return arrays, to_jsonable(meta)


def graph_from_arrays(
    arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], label: str = "The graph"
) -> ControlGraph:
    """The inverse of ``graph_to_arrays``: a graph whose parts fit, or a ``BadFile`` that says what is wrong.

    label: what messages call it.
    """
    _require_kind(label, meta)
    try:
        body_arrays = {name.removeprefix(_BODY): array for name, array in arrays.items() if name.startswith(_BODY)}
        body = body_from_arrays(body_arrays, meta["body"])
        _require_features(body, meta["features"])
        graph = _graph(body, arrays, meta)
        require_valid_graph(graph)
    except KeyError as error:
        raise BadFile(f"{label} lacks {error}", AGAIN) from error
    except SinewError as error:
        why = f"{label} does not hold a whole control graph: {error.message}"
        raise BadFile(why, error.hint or AGAIN) from error
    except (AttributeError, TypeError, ValueError) as error:
        raise BadFile(f"{label} does not hold a whole control graph: {error}", AGAIN) from error
    return graph


def _require_kind(label: str, meta: Mapping[str, Any]) -> None:
    kind, version = meta.get("kind"), meta.get("version")
    if kind != KIND:
        instead = f", but a '{kind}' file" if isinstance(kind, str) else ""
        raise BadFile(f"{label} is no control graph{instead}", "Choose a graph that Sinew learned")
    if not isinstance(version, int) or version < 1:
        raise BadFile(f"{label} has no format version inside", AGAIN)
    if version > VERSION:
        raise BadFile(
            f"{label} was written by Sinew {meta.get('sinew', 'of a later day')} in format {version},"
            f" and this is Sinew {__version__}, which knows format {VERSION}",
            "Update Sinew",
        )


def _feature_names(body: BodyModel) -> dict[str, list[str]]:
    """What policies see, and which bones they turn about how many axes."""
    features = Features(body)
    moved = [f"{body.links[link].bone} ({body.links[link].joint.dofs})" for link in features.actuated_links]
    return {"state": list(state_names(features)), "action": moved}


def _describe_chain(chain: Chain) -> dict[str, Any]:
    """A chain as plain values; that a gait is mirrored goes without saying, as in files from before it could be not."""
    described = asdict(chain)
    if chain.mirrored:
        del described["mirrored"]
    return described


def _require_features(body: BodyModel, stored: Mapping[str, Any]) -> None:
    """Refuse policies that were learned for other numbers than this Sinew would give them."""
    for name, known in _feature_names(body).items():
        if list(stored[name]) != known:
            raise GraphError(
                f"its policies know the {name} {stored[name]}, and this Sinew the {name} {known}",
                "Learn the skills again with this Sinew, or use the one that wrote it",
            )


def _graph(body: BodyModel, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> ControlGraph:
    chains = tuple(
        Chain(
            str(one["name"]),
            str(one["kind"]),
            index(one["skill"]),
            index(one["first"]),
            index(one["count"]),
            bool(one["gait"]),
            index(one["touch"]),
            bool(one.get("mirrored", True)),
        )
        for one in meta["chains"]
    )
    successors = tuple(tuple(index(one) for one in after) for after in meta["follows"])
    transitions = tuple(
        Transition(str(one["source"]), float(one["leave_s"]), str(one["target"]), float(one["enter_s"]))
        for one in meta["transitions"]
    )
    return ControlGraph(
        GraphStructure(chains, successors),
        Track(body, *(_numbers(arrays, f"track_{name}") for name in _TRACK)),
        Policies(*(_numbers(arrays, f"policies_{name}") for name in _POLICIES)),
        turns=_numbers(arrays, _TURNS),
        turn_rates=_numbers(arrays, _TURN_RATES),
        transitions=transitions,
        about=dict(meta["about"]),
    )


def _numbers(arrays: Mapping[str, NDArray[Any]], name: str) -> Array:
    array = arrays[name]
    if array.dtype != np.float64:  # as it was written: what is narrower would become wider
        raise GraphError(f"{name} holds {array.dtype}, not numbers of double precision")
    return freeze_array(np.array(array, dtype=float))
