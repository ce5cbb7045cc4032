# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew test``: a failing part fails the whole, and the others run all the same."""

import pytest

from .load import load

check = load("tools.check")


class Calls(list):
    """What was called, in order, and the exit codes to answer with."""

    def __init__(self):
        super().__init__()
        self.codes = {}


@pytest.fixture
def calls(monkeypatch):
    """Replaces the tools by exit codes: ``calls.codes[tool]``, 0 unless told."""

    made = Calls()

    def call(module, *arguments):
        made.append((module, *arguments))
        return made.codes.get(module, 0)

    monkeypatch.setattr(check, "call", call)
    return made


def test_all_parts_run_in_order(calls, capsys):
    assert check.main([]) == 0
    assert [call[0] for call in calls] == ["ruff", "ruff", "mypy", "pytest", "pytest"]
    summary = capsys.readouterr().out.splitlines()[-4:]
    assert [line.split()[:2] for line in summary] == [[part, "ok"] for part in ("lint", "types", "core", "bpy")]


@pytest.mark.parametrize(("tool", "part"), [("ruff", "lint"), ("mypy", "types"), ("pytest", "core")])
def test_a_failure_fails_the_whole_but_stops_nothing(calls, capsys, tool, part):
    calls.codes[tool] = 1
    assert check.main([]) == 1
    assert len(calls) == 5
    assert any(line.split()[:2] == [part, "FAILED"] for line in capsys.readouterr().out.splitlines())


def test_only_the_parts_asked_for(calls):
    assert check.main(["--only", "core", "--only", "lint", "--", "-k", "clip"]) == 0
    assert [call[0] for call in calls] == ["ruff", "ruff", "pytest"]
    assert calls[-1][-2:] == ("-k", "clip")


def test_what_is_named_is_run_instead_of_all(calls):
    one = "tests/core/test_paths.py::test_none"
    assert check.main(["--", "-x", one, "tests/launcher"]) == 0
    runs = [call for call in calls if call[0] == "pytest"]
    assert len(runs) == 1 and runs[0][-3:] == ("-x", one, "tests/launcher")
    assert not {"tests/core", "tests/bench"} & set(runs[0])
    assert check.main(["--only", "core", "--", "tests/bpy/conftest.py"]) == 1


def test_an_unknown_part_is_misuse(calls):
    with pytest.raises(SystemExit) as stop:
        check.main(["--only", "everything"])
    assert stop.value.code == 2


def test_no_tests_at_all_is_a_failure(calls):
    calls.codes["pytest"] = check.NOTHING_COLLECTED
    assert check.main(["--only", "core"]) == 1
    assert check.main(["--only", "core", "--", "-k", "no_such_test"]) == 1


def test_counts_of_a_report(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="1" errors="0" skipped="2"/></testsuites>')
    assert check.counts(str(report)) == "6 passed, 1 failed, 2 skipped"
    assert check.counts(str(tmp_path / "none.xml")) == ""
