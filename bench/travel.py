# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench travel``: walks and runs on the spot of characters that nobody here made, and the loops that come back.

Each gets the travel that its feet ask for, is simulated over five cycles, and comes back as a loop on the spot. What is
measured: how fast it travels, whether it stays up, and how far the loop's last frame is from its first, beside that of
the source.
"""

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ..bridge.body.body_inputs import read_body_attachments
from ..bridge.importing.importers import open_input
from ..bridge.rig.rig_reader import read_rig
from ..core.control import registry
from ..core.control.sampling.method import TRAVEL
from ..core.control.tracking.cycle_playing import find_lost_time
from ..core.errors import BadSettings, SinewError
from ..core.files import write_whole
from ..core.measure.measures import measure_take
from . import mocap
from . import rows as bench_rows
from .options import print_progress, split_words
from .run import BenchRun, Row
from .travel_page import closes_as_well, travel_page


@dataclass(frozen=True)
class Cycle:
    """An Action on the spot: in which file of ../shared, and metres a unit of it."""

    name: str
    file: str
    action: str
    scale: float = 1.0


_SKINNED = "mocap/skinned"
_ZEBRA = "libraries/quadruped/quaternius_Zebra.fbx"
CYCLES = (
    Cycle("CesiumMan", f"{_SKINNED}/CesiumMan.glb", "Anim_0"),
    Cycle("mannequiny_run", f"{_SKINNED}/mannequiny.glb", "run_root.001"),
    Cycle("robot_walk", f"{_SKINNED}/RobotExpressive.glb", "Walking", 0.3),
    Cycle("robot_run", f"{_SKINNED}/RobotExpressive.glb", "Running", 0.3),
    Cycle("fox_walk", f"{_SKINNED}/Fox.glb", "Walk", 0.01),
    Cycle("fox_run", f"{_SKINNED}/Fox.glb", "Run", 0.01),
    Cycle("zebra_walk", _ZEBRA, "Armature|Armature|WalkSlow", 0.2),
    Cycle("zebra_run", _ZEBRA, "Armature|Armature|Run", 0.2),
)


_KEY = ("cycle", "seed", "engine", "quality")  # what makes two rows the same run


class _TravelRun(BenchRun):
    """Remembers what was said of the travel."""

    def __init__(self, engine: str, seed: int, attachments: Mapping[str, Any]) -> None:
        super().__init__(engine, seed, attachments)
        self.travel: Mapping[str, Any] = {}

    def add_detail(self, name: str, value: Mapping[str, Any]) -> None:
        """Keep what it is about."""
        if name == TRAVEL:
            self.travel = value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    names = ", ".join(cycle.name for cycle in CYCLES)
    parser.add_argument("--only", type=split_words, default=(), metavar="NAMES", help=f"some of: {names}")
    parser.add_argument("--quality", default="normal", help="draft, normal or high (default normal)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed (default 0)")
    parser.add_argument("--engine", default="mujoco", help="mujoco or bullet (default mujoco)")
    parser.add_argument("--rows", type=Path, metavar="FILE.jsonl", help="append every row to this file")
    parser.add_argument("--page", type=Path, metavar="DIR", help="write travel.md there, from all that --rows has")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Simulate every cycle, one row each."""
    known = {cycle.name: cycle for cycle in CYCLES}
    if unknown := [name for name in arguments.only if name not in known]:
        raise BadSettings(f"There is no cycle '{unknown[0]}'", f"Choose from: {', '.join(known)}")
    rows: list[Row] = []
    for name in arguments.only or known:
        path = mocap.FOLDER.parent / known[name].file
        if not path.is_file():
            rows.append({"cycle": name, "skipped": f"there is no '{path}'"})
            continue
        row = simulate_cycle(known[name], arguments.quality, arguments.seed, arguments.engine)
        rows.append(row)
        if arguments.rows is not None:
            bench_rows.append_row(arguments.rows, row)
        print_progress(_line(row))
    if arguments.page is not None:
        written = bench_rows.read_rows(arguments.rows) if arguments.rows is not None else rows
        write_whole(arguments.page / "travel.md", travel_page(bench_rows.newest_rows(written, _KEY)).encode())
    done = [row for row in rows if row.get("handed_back") == "on_spot"]
    closed = sum(closes_as_well(row) for row in rows)
    return {
        "rows": rows,
        "loops": len(done),
        "close_as_well": closed,
        "lost": sum(row.get("lost_at_s") is not None for row in rows),
    }


def simulate_cycle(cycle: Cycle, quality: str, seed: int, engine: str) -> Row:
    """The row of one cycle; with the message that stopped it, where one did."""
    open_input(str(mocap.FOLDER.parent / cycle.file), cycle.scale)
    obj = next(found for found in bpy.context.scene.objects if found.type == "ARMATURE")
    action = bpy.data.actions[cycle.action]
    rig = read_rig(obj, action=action)
    method = registry.get_method("sampling")
    run = _TravelRun(engine, seed, read_body_attachments(obj, rig, None, action))
    row: Row = {"cycle": cycle.name, "seed": seed, "engine": engine, "quality": quality}
    row |= {"commit": bench_rows.code_version(), "frames": len(rig.clip), "clip_s": rig.clip.duration_s}
    begin = time.perf_counter()
    try:
        take = method.run(rig.clip, method.settings_type(quality=quality), run)  # type: ignore[call-arg]
    except SinewError as error:
        return {**row, "refused": str(error)}
    assert take is not None
    row |= {"wall_s": time.perf_counter() - begin, "fell": take.fell, "lost_at_s": find_lost_time(run.traces[0])}
    missing = [text for text, kind in zip(run.findings, run.kinds, strict=True) if kind.startswith("needs_")]
    row |= {"take_frames": len(take.motion), "missing": missing, **run.travel}
    return row | measure_take(run.traces[0], take.in_take_time(rig.clip), take.motion).to_mapping()


def _line(row: Row) -> str:
    if "refused" in row or "speed_m_s" not in row:
        return f"{row['cycle']}: {row.get('refused', 'was not found to be on the spot')}"
    fate = "stayed" if row["lost_at_s"] is None else f"lost at {row['lost_at_s']:.1f} s"
    seam = f"seam {row.get('seam_rad', float('nan')):.4f} rad {1e3 * row.get('seam_m', float('nan')):.2f} mm"
    source = f"of the source {row['source_seam_rad']:.4f} rad {1e3 * row['source_seam_m']:.2f} mm"
    travels = f"{row['speed_m_s']:.2f} m/s, {row['cycles']} cycles"
    return f"{row['cycle']}: {travels}, {fate}, {1e3 * row['joint_error_m']:.0f} mm, {seam}, {source}"
