# SPDX-License-Identifier: GPL-3.0-or-later
"""Specs and notes are small: a large one that is planted in a folder of jobs costs a line, no time and no memory."""

import json
import tracemalloc

import pytest

from sinew.core import jobs, limits
from sinew.core.errors import CannotWrite
from sinew.core.jobs import home
from sinew.core.jobs.target import CastTarget, Target


def fatten(path, mebibytes):
    """Put so much of nothing into a JSON file, which stays one that can be read."""
    values = json.loads(path.read_text(encoding="utf-8"))
    padding = "[" + ",".join(["[]"] * (mebibytes * limits.MIB // 3)) + "]"
    path.write_text(json.dumps(values | {"settings": {"fat": 0}}).replace(": 0}", f": {padding}}}"), encoding="utf-8")


def test_a_fat_spec_costs_a_line_and_no_memory(make):
    whole, *fat = (make() for _ in range(4))
    for job in fat:
        fatten(job.folder / "spec.json", 5)
    tracemalloc.start()
    found = jobs.find_jobs()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * limits.MIB, "a spec of 5 MB was read"
    assert [one.spec.id for one in found if isinstance(one, jobs.Job)] == [whole.spec.id]
    unreadable = [one for one in found if isinstance(one, jobs.UnreadableJob)]
    assert {one.folder for one in unreadable} == {job.folder for job in fat}
    assert all("too large" in str(one.problem) and "256 KB" in str(one.problem) for one in unreadable)


@pytest.mark.parametrize("name", ["home.json", "collected.json"])
def test_a_fat_note_is_none(make, name):
    job = make()
    job.write_note(name, {"blend": "/x.blend", "action": "A"})
    assert job.read_note(name) is not None
    fatten(job.folder / name, 1)
    assert job.read_note(name) is None
    assert home.read_home(job) == {} if name == "home.json" else job.collected() is None


def test_a_hundred_characters_with_long_names_are_a_job(clip):
    name = "字" * 21  # as long as Blender allows
    cast = tuple(CastTarget(f"{name}{number}", name, "f" * 32) for number in range(100))
    target = Target(armature=name, action=name, blend="/" + "b" * 1000, cast=cast)
    inputs = {f"cast{number}_{what}": ({}, {}) for number in range(1, 101) for what in ("clip", "rig", "body", "mesh")}
    job = jobs.create(clip, method="passthrough", settings={}, target=target, attachments=inputs)
    assert jobs.open_job(job.folder).spec == job.spec
    assert (job.folder / "spec.json").stat().st_size < limits.SPEC_BYTES // 2


def test_more_than_is_read_is_not_written(clip):
    cast = tuple(CastTarget("a" * 1000) for _ in range(300))
    with pytest.raises(CannotWrite, match=r"spec\.json.*at most 256 are read.*fewer characters"):
        jobs.create(clip, method="passthrough", settings={}, target=Target(armature="a", cast=cast))
    assert jobs.find_jobs() == [], "and nothing is left of it"
