# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's own choices, for all files: the worker's Python and where jobs are kept."""

import os

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ...core import jobs
from ..scene.report_lines import fit_line

# ``bl_ext.<repository>.sinew`` as an extension, ``sinew`` everywhere else.
ROOT_PACKAGE = __package__.removesuffix(".bridge.setup")

_JOBS = "SINEW_JOBS"
_advanced = [False]  # where the package was registered without being an add-on
_given: list[str] = []  # what this module put into the environment, so that nothing else is ever taken out of it


class SINEW_AP_preferences(bpy.types.AddonPreferences):
    """What Sinew asks a machine's user for."""

    bl_idname = ROOT_PACKAGE

    worker_python: StringProperty(
        name="Worker Python",
        description="The Python that simulates, with numpy and a physics engine installed; empty for Blender's own. "
        "The environment variable SINEW_PYTHON comes first",
        subtype="FILE_PATH",
        update=lambda self, context: _choose_python(self),
    )
    jobs_folder: StringProperty(
        name="Jobs Folder",
        description="Where jobs and their results are kept; empty for your user data folder. "
        "The environment variable SINEW_JOBS comes first",
        subtype="DIR_PATH",
        update=lambda self, context: _choose_folder(self),
    )

    workers_at_once: IntProperty(
        name="Jobs at Once",
        description="How many jobs of a batch are simulated at the same time. One uses every core already",
        default=1,
        min=1,
        soft_max=8,
        max=64,
    )

    where: StringProperty(
        name="Where",
        description="Where jobs are done: here, ray (a Ray cluster that runs on this computer, or one that is started "
        "for the job) or ray:HOST:PORT (a cluster that this computer is part of). See docs/cluster.md",
        default="here",
        update=lambda self, context: _choose_place(),
    )

    advanced: BoolProperty(
        name="Advanced",
        description="Show everything that can be set, also what is rarely touched, and the numbers of running jobs",
        update=lambda self, context: setattr(context.preferences, "is_dirty", True),
    )

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the paths, what is used where one is empty, and how many jobs run at once."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "worker_python", placeholder=fit_line(os.environ.get("SINEW_PYTHON", "Blender's own")))
        layout.prop(self, "jobs_folder", placeholder=fit_line(str(jobs.jobs_root())))
        layout.prop(self, "workers_at_once")
        layout.prop(self, "where")
        layout.prop(self, "advanced")


def preferred_python() -> str | None:
    """The Python to start workers with; None for core's own choice.

    A path that hangs on the open file, which older preferences may hold, is taken as it stands: it would lead to
    whatever came with that file.
    """
    own = _own()
    chosen = own.worker_python.strip() if own else ""
    return os.environ.get("SINEW_PYTHON") or chosen or None


def workers_at_once() -> int:
    """How many jobs of a batch may run at the same time."""
    own = _own()
    return own.workers_at_once if own else 1


def preferred_where() -> jobs.Where:
    """Where jobs are done; what is no place to work at is refused."""
    own = _own()
    return jobs.parse_where(own.where or "here") if own else jobs.HERE


def wants_cluster() -> bool:
    """Whether jobs go to a cluster, for which Ray is needed."""
    own = _own()
    return own is not None and own.where.strip().startswith("ray")


def own_preferences() -> "SINEW_AP_preferences | None":
    """What a panel draws choices from; None where the package was registered without being an add-on."""
    return _own()


def wants_advanced() -> bool:
    """Whether panels show what is rarely touched."""
    own = _own()
    return own.advanced if own else _advanced[0]


def show_advanced(shown: bool) -> None:
    """Let panels show what is rarely touched, or not; where there are no preferences until Python ends."""
    own = _own()
    if own:
        own.advanced = shown
    else:
        _advanced[0] = shown


def apply_jobs_folder() -> None:
    """Let everything in this process, the command line too, find jobs where the preference says.

    The environment is where ``core`` looks and what it hands on to workers; a ``SINEW_JOBS`` that came
    from outside is left alone.
    """
    own = _own()
    _give(bpy.path.abspath(own.jobs_folder) if own and own.jobs_folder.strip() else "")


def _choose_python(own: SINEW_AP_preferences) -> None:
    """Another Python may have what the last one lacked."""
    from . import readiness

    _detach_from_file(own, "worker_python")
    readiness.check_readiness()


def _choose_place() -> None:
    """A cluster needs Ray."""
    from . import readiness

    readiness.check_readiness()


def _choose_folder(own: SINEW_AP_preferences) -> None:
    _detach_from_file(own, "jobs_folder")
    apply_jobs_folder()


def _detach_from_file(own: SINEW_AP_preferences, name: str) -> None:
    """Keep a path that Blender's file browser gave relative to the open file as it is now, for all files to come."""
    if (path := getattr(own, name)).startswith("//"):
        setattr(own, name, bpy.path.abspath(path))


def _give(folder: str) -> None:
    if os.environ.get(_JOBS, "") not in ("", *_given):
        return
    os.environ.pop(_JOBS, None)
    if folder:
        os.environ[_JOBS] = folder
    _given[:] = [folder]


def _own() -> "SINEW_AP_preferences | None":
    """The preferences; None where the package was registered without being an add-on."""
    addon = bpy.context.preferences.addons.get(ROOT_PACKAGE)
    return addon.preferences if addon else None


def register() -> None:
    """Add the preferences and follow them."""
    bpy.utils.register_class(SINEW_AP_preferences)
    apply_jobs_folder()


def unregister() -> None:
    """Take them away."""
    _give("")
    bpy.utils.unregister_class(SINEW_AP_preferences)
