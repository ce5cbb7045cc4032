# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``./sinew VERB ...`` does.

On first use it makes a virtual environment in the project's folder (tools/making.py); afterwards it only checks that
the environment is whole (tools/environment.py) and hands over to the verb. Standard library of Python 3.8, because it
runs on whatever Python the user has; imports are late because it should cost nothing.
"""

from __future__ import annotations

import os
import signal
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))

# verb -> (script that implements it, what it does)
COMMAND_LINE = os.path.join("bridge", "cli", "__main__.py")
VERBS = {
    "demo": (COMMAND_LINE, "a mannequin walks through the whole of Sinew; results in out/"),
    "test": (os.path.join("tools", "check.py"), "lint, types, core tests and Blender tests"),
    "simulate": (COMMAND_LINE, "give the motion of a file or stock clip a body"),
    "retime": (COMMAND_LINE, "let a key moment be at a wanted frame, place and heading, with its pose kept"),
    "live": (COMMAND_LINE, "do again what was done to a live character, as a new Action"),
    "graph": (COMMAND_LINE, "learn skills that keep their balance, and make new motion from them"),
    "bounds": (COMMAND_LINE, "learn a motion within spacetime bounds, and make takes with it"),
    "direct": (COMMAND_LINE, "let a library of motion go where it is told, with a body"),
    "respond": (COMMAND_LINE, "let a library of motion do deeds on cue, on time, with a body"),
    "improvise": (COMMAND_LINE, "let characters move by themselves, like a library of motion"),
    "library": (COMMAND_LINE, "minutes of motion on one character: build, add, show and tag"),
    "farm": (COMMAND_LINE, "hand takes to a render farm, and put them together again"),
    "takes": (COMMAND_LINE, "list the takes in a .blend, with their numbers"),
    "clips": (COMMAND_LINE, "list the stock clips"),
    "jobs": (COMMAND_LINE, "list, show, cancel, resume and clean up jobs"),
    "bench": (os.path.join("bench", "__main__.py"), "measure, and print the figures as JSON"),
    "fuzz": (os.path.join("tools", "fuzz", "__main__.py"), "open damaged files of every kind until the time is over"),
    "kills": (os.path.join("tools", "kills", "__main__.py"), "kill everything that runs at random moments, and go on"),
    "build": (os.path.join("tools", "build.py"), "make the extension's zip in dist/"),
}
# Of Python's variables, those that a verb may have.
HARMLESS = ("PYTHONDONTWRITEBYTECODE", "PYTHONFAULTHANDLER", "PYTHONUNBUFFERED")
# These need no environment to explain themselves.
STANDALONE_HELP = ("test", "build", "fuzz", "kills")


def leave(*_: object) -> None:
    """What Ctrl-C does while nothing has begun."""
    os.write(2, b"sinew: cancelled\n")
    os._exit(130)


class Misuse(Exception):
    """A command line that cannot be understood, in one line for the user."""


def start() -> None:
    """What the file ``sinew`` does: main with the words after its name, and a word for who presses Ctrl-C.

    It leaves by itself: a Python that ends in order has its handlers taken away first, and Ctrl-C would kill it.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, leave)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    code = main(sys.argv[1:])
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader may have gone
            stream.flush()
    os._exit(code)


def main(argv: list[str]) -> int:
    """Run the launcher; returns only where nothing was handed over."""
    keep_own_path()
    from tools.environment import Failure

    try:
        return run(argv)
    except Misuse as error:
        print("sinew: %s" % printable(str(error)), file=sys.stderr)
        return 2
    except Failure as error:
        print("sinew: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsinew: interrupted; the next ./sinew starts the set-up again", file=sys.stderr)
        return 130


def keep_own_path() -> None:
    """Import from this folder and from Python's own alone: an empty place in PYTHONPATH is the working folder."""
    astray = {os.path.abspath(folder) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    sys.path[:] = [ROOT, *(folder for folder in sys.path if folder and os.path.abspath(folder) not in astray)]


def printable(text: str) -> str:
    """The text without anything that a terminal would obey; core/texts.py is for newer Pythons."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def run(argv: list[str]) -> int:
    """Find the verb and the environment, and hand over."""
    from tools.environment import Environment

    blender, verb, rest = split(argv)
    if verb in ("", "help"):
        print(usage(), file=sys.stdout if verb else sys.stderr)
        return 0 if verb else 2
    if verb == "version":
        print("Sinew %s" % version())
        return 0
    script = os.path.join(ROOT, script_of(verb))
    arguments = rest if verb in STANDALONE_HELP else [verb, *rest]
    if verb in STANDALONE_HELP and wants_help(rest):
        return hand_over(sys.executable, script, arguments)
    environment = Environment(ROOT, blender)
    if environment.flaw() or not environment.imports():
        from tools import making

        if signal.getsignal(signal.SIGINT) is leave:  # what it has begun must end with it
            signal.signal(signal.SIGINT, signal.default_int_handler)
        making.ensure(environment)
    return hand_over(environment.python, script, arguments)


def split(argv: list[str]) -> tuple[str, str, list[str]]:
    """(Blender version, verb or '', the verb's own arguments); ``--blender`` may stand before or after the verb."""
    from tools.environment import DEFAULT, VERSIONS

    blender, verb, rest = DEFAULT, "", []
    waiting = list(argv)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            rest += [word, *waiting]
            break
        option, equals, value = word.partition("=")
        if option == "--blender":
            blender = value if equals else (waiting.pop(0) if waiting else "")
            if blender not in VERSIONS:
                raise Misuse("--blender is '%s': choose one of %s" % (blender, ", ".join(VERSIONS)))
        elif verb:
            rest.append(word)
        elif word in ("-h", "--help", "help"):
            return blender, "help", []
        elif word == "--version":
            return blender, "version", []
        elif word.startswith("-"):
            raise Misuse("there is no option '%s': ./sinew --help lists them" % option)
        elif script_of(word) is None:
            raise Misuse(unknown(word))
        else:
            verb = word
    return blender, verb, rest


def script_of(word: str) -> str | None:
    """The script of a verb; that of a family of methods, which has a package of its name, is the command line."""
    if word in VERBS:
        return VERBS[word][0]
    package = os.path.join(ROOT, "core", "control", word, "__init__.py")
    return COMMAND_LINE if word.isidentifier() and os.path.isfile(package) else None


def unknown(word: str) -> str:
    """The line for a verb that does not exist."""
    import difflib

    near = difflib.get_close_matches(word, VERBS, n=1)
    fix = "did you mean '%s'?" % near[0] if near else "choose one of %s" % ", ".join(VERBS)
    return "there is no verb '%s': %s" % (word, fix)


def wants_help(rest: list[str]) -> bool:
    """Whether ``--help`` is among the verb's own arguments, not among those after ``--``."""
    own = rest[: rest.index("--")] if "--" in rest else rest
    return "--help" in own or "-h" in own


def usage() -> str:
    """What ``./sinew --help`` prints."""
    from tools.environment import DEFAULT, VERSIONS

    lines = ["usage: ./sinew [--blender %s] VERB ..." % "|".join(VERSIONS), "", "Sinew gives mocap a body.", ""]
    lines += ["  %-9s %s" % (verb, text) for verb, (_, text) in VERBS.items()]
    lines += ["", "  ./sinew VERB --help   tells more about a verb"]
    lines += ["  --blender VERSION     which Blender to use as a module (%s)" % DEFAULT]
    lines += ["  --version             Sinew's version"]
    folders = " or ".join(folder for folder, _ in VERSIONS.values())
    lines += ["", "The first use makes an environment beside this file (%s); delete it to start over." % folders]
    return "\n".join(lines)


def version() -> str:
    """Sinew's version, from the manifest."""
    with open(os.path.join(ROOT, "blender_manifest.toml"), encoding="utf-8") as stream:
        for line in stream:
            key, _, value = line.partition("=")
            if key.strip() == "version":
                return value.strip().strip('"')
    return "unknown"


def hand_over(python: str, script: str, arguments: list[str]) -> int:
    """Become the verb, so that signals and exit codes are its own."""
    # They would lead the environment's Python to somebody else's packages or to code in the working folder, or let it
    # die of a value that it does not understand.
    for name in [name for name in os.environ if name.upper().startswith("PYTHON") and name not in HARMLESS]:
        del os.environ[name]
    os.environ["PYTHONSAFEPATH"] = "1"
    # As workers have them (core/child_python.py): with more threads sums come out in another order.
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ[name] = "1"
    command = [python, os.path.join(ROOT, "tools", "start.py"), script, *arguments]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":
        # While one Python becomes another, Ctrl-C would meet neither's handler; it comes when tools/start.py listens.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.execv(python, command)
    # Windows has no exec that keeps the console; Ctrl-C reaches the child by itself, so this one only waits.
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a child does not inherit there
    return subprocess.Popen(command).wait()
