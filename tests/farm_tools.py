# SPDX-License-Identifier: GPL-3.0-or-later
"""Farms' own programs, as far as there are any here: the command line of Open Job Description, and a JavaScript engine.

Both are in the project's environment on Linux. Elsewhere the tests that need them skip.
"""

import importlib.util
import json
import platform
import subprocess
import sys

import pytest

PYTHON = sys.executable

# The interface that Flamenco documents for scripts of job types, as strict as it can be.
_HARNESS = """
const author = {
    Task(name, type) {
        if (typeof name !== "string" || typeof type !== "string") throw new TypeError("a task has a name and a type");
        return {
            name, type, commands: [], dependencies: [],
            addCommand(command) {
                if (command === undefined || !command.isCommand) throw new TypeError("no command");
                this.commands.push({ name: command.name, parameters: command.parameters });
            },
            addDependency(task) {
                if (task === undefined || task.commands === undefined) throw new TypeError("no task");
                this.dependencies.push(task);
            },
        };
    },
    Command(name, parameters) {
        if (typeof name !== "string") throw new TypeError("a command has a name");
        return { isCommand: true, name, parameters };
    },
};
function compileForTest(settings) {
    const tasks = [];
    compileJob({
        id: "1", name: "job", type: "sinew_takes", priority: 50, settings, metadata: {}, created: new Date(0),
        addTask(task) { tasks.push(task); },
    });
    return JSON.stringify(tasks.map((task) => ({
        name: task.name, type: task.type, commands: task.commands,
        dependencies: task.dependencies.map((other) => tasks.indexOf(other)),
    })));
}
"""
_RUN = """
import json, sys, quickjs
harness, script, settings = json.loads(sys.stdin.read())
context = quickjs.Context()
context.eval(harness)
context.eval(script)
made = context.eval("compileForTest(JSON.parse(" + json.dumps(json.dumps(settings)) + "))")
print(json.dumps({"tasks": json.loads(made), "type": json.loads(context.eval("JSON.stringify(JOB_TYPE)"))}))
"""


def needs(module, package):
    """Skip the test where a farm's program has no place in the environment: everywhere but on Linux."""
    is_pinned = sys.platform == "linux" and platform.machine() == "x86_64"
    is_there = importlib.util.find_spec(module) is not None
    return pytest.mark.skipif(not (is_there or is_pinned), reason=f"{package} is installed on Linux alone")


needs_openjd = needs("openjd", "openjd-cli")
needs_quickjs = needs("quickjs", "quickjs")


def run_openjd(*words, **more):
    """The command line of Open Job Description; gives the finished process."""
    return subprocess.run(
        [PYTHON, "-m", "openjd", *map(str, words)], check=False, capture_output=True, text=True, timeout=600, **more
    )


def compile_flamenco(script, settings):
    """(tasks, job type) of a script for a job's settings, by a real JavaScript engine; its errors are told."""
    given = json.dumps([_HARNESS, script, settings])
    done = subprocess.run([PYTHON, "-c", _RUN], input=given, check=False, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(done.stderr)
    made = json.loads(done.stdout)
    return made["tasks"], made["type"]


def replace_variables(value, variables):
    """What Flamenco makes of a command's parameters for a worker: ``{name}`` is a variable's value everywhere."""
    if isinstance(value, dict):
        return {key: replace_variables(one, variables) for key, one in value.items()}
    if isinstance(value, list):
        return [replace_variables(one, variables) for one in value]
    if isinstance(value, str):
        for name, text in variables.items():
            value = value.replace("{" + name + "}", text)
    return value


def command_words(command, variables):
    """The words that Flamenco's worker runs for a ``blender-render``."""
    assert command["name"] == "blender-render"
    told = replace_variables(command["parameters"], variables)
    assert set(told) == {"exe", "exeArgs", "argsBefore", "blendfile", "args"}
    return [told["exe"], *told["exeArgs"].split(), *told["argsBefore"], told["blendfile"], *told["args"]]
