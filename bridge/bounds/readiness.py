# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the worker's Python can train: asked beside the interface, once for each Python."""

import subprocess
import threading

from ...core.errors import LearningMissing, SinewError
from ...core.jobs import processes, worker_python
from ...core.learn.requirement import missing
from .. import preferences

# To find a package is not to import it, which for torch takes seconds.
_QUESTION = (
    "import importlib.util as u; "
    "print(next((name for name in ('torch', 'safetensors') if u.find_spec(name) is None), ''))"
)
_LONGEST_S = 60.0

_found: dict[str, LearningMissing | None] = {}
_asking: set[str] = set()


def known() -> LearningMissing | None:
    """What the worker's Python lacks, as far as that is known; the first time it is asked in the background.

    Cheap enough for ``draw``.
    """
    chosen = preferences.worker_python() or ""
    if chosen not in _found and chosen not in _asking:
        _asking.add(chosen)
        threading.Thread(target=_ask_for, args=(chosen,), daemon=True, name="sinew torch").start()
    return _found.get(chosen)


def require() -> None:
    """Refuse to train with a Python that cannot, with what to install. Asks again if it could not before."""
    chosen = preferences.worker_python() or ""
    if _found.get(chosen, chosen) is not None:
        _found[chosen] = ask(chosen)
    if (problem := _found[chosen]) is not None:
        raise problem


def ask(chosen: str) -> LearningMissing | None:
    """What a Python lacks; '' for core's own choice."""
    path = worker_python(chosen or None)
    try:
        done = subprocess.run(
            [path, "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=processes.environment(),
            timeout=_LONGEST_S,
            creationflags=processes.windows_flags(),
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None  # whoever trains will be told
    name = done.stdout.decode(errors="replace").strip()
    return missing(path, name) if name else None


def clear() -> None:
    """Forget what is known: something may have been installed."""
    _found.clear()
    _asking.clear()


def _ask_for(chosen: str) -> None:
    try:
        _found[chosen] = ask(chosen)
    except SinewError:
        _found[chosen] = None  # no Python at all, of which the button itself tells
    finally:
        _asking.discard(chosen)
