# SPDX-License-Identifier: GPL-3.0-or-later
"""Where jobs, and what they need, are kept on this system."""

import os
import sys
from pathlib import Path


def jobs_root() -> Path:
    """Where jobs go: ``SINEW_JOBS``, else this user's data folder on this system."""
    if chosen := os.environ.get("SINEW_JOBS"):
        return Path(chosen)
    return user_data_folder() / "jobs"


def user_data_folder() -> Path:
    """Where this user's programs keep their data on this system, whatever else was chosen."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Sinew"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Sinew"
    chosen = os.environ.get("XDG_DATA_HOME", "")
    return (Path(chosen) if os.path.isabs(chosen) else Path.home() / ".local" / "share") / "sinew"
