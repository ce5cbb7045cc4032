# SPDX-License-Identifier: GPL-3.0-or-later
"""A user whom permissions stop, for tests that may be run by one whom they do not."""

import contextlib
import os
import tempfile
from pathlib import Path

NOBODY = 65534


@contextlib.contextmanager
def as_nobody():
    """As nobody where the tests are root's, else as who runs them."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextlib.contextmanager
def open_folder():
    """A folder that anybody may look into and write to: pytest's own are for their user alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)
