# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on comes light and goes without a trace."""

import json
import subprocess
import sys

import bpy
import pytest

HEAVY = ("torch", "safetensors", "mujoco", "pybullet", "scipy", "cma")

# In a Python of its own, because other tests of this session may have imported an engine or scipy.
PROBE = """
import json, os, runpy, sys
import bpy
package = runpy.run_path(sys.argv[1])["load_package"]()
package.register()
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})), flush=True)
os._exit(0)  # bpy 4.5 hangs at exit with a class or handler still registered
"""


def test_registering_imports_nothing_heavy(root):
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(root / "core" / "entry.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "bpy" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_nothing_is_left_behind(package, handles):
    before = traces()
    for _ in range(3):
        package.register()
        registered = traces()
        package.unregister()
        assert traces() == before
        assert handles.alive() == []
        # What a registered Sinew looks like, so that the comparison above is known to see something.
        assert {"classes", "operators", "properties"} <= {kind for kind in before if registered[kind] != before[kind]}


def test_it_can_be_registered_after_another_file_was_loaded(package, handles):
    before = traces()
    package.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    package.unregister()
    assert traces() == before
    package.register()
    package.unregister()
    assert traces() == before
    assert handles.alive() == []


@pytest.fixture
def package(scene):
    """The package, not registered, in an empty factory scene."""
    return sys.modules["sinew"]


class Handles:
    """Timers and command-line verbs as they are handed to Blender, which has no list of either."""

    def __init__(self) -> None:
        self.timers: list = []
        self.verbs: list = []

    def alive(self) -> list[str]:
        """Those that Blender still holds."""
        timers = [repr(function) for function in self.timers if bpy.app.timers.is_registered(function)]
        return timers + [repr(verb) for verb in self.verbs if "<invalid>" not in repr(verb)]


@pytest.fixture
def handles(monkeypatch) -> Handles:
    """Keeps what Sinew registers during the test; Blender, and its own add-ons, do their work as ever."""
    kept = Handles()
    add_timer, add_verb = bpy.app.timers.register, bpy.utils.register_cli_command

    def keep_timer(function, *args, **kwargs):
        if is_ours(function):
            kept.timers.append(function)
        return add_timer(function, *args, **kwargs)

    def keep_verb(name, function):
        verb = add_verb(name, function)
        if is_ours(function):
            kept.verbs.append(verb)
        return verb

    monkeypatch.setattr(bpy.app.timers, "register", keep_timer)
    monkeypatch.setattr(bpy.utils, "register_cli_command", keep_verb)
    return kept


def traces() -> dict[str, set[str]]:
    """What Blender knows: everybody's classes, operators, properties and handlers, and our menu entries."""
    bases = ("AddonPreferences", "Header", "Menu", "Operator", "Panel", "PropertyGroup", "UIList")
    derived = {cls for base in bases for cls in subclasses(getattr(bpy.types, base))}
    owners = ("Action", "Armature", "Bone", "Object", "PoseBone", "Scene", "WindowManager")
    handlers = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    return {
        "classes": {f"{cls.__module__}.{cls.__name__}" for cls in derived if cls.is_registered},
        "operators": {f"{group}.{name}" for group in dir(bpy.ops) for name in dir(getattr(bpy.ops, group))},
        "properties": {f"{owner}.{name}" for owner in owners for name in dir(getattr(bpy.types, owner))},
        "handlers": {
            f"{name}: {function!r}" for name, found in handlers.items() if isinstance(found, list) for function in found
        },
        "menu entries": {
            f"{cls.__name__}: {function!r}"
            for cls in derived
            for function in getattr(getattr(cls, "draw", None), "_draw_funcs", ())
            if is_ours(function)
        },
    }


def subclasses(base: type) -> set[type]:
    """All that derive from ``base``, at any distance."""
    return set(base.__subclasses__()).union(*(subclasses(cls) for cls in base.__subclasses__()))


def is_ours(function) -> bool:
    """Whether a function is from the package; one that does not tell, such as a partial, may be."""
    return getattr(function, "__module__", "sinew").split(".")[0] == "sinew"
