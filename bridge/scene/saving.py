# SPDX-License-Identifier: GPL-3.0-or-later
"""Save a .blend whole or not at all."""

import tempfile
from pathlib import Path

import bpy

from ...core.errors import CannotWrite
from ...core.files import cannot_write, make_folder, remove_file, replace_file, shorten_file_name
from ...core.interrupts import finish_first
from .muted_output import mute_output


def require_writable_folder(folder: Path) -> None:
    """Refuse a folder that nothing can be written to, before any work is done for it."""
    make_folder(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise cannot_write(folder, error) from error


@finish_first()
def save_blend(path: Path) -> None:
    """Save the open scene as ``path``; what was there before stays if anything goes wrong."""
    require_writable_folder(path.parent)
    part = path.with_name(f".{shorten_file_name(path.stem)}.part.blend")
    try:
        _save_copy(part)
        replace_file(part, path)
    except RuntimeError as error:  # Blender says in words what errno would have said
        reason = str(error).strip().splitlines()[-1]
        raise CannotWrite(f"Cannot save '{path}': {reason}", "Free some space or choose another folder") from error
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        remove_file(part)


def _save_copy(path: Path) -> None:
    with mute_output():
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False, compress=True)
