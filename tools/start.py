# SPDX-License-Identifier: GPL-3.0-or-later
"""Begin a verb: ``python tools/start.py SCRIPT ARGUMENTS...``, which is what the launcher hands over to.

The launcher blocks Ctrl-C while one Python becomes another. Here it is heard of again, and ends the process without a
word of Python's: while a verb imports what it needs, an exception could only be a traceback, or worse. Standard library
of Python 3.8.
"""

from __future__ import annotations

import os
import signal
import sys

TOOLS = os.path.dirname(os.path.realpath(__file__))


def leave(*_: object) -> None:
    """End at once."""
    os.write(2, b"sinew: cancelled\n")
    os._exit(130)


def listen() -> None:
    """Hear of Ctrl-C from now on, unless a shell said that this process is not to."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, leave)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def main(argv: list[str]) -> None:
    """Run the script as if it had been started itself."""
    import runpy

    sys.argv[:] = argv
    # Tools wait for processes of theirs and clear up after them; the command line knows itself when to leave.
    if argv[0].startswith(TOOLS) and signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        runpy.run_path(argv[0], run_name="__main__")
    except KeyboardInterrupt:
        leave()


if __name__ == "__main__":
    listen()
    main(sys.argv[1:])
