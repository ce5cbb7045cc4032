# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line says everything in lines: names forge no row, arguments that are no text are refused."""

import json

import pytest

from sinew.bridge import cli
from sinew.core import jobs
from sinew.core.motion.plain_walk import plain_walk

FORGED = "walk\n20990101-000000-forged-0000               done       100%  sampling       paid\x1b[2J\u202e"


def job_called(title):
    """A job that was never started, under that title."""
    return jobs.create(plain_walk().frames(0, 4), method="passthrough", settings={}, title=title)


def test_a_title_forges_no_row(capsys):
    job_called("honest")
    job_called(FORGED)
    assert cli.main(["jobs", "list"]) == 0
    out = capsys.readouterr().out
    rows = out.rstrip("\n").split("\n")
    assert len(rows) == 2 and all(row.isprintable() for row in rows)
    assert not any(row.startswith("20990101") for row in rows)
    assert cli.main(["jobs", "list", "--json"]) == 0
    assert [row["title"] for row in json.loads(capsys.readouterr().out)] == ["honest", FORGED]


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "walk", "--fps", "\x1b[2J"],
        ["simulate", "\x1b[31mred\n\u202e.bvh"],
        ["simulate", "walk", "\x1b]0;title\x07"],
        ["simulate", "walk", "--armature", "\ud800"],
        ["simulate", "x" * 5000 + ".bvh"],
        ["simulate", "walk", "--out", "y" * 300 + ".blend"],
        ["simulate", "walk", "--scale", "1e300"],
        ["simulate", "walk", "--frames", "1:99999999999999"],
        ["simulate", "walk", "--cycles", "1000000000", "--method", "passthrough"],
        ["simulate", "walk", "--mass", "1e300"],
        ["simulate", "walk", "--push", "nan@1"],
        ["jobs", "show", "\x1b[2J\n"],
        ["jobs", "clean", "--older-than", "nan"],
        ["\x1b[2J"],
    ],
)
def test_whatever_is_written_the_answer_is_a_line(words, capfd, scene):
    assert cli.main(words) in (1, 2)
    said = capfd.readouterr()
    lines = (said.out + said.err).rstrip("\n").split("\n")
    assert all(line.isprintable() for line in lines), lines
    assert "Traceback" not in said.err
    assert lines[-1].startswith("sinew") and len(lines[-1]) < 2100


def test_a_jobs_folder_with_too_long_a_path_is_told(monkeypatch, capfd, scene):
    monkeypatch.setenv("SINEW_JOBS", "/tmp/" + "j" * 5000)
    assert cli.main(["simulate", "walk", "--method", "passthrough"]) == 1
    said = capfd.readouterr().err
    assert "Cannot write '/tmp/jjj" in said and "Traceback" not in said and len(said.strip().splitlines()) == 1


def test_a_job_that_cannot_be_read_is_not_said_to_be_missing(capfd):
    job = job_called("honest")
    (job.folder / "spec.json").write_text("[]")
    assert cli.main(["jobs", "show", job.folder.name]) == 1
    assert "does not describe a job" in capfd.readouterr().err


def test_cleaning_up_wants_a_number_of_days(capsys):
    job_called("kept")
    for days in ("nan", "-1", "1e300"):
        assert cli.main(["jobs", "clean", "--all", "--older-than", days]) == 1
    assert len(jobs.all_jobs()) == 1
