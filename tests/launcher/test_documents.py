# SPDX-License-Identifier: GPL-3.0-or-later
"""What README and docs say is still so: links and pictures lead somewhere, and messages are worded as in the code."""

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("bench", "bridge", "core", "operators", "panels")
READMES = sorted(page for room in ROOMS for page in (ROOT / room).rglob("README.md"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *READMES])
SOURCES = ("bridge", "core", "operators", "panels", "tools")
# In backticks, but not in the project: what a job's folder holds, what a tutorial makes, what lies beside a checkout.
ELSEWHERE = (
    "inputs/ checkpoints/ result/ out/ spec.json events.jsonl worker.log report.json home.json collected.json "
    "result/take.npz result/report.json ../shared/mocap core/control/tremor.py .../pythonX.Y/site-packages ./sinew"
).split()
BLENDERS_OWN = {"--enable-autoexec"}

_LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)>\s]+)>?[^)]*\)")
_HTML = re.compile(r"""(?:src|href)=["']([^"']+)["']""")
_FENCE = re.compile(r"```.*?```", re.DOTALL)
_MESSAGE = re.compile(r"^\| \*(.+?)\* \|", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def targets(page: Path) -> list[str]:
    """What a page links to and shows, code left out."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if not line.startswith("    ")]
    text = re.sub(r"`[^`]*`", "", "\n".join(lines))
    return [*_LINK.findall(text), *_HTML.findall(text)]


def anchors(page: Path) -> set[str]:
    """The places of a page that a link can lead to, as GitHub names them."""
    headings = _HEADING.findall(_FENCE.sub("", page.read_text(encoding="utf-8")))
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}


def missing(page: Path) -> list[str]:
    """Its links that lead nowhere; those into the world are not tried."""
    found = []
    for target in targets(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        leaves = page.is_relative_to(ROOT) and not there.is_relative_to(ROOT)
        if not there.exists() or leaves or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_pictures_lead_somewhere(page):
    assert missing(page) == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](no.md) [b](#two) [c](#one) ![d](no.png) `[e](code.md)` <img src='no.jpg'>", "utf-8")
    assert missing(page) == ["no.md", "#two", "no.png", "no.jpg"]


def missing_paths(page: Path) -> list[str]:
    """Paths in backticks that lead nowhere: from the root, the page's folder, the one around it, or below it."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    named = [word for word in re.findall(r"`([\w./-]+)`", text) if word not in ELSEWHERE and not word.startswith("/")]
    paths = [word for word in named if "/" in word or re.fullmatch(r"[\w-]+\.(py|md|toml|json|txt)", word)]
    home = page.parent
    around = [ROOT, home, home.parent, *(path for path in home.rglob("*") if path.is_dir() and home != ROOT)]
    return [path for path in paths if not any((folder / path).exists() for folder in around)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_in_backticks_are_there(page):
    assert missing_paths(page) == []


@lru_cache(maxsize=1)
def words_of_code() -> set[str]:
    """Every word in the sources and their tests."""
    files = [path for room in (*ROOMS, "tests", "tools") for path in (ROOT / room).rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in (*files, ROOT / "__init__.py", ROOT / "sinew")]
    return set(re.findall(r"\w+", "\n".join(texts))) | {path.stem for path in files}


def missing_names(text: str) -> list[str]:
    """Names in backticks, such as ``Take.others`` and ``register()``, that are nowhere in the code."""
    named = re.findall(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*?\))?`", _FENCE.sub("", text))
    return [name for name in named if not set(name.split(".")) <= words_of_code() and name not in ELSEWHERE]


@pytest.mark.parametrize(
    "page", [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *READMES], ids=lambda page: str(page.relative_to(ROOT))
)
def test_names_in_backticks_are_in_the_code(page):
    assert missing_names(page.read_text(encoding="utf-8")) == []


def test_a_path_and_a_name_that_are_gone_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("`core/motion/clip.py` `core/gone.py` `gone.py` `--option` `out/`", "utf-8")
    assert missing_paths(page) == ["core/gone.py", "gone.py"]
    gone = "no_longer" + "_there"
    assert missing_names(f"`Clip` `Take.others` `register()` `{gone}(clip)` `Take.{gone}`") == [gone, f"Take.{gone}"]


def test_the_architecture_is_a_short_read_that_names_every_room():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 1200
    drawn = re.findall(r"(?<![\w/])(?:core|bridge|operators)/[\w/]+\.py", text)
    assert len(drawn) > 15 and [path for path in drawn if not (ROOT / path).is_file()] == []
    rooms = [path.parent.name for room in ("bridge", "core") for path in (ROOT / room).glob("*/__init__.py")]
    assert [room for room in rooms if not re.search(rf"`(?:core/)?{room}/?[`/]", text)] == []
    linked = {(ROOT / target).resolve() for target in targets(ROOT / "ARCHITECTURE.md")}
    assert [page.relative_to(ROOT).as_posix() for page in READMES if page not in linked] == []


@lru_cache(maxsize=1)
def options() -> set[str]:
    """Every option of the launcher and the command line."""
    files = [path for room in (*SOURCES, "bench") for path in (ROOT / room).rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in (*files, ROOT / "tools" / "launcher.py")]
    return set(re.findall(r"--[a-z][a-z-]+", "\n".join(texts))) | BLENDERS_OWN


def unknown_options(text: str) -> list[str]:
    """Options on lines with a command of ours, and in backticks alone, that nothing here knows."""
    said = re.findall(
        r"^(?:\s*\./sinew|.* -c sinew) (.*?)(?: -- .*)?$", text, re.MULTILINE
    )  # Blender's own come before
    named = [*re.findall(r"`(--[a-z][a-z-]+)", text), *re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(said))]
    return sorted({option for option in named if option not in options()})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_options_are_called_so(page):
    assert unknown_options(page.read_text(encoding="utf-8")) == []


def test_an_option_that_is_gone_is_noticed():
    assert unknown_options("    ./sinew simulate walk --seed 1 --sead 2\n`--bed` `--body`\nother --thing") == [
        "--bed",
        "--sead",
    ]


def test_every_page_can_be_found_from_the_index():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in targets(index)}
    assert [page.name for page in PAGES if page.parent == index.parent and page not in {*linked, index}] == []


def test_no_picture_lies_about_unused():
    shown = {(page.parent / target).resolve() for page in PAGES for target in targets(page)}
    pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".png", ".jpg", ".svg", ".gif")]
    assert [path.relative_to(ROOT).as_posix() for path in pictures if path not in shown] == []


@lru_cache(maxsize=1)
def sayings() -> str:
    """Every text in the code, one a line, with '…' where a value is filled in."""
    found = set()
    for room in SOURCES:
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    parts = [str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values]
                    found.add("".join(parts))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return "\n".join(sorted(found))


def quoted() -> list[str]:
    """The messages of the page about them: in italics at the beginning of a table's line."""
    return _MESSAGE.findall((ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("message", quoted())
def test_messages_are_quoted_as_they_are(message):
    assert message in sayings()


def test_what_the_page_of_the_panels_calls_by_name_is_called_so():
    text = (ROOT / "docs" / "panels.md").read_text(encoding="utf-8")
    names = sorted(set(re.findall(r"\*\*(.+?)\*\*", text)))
    known = set(sayings().splitlines())
    assert len(names) > 40
    assert [name for name in names if name not in known] == []


def test_a_message_that_nobody_says_any_more_is_noticed():
    assert "The flux capacitor of '…' is empty" not in sayings()
    assert len(quoted()) > 40
