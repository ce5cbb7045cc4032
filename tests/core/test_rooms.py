# SPDX-License-Identifier: GPL-3.0-or-later
"""The walls of the house: which room may import what, read from the sources and seen in a running Python."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("bench", "bridge", "core", "operators", "panels")
ENGINES = {"mujoco", "pybullet"}
BLENDER = {
    "addon_utils",
    "bl_operators",
    "bl_ui",
    "blf",
    "bmesh",
    "bpy",
    "bpy_extras",
    "gpu",
    "gpu_extras",
    "idprop",
    "mathutils",
    "rna_prop_ui",
}

# Each room of core may import itself, those of its row, and BASE. A new room needs a row.
BASE = (
    "core.__version__",
    "core.array_cache",
    "core.child_python",
    "core.cores",
    "core.errors",
    "core.files",
    "core.interrupts",
    "core.json_size",
    "core.limits",
    "core.npz_checks",
    "core.paths",
    "core.settings",
    "core.texts",
)
BELOW = {
    "core.geometry": (),
    "core.motion": ("core.geometry",),
    "core.body": ("core.motion", "core.geometry"),
    "core.sim": ("core.body", "core.motion", "core.geometry"),
    "core.learn": ("core.geometry",),
    "core.control": ("core.sim", "core.learn", "core.body", "core.motion", "core.geometry"),
    # What judges a motion knows neither the method that made it nor the job that it was made in.
    "core.measure": ("core.sim", "core.body", "core.motion", "core.geometry"),
}
# Each room of bridge may import itself, those of its row, and core: from what everything stands on to the top.
BRIDGE = {
    "scene": (),
    "rig": ("scene",),
    "mannequin": ("rig", "scene"),
    "importing": ("mannequin", "rig", "scene"),
    "preview": ("mannequin", "rig", "scene"),
    "setup": ("mannequin", "scene"),
    "body": ("setup", "rig", "scene"),
    "stage": ("rig", "scene"),
    "takes": ("stage", "rig", "scene"),
    "learned": ("body", "rig", "scene"),
    "jobs": ("learned", "takes", "stage", "body", "setup", "rig", "scene"),
    "methods": ("jobs", "learned", "body", "setup", "rig", "scene"),
    "library": ("methods", "jobs", "learned", "body", "setup", "importing", "rig", "scene"),
    "graph": ("methods", "jobs", "learned", "takes", "stage", "body", "importing", "rig", "scene"),
    "bounds": ("methods", "jobs", "learned", "takes", "stage", "body", "importing", "rig", "scene"),
    "direct": ("graph", "methods", "jobs", "learned", "takes", "body", "rig", "scene"),
    "respond": ("direct", "methods", "jobs", "learned", "body", "rig", "scene"),
    "improvise": ("direct", "graph", "methods", "jobs", "learned", "takes", "body", "rig", "scene"),
    "retime": ("jobs", "body", "rig", "scene"),
    "transfer": ("jobs", "takes", "body", "importing", "setup", "rig", "scene"),
    "live": ("direct", "jobs", "learned", "takes", "setup", "body", "rig", "scene"),
    "overlay": ("methods", "bounds", "respond", "jobs", "takes", "body", "rig", "scene"),
    "properties": (
        *("methods", "bounds", "direct", "respond", "graph", "library", "retime", "jobs", "takes", "stage", "rig"),
        *("scene", "setup"),
    ),
}
# An operator knows bridge, jobs and errors, its own folder, and what all operators share.
SHARED = ("operators.armature_verb", "operators.family_verb", "operators.list_rows", "operators.reporting")
FEATURES = (
    *(
        "body",
        "bounds",
        "graph",
        "improvise",
        "jobs",
        "library",
        "methods",
        "presets",
        "respond",
        "setup",
        "simulate",
        "stage",
    ),
    *("live", "takes", "transfer"),
)
BELOW_OPERATORS = ("bridge", "core.jobs", "core.errors")
# Rooms of control graphs, each built on those before it; the two methods stand on all of them.
GRAPH_ROOMS = {
    "transitions": (),
    "model": ("transitions",),
    "playing": ("transitions", "model"),
    "testing": ("transitions", "model", "playing"),
    "learning": ("transitions", "model", "playing"),
}
GRAPH_SHARED = tuple(
    f"core.control.{name}"
    for name in ("cast", "character", "learned", "live_character", "method", "staging", "tracking", "work_meter")
)
GRAPH_BELOW = {
    "core.control.graph": ("core.control.graph", *GRAPH_SHARED),
    **{
        f"core.control.graph.{room}": (*(f"core.control.graph.{name}" for name in (room, *below)), *GRAPH_SHARED)
        for room, below in GRAPH_ROOMS.items()
    },
}
# Other methods use sampling control through its one public module.
TRACKER = "core.control.sampling.tracker"
GRAPH_BELOW["core.control.graph.learning"] += (TRACKER,)
# A method knows itself, the kit for tracking, and the top modules of control; the kit knows no method.
CONTROL_TOP = tuple(
    f"core.control.{name}"
    for name in (
        *("cast", "character", "frame_range", "learned", "live_character", "method", "muscle", "practice", "staging"),
        "work_meter",
    )
)
# What methods share that direct a library of motion: what it plays, and the policy that gives that a body.
MATCHING, POLICY = "core.control.matching", "core.control.tracking_policy"
METHODS_BELOW = {
    "core.control.tracking": ("core.control.tracking", *CONTROL_TOP),
    "core.control.sampling": ("core.control.sampling", "core.control.tracking", *CONTROL_TOP),
    "core.control.bounds": ("core.control.bounds", TRACKER, "core.control.tracking", *CONTROL_TOP),
    MATCHING: (MATCHING, "core.control.tracking", *CONTROL_TOP),
    POLICY: (POLICY, MATCHING, "core.control.tracking", *CONTROL_TOP),
    # It hands its motion to another method, by name.
    "core.control.direct": (
        *("core.control.direct", POLICY, MATCHING, "core.control.searched_body", "core.control.tracking"),
        *CONTROL_TOP,
    ),
    # It plays a library as motion matching does, and plans what that leads to; it knows nothing of wishes' training.
    "core.control.respond": (
        *("core.control.respond", MATCHING, "core.control.searched_body", "core.control.tracking"),
        *(f"core.control.editing.{name}" for name in ("constraints", "limb_reaching", "motion_editing", "time_map")),
        *CONTROL_TOP,
    ),
    "core.control.tasks": ("core.control.tasks", "core.control.tracking"),
    # It learns from what the policy does, on the streams that it follows.
    "core.control.improvise": (
        *("core.control.improvise", POLICY, MATCHING, "core.control.searched_body", "core.control.tasks"),
        *("core.control.tracking", *CONTROL_TOP),
    ),
    # It plays what other methods have made or learned, and knows them by the registry alone.
    "core.control.live": ("core.control.live", "core.control.registry", "core.control.tracking", *CONTROL_TOP),
    "core.control.editing": ("core.control.editing", "core.control.tracking", *CONTROL_TOP),
    "core.control.medley": ("core.control.medley", "core.control.tracking", *CONTROL_TOP),
}
OURS = {
    "": ("bridge", "operators", "panels"),
    "operators": ("operators", *BELOW_OPERATORS),
    **{f"operators.{feature}": (f"operators.{feature}", *SHARED, *BELOW_OPERATORS) for feature in FEATURES},
    **dict.fromkeys(SHARED, (*SHARED, *BELOW_OPERATORS)),
    "panels": ("panels", "bridge"),
    "bridge": ("bridge", "core"),
    **{
        f"bridge.{room}": (f"bridge.{room}", *(f"bridge.{other}" for other in below), "core")
        for room, below in BRIDGE.items()
    },
    # It says in Python what the command line says in words, and stands below it.
    "bridge.api": (*(f"bridge.{room}" for room in (*BRIDGE, "api")), "core"),
    "bridge.cli": ("bridge", "core"),
    "bench": ("bench", "bridge", "core"),
    "core.geometry": ("core.geometry",),
    "core.jobs": ("core",),
    "core": BASE,
    **{room: (room, *below, *BASE) for room, below in BELOW.items() if below},
    **{room: (*allowed, *BELOW["core.control"], *BASE) for room, allowed in (GRAPH_BELOW | METHODS_BELOW).items()},
}
THEIRS = {
    "": set(),
    "operators": BLENDER,
    "panels": BLENDER,
    "bridge": BLENDER | {"numpy"},
    "bench": BLENDER | ENGINES | {"numpy", "scipy"},
    "core": {"numpy"},
    # The worker may use scipy, cma and coacd where it needs them; that nothing does so on import is checked below.
    "core.body": {"numpy", "scipy", "cma"},
    "core.control": {"numpy", "scipy"},
    "core.learn": {"numpy", "torch"},
    "core.measure": {"numpy"},
    "core.sim": {"numpy", "scipy", "coacd"},
    "core.sim.engines": {"numpy", *ENGINES},
}
# Only these of core/learn import torch at once; a panel may ask all others for settings.
KNOW_TORCH = {
    f"core.learn.{name}"
    for name in (
        *("actor_critic", "autoencoder_training", "behaviour_cloning", "conditional_vae", "devices", "networks", "ppo"),
        *("world_model", "acting", "recurrent_approach", "recurrent_training"),
    )
}


def sources() -> list[Path]:
    """Every module of the package."""
    found = [ROOT / "__init__.py", ROOT / "api.py"]
    for room in ROOMS:
        found += sorted((ROOT / room).rglob("*.py"))
    return found


def module_name(path: Path) -> str:
    """``core/motion/clip.py`` -> ``core.motion.clip``; the package itself is ''."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nearest(name: str, table: dict) -> str:
    """The longest key of ``table`` that is ``name`` or a package around it."""
    while name and name not in table:
        name = name.rpartition(".")[0]
    return name


def imports(text: str, name: str, is_package: bool) -> list[tuple[int, str, bool]]:
    """(line, module, whether it is ours) of every import statement, wherever it stands in the file."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, False) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append((node.lineno, node.module or "", False))
        elif isinstance(node, ast.ImportFrom):
            package = name if is_package else name.rpartition(".")[0]
            for _ in range(node.level - 1):
                package = package.rpartition(".")[0]
            base = ".".join(part for part in (package, node.module) if part)
            # `from .. import core` names its module only after the import.
            found += [(node.lineno, f"{base}.{alias.name}".strip("."), True) for alias in node.names]
    return found


def faults(text: str, name: str, is_package: bool = False) -> list[str]:
    """What a module's source imports across a wall."""
    allowed, foreign = OURS[nearest(name, OURS)], THEIRS[nearest(name, THEIRS)]
    wrong = []
    for line, module, ours in imports(text, name, is_package):
        first = module.split(".")[0]
        if ours:
            fine = any(f"{module}.".startswith(f"{room}.") for room in allowed)
        else:
            fine = first in sys.stdlib_module_names or first in foreign
        if not fine:
            wrong.append(f"{name or '__init__'}, line {line}, imports {module}")
    return wrong


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_imports_only_what_it_may(path):
    assert faults(path.read_text(encoding="utf-8"), module_name(path), path.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("core.geometry.frames", "from ..motion import Clip"),
        ("core.geometry.frames", "import scipy"),
        ("core.motion.clip", "def late():\n    import bpy"),
        ("core.motion.clip", "from mathutils import Vector"),
        ("core.motion.clip", "from ..jobs import create"),
        # Blender calls the package bl_ext.<repository>.sinew. The linter cannot see to this: in a clone of the name
        # 'sinew' it takes every relative import for one of that name.
        ("core.motion.clip", "from sinew.core.motion import skeleton"),
        ("operators.takes.show", "def late():\n    import sinew.bridge"),
        ("core.control.samcon", "import mujoco"),
        ("core.control.graph.transitions.blending", "from ..model.fragments import Track"),
        ("core.control.graph.model.chains", "from ..playing.player import Player"),
        ("core.control.graph.model.chains", "from ...sampling.search import resampled"),
        ("core.control.graph.playing.player", "from ..learning.learner import GraphLearner"),
        ("core.control.graph.playing.player", "from ..learn_method import GraphLearn"),
        ("core.control.graph.testing.skill_tests", "from ..learning.learner import GraphLearner"),
        ("core.control.graph.learning.learner", "from ..testing.skill_tests import measure_endurance"),
        ("core.control.graph.learning.learner", "from ..learn_method import GraphLearn"),
        ("core.control.graph.learn_method", "from ..bounds import training"),
        ("core.control.graph.learning.open_loop_refinement", "from ...sampling.search import SamconSearch"),
        ("core.control.tracking.recording", "from ..sampling.stage_rollout import StageRollout"),
        ("core.control.tracking.source_preparation", "from ..graph.transitions import distances"),
        ("core.control.sampling.method", "from ..graph.transitions import distances"),
        ("core.control.sampling.search", "from ..bounds.bounds import bound_names"),
        ("core.control.bounds.demonstration", "from ..sampling.plan import Planner"),
        ("core.control.medley.methods", "from ..graph.model import policies"),
        ("core.control.bounds.train_settings", "from ..graph.transitions.motion_graph import Skill"),
        ("core.control.matching.directing", "from ..direct.bake_method import DirectBake"),
        ("core.control.matching.directing", "from ..tracking_policy.controller import TrackingController"),
        ("core.control.tracking_policy.training", "from ..direct.train_method import DirectTrain"),
        ("core.control.improvise.train_method", "from ..direct.train_method import DirectTrain"),
        ("core.control.respond.trials", "from ..direct import bake_method"),
        ("core.control.respond.body_trials", "from ..tracking_policy import playing"),
        ("core.control.live.method", "from ..direct import bake_method"),
        ("core.control.tasks.point_goal", "from ..improvise.learned_file import Improviser"),
        ("core.control.editing.motion_editing", "from ..respond.tables import build_tables"),
        ("core.sim.engines.bullet", "import torch"),
        ("core.measure.measures", "from ..control.method import Run"),
        ("core.measure.measures", "from ..jobs import Job"),
        ("core.sim.engines.bullet", "from ....bridge import rig_reader"),
        ("core.jobs.worker", "from ...bridge import rig_reader"),
        ("core.new_room.file", "from ..motion import Clip"),
        ("bridge.rig.rig_reader", "from ...operators import simulate"),
        ("bridge.rig.rig_reader", "import torch"),
        ("bridge.rig.rig_reader", "from sinew.core import errors"),
        ("bridge.rig.rig_reader", "import core.errors"),
        ("bridge.scene.saving", "from ..rig import actions"),
        ("bridge.api.work", "from ..cli.running import run_job"),
        ("bridge.scene.settings_groups", "from .. import properties"),
        ("bridge.rig.rig_writer", "from ..body.body_inputs import BodyRequest"),
        ("bridge.mannequin.build", "from ..importing import importers"),
        ("bridge.importing.importers", "from ..takes import rows"),
        ("bridge.preview.studio", "from ..stage import read_stage"),
        ("bridge.setup.readiness", "from ..jobs import monitor"),
        ("bridge.body.part_editing", "from ..overlay import moment"),
        ("bridge.stage.reader", "def late():\n    from .. import properties"),
        ("bridge.takes.views", "from ..jobs.job_views import JobView"),
        ("bridge.takes.write_takes", "from ..overlay import ghosts"),
        ("bridge.learned.files", "from ..jobs import requests"),
        ("bridge.jobs.baking", "from ..overlay import properties"),
        ("bridge.jobs.monitor", "from ..graph import views"),
        ("bridge.graph.skills", "from ..bounds import files"),
        ("bridge.bounds.files", "from ..graph import files"),
        ("bridge.methods.adapter", "from ..library import assembling"),
        ("bridge.library.assembling", "from ..direct import training"),
        ("bridge.direct.training", "from ..respond import baking"),
        ("bridge.respond.baking", "from ..improvise import jobs"),
        ("bridge.improvise.jobs", "from ..respond import baking"),
        ("bridge.retime.recipes", "from ..graph import skills"),
        ("bridge.live.running", "from ..cli import outputs"),
        ("bridge.transfer.recipes", "from ..cli import outputs"),
        ("bridge.overlay.layers.body", "from ...cli import outputs"),
        ("bridge.properties", "from .overlay import canvas"),
        ("bridge.cli.simulate", "from ...operators.simulate import simulate"),
        ("operators.simulate.simulate", "from ...core.motion import Clip"),
        ("operators.simulate.simulate", "from ...core import motion"),
        ("operators.takes.show", "from ..stage.mark import SINEW_OT_stage_mark"),
        ("operators.reporting", "from .simulate.simulate import SINEW_OT_simulate"),
        ("panels.main", "from ..core.errors import SinewError"),
        ("panels.main", "from .. import operators"),
        # Benchmarks stay at home, so nothing that ships may need one.
        ("", "from .bench import run"),
        ("core.measure.marks", "from ...bench.rows import Row"),
        ("core.jobs.worker", "def late():\n    from ...bench import run"),
        ("bridge.cli.graph.test", "from ....bench.graph.measurements import measure"),
        ("operators.simulate", "from ..bench import rows"),
        ("panels.main", "from ..bench import rows"),
    ],
)
def test_a_wall_is_seen(name, source):
    assert len(faults(source, name)) == 1


@pytest.mark.parametrize(
    ("name", "source"),
    [
        (
            "core.motion.clip",
            "from ..geometry.quaternions import slerp\nfrom ..errors import BadMotion\nimport numpy as np",
        ),
        ("core.jobs.report", "from .. import __version__"),
        ("core.sim.engines.bullet", "import pybullet"),
        ("core.control.samcon", "from ..sim.engines import get"),
        ("core.control.graph.learning.learner", "from ..playing.player import Player\nfrom ..model import policies"),
        ("core.control.graph.learn_method", "from .learning.learner import GraphLearner"),
        ("core.control.bounds.demonstration", "from ..sampling.tracker import track_reference"),
        ("core.control.sampling.method", "from ..tracking import reference\nfrom ..muscle import load_muscle"),
        ("bridge.rig.rig_reader", "import bpy\nfrom ..scene.preserved_state import by_uid\nfrom . import actions"),
        ("bridge.body.mesh_reader", "from ...core.body.mesh import SkinnedMesh\nfrom ..rig import sources"),
        ("bridge.overlay.layers.bounds", "from ...bounds.reading import widths_of\nfrom ..moment import Moment"),
        ("bridge.cli.simulate", "from .. import properties\nfrom ..jobs import requests\nfrom ..preview import film"),
        (
            "operators.simulate.simulate",
            "import bpy\nfrom ...bridge.jobs import requests\nfrom ...core import errors, jobs",
        ),
        ("operators.simulate.variations", "from ..reporting import waiting\nfrom .simulate import SINEW_OT_simulate"),
        ("panels.main", "from ..bridge import properties"),
    ],
)
def test_a_door_is_open(name, source):
    assert faults(source, name) == []


def test_every_room_of_bridge_and_every_folder_of_operators_has_a_row():
    rooms = {path.parent.name for path in (ROOT / "bridge").glob("*/__init__.py")}
    assert rooms == set(BRIDGE) - {"properties"} | {"api", "cli"}
    assert {path.parent.name for path in (ROOT / "operators").glob("*/__init__.py")} == set(FEATURES)


def test_the_rooms_of_bridge_stand_one_above_the_other():
    order = list(BRIDGE)
    assert [
        room for room, below in BRIDGE.items() if any(order.index(other) >= order.index(room) for other in below)
    ] == []


@pytest.mark.parametrize(
    "path",
    [*sources(), ROOT / "sinew", *sorted((ROOT / "tools").glob("*.py")), *sorted((ROOT / "tests").rglob("*.py"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_source_says_its_licence_first(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    first = lines[1] if lines[0].startswith("#!") else lines[0]
    assert first == "# SPDX-License-Identifier: GPL-3.0-or-later"


def imported_tests(text: str) -> list[str]:
    """Test modules that a source imports names from: what tests share lives in helper modules."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    named = [f"{getattr(node, 'module', None) or ''}.{alias.name}" for node in nodes for alias in node.names]
    return [name for name in named if any(part.startswith("test_") for part in name.split("."))]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT / "tests"))
)
def test_no_test_is_imported_by_another(path):
    assert imported_tests(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "from .test_panels import Page",
        "from ..panels.test_panels import Page",
        "from . import test_panels",
        "import bpy.test_panels",
        "def late():\n    from ..panels.test_panels import Page",
    ],
)
def test_a_test_that_is_imported_is_seen(source):
    assert len(imported_tests(source)) == 1
    assert imported_tests("import pytest\nfrom ..helpers.panel_drawing import Page") == []


# Imports each module of core as if it were the first of its room, so that an import in a circle shows, and tells what
# came along. A circle cannot lead through other rooms, for none imports one above it; what stands on top of core may be
# in a circle with anything.
PROBE = """
import importlib, json, runpy, sys
load = runpy.run_path(sys.argv[1])["load_package"]
came = {}
for name in sys.argv[2:]:
    room = ".".join(("sinew", *name.split(".")[:2]))
    room = room if name.count(".") > 1 else "sinew"
    for loaded in [module for module in sys.modules if (module + ".").startswith(room + ".")]:
        del sys.modules[loaded]
    before = set(sys.modules)
    load()
    importlib.import_module("sinew." + name)
    came[name] = sorted({module.split(".")[0] for module in set(sys.modules) - before})
print(json.dumps(came))
"""


@pytest.fixture(scope="module")
def came_along() -> dict[str, set[str]]:
    """Module of core -> top-level modules that its import brought into a fresh Python."""
    # An engine's own file may import the engine, which need not be installed.
    names = [module_name(path) for path in sources() if path.is_relative_to(ROOT / "core")]
    names = [name for name in names if not name.startswith("core.sim.engines.") and name not in KNOW_TORCH]
    entry = str(ROOT / "core" / "entry.py")
    done = subprocess.run([sys.executable, "-c", PROBE, entry, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: set(modules) for name, modules in json.loads(done.stdout).items()}


def test_core_brings_no_blender_no_engine_and_no_torch(came_along):
    heavy = BLENDER | ENGINES | {"torch", "safetensors", "scipy", "cma", "pybullet_data"}
    assert {name: modules & heavy for name, modules in came_along.items() if modules & heavy} == {}


def test_the_probe_sees_what_comes_along(came_along):
    assert "core.motion.clip" in came_along
    assert "numpy" in set().union(*came_along.values())
