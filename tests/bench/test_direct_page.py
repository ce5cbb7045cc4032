# SPDX-License-Identifier: GPL-3.0-or-later
"""The page on directing is made of rows: the newest of each, what is more than its goal marked."""

import json

from sinew.bench.direct_page import write_page

ROWS = [
    {"what": "standing for 60 s", "drift_m": 0.5, "goal": {"drift_m": 0.1}, "code": "old"},
    {"what": "standing for 60 s", "drift_m": 0.06, "held": 0.99, "goal": {"drift_m": 0.1}, "code": "new"},
    {"what": "path of sharp turns at a walk, simulated", "skate_m_s": 0.03, "goal": {"skate_m_s": 0.02}, "fell": True},
    {"what": "the policy", "millions": 5.0, "tests": [[1_000_000, 8.0, 0.076], [5_000_000, 1.5, 0.046]]},
    {"what": "running, a cube of 8 kg each second", "mass_kg": 8.0, "trained": "never pushed", "lasts_s": 1.5},
    {"what": "a walk of 20 s on Bullet, policy alone", "skipped": "there is no Bullet"},
]


def test_the_newest_rows_are_told_with_what_is_more_than_its_goal(tmp_path):
    (tmp_path / "direct.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    page = write_page(tmp_path).read_text(encoding="utf-8")
    assert "| standing for 60 s | drift 0.06 m; held 99 % | drift 0.10 m | new |" in page and "old" not in page
    assert "**it falls**; feet that stand slide 3.00 cm/s | feet that stand slide 2.00 cm/s (**more**)" in page
    assert "| 5.0 | 1.50 | 46 mm |" in page and "there is no Bullet" in page
    assert "| never pushed | 1.5 s |" in page and (tmp_path / "images" / "direct" / "cubes.svg").is_file()
    order = [page.index(title) for title in ("## Without a body", "## With a body", "## On Bullet", "## Cubes")]
    assert order == sorted(order)
