# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages that the zip brings: all of docs/, every link and picture of them there, and nothing from the network."""

import re
from html.parser import HTMLParser

import pytest
from tools import site


class Reader(HTMLParser):
    """What a browser would see: links, pictures, places, what is open, and the words outside of code."""

    def __init__(self, text):
        super().__init__()
        self.links, self.pictures, self.places, self.open, self.words = [], [], set(), [], []
        self.feed(text)
        assert self.open == [], "not all that was opened is closed"

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [found["href"]] if tag == "a" else []
        self.pictures += [found["src"]] if tag == "img" else []
        self.places |= {found["id"]} if "id" in found else set()
        if tag not in ("img", "meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"code", "style"} & set(self.open):
            self.words.append(data)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "help"
    site.make_site(str(folder))
    return folder, {path.name: Reader(path.read_text("utf-8")) for path in folder.glob("*.html")}


def test_every_page_is_there_and_every_link_leads_somewhere(made):
    folder, pages = made
    docs = {site.page_file(name[:-3]) for name in site.os.listdir(site.DOCS) if name.endswith(".md")}
    assert set(pages) == docs and "index.html" in pages
    for name, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, place = link.partition("#")
            assert path in pages or not path, f"{name}: {link}"
            assert not place or place in pages[path or name].places, f"{name}: {link}"
        for picture in page.pictures:
            assert (folder / picture).is_file(), f"{name}: {picture}"
    assert {"tutorial.html", "panels.html", "troubleshooting.html", "glossary.html"} <= set(pages["index.html"].links)
    assert pages["panels.html"].pictures and pages["tutorial.html"].pictures


def test_nothing_of_the_markdown_is_left_and_nothing_comes_from_the_network(made):
    folder, pages = made
    for name, page in pages.items():
        text = "".join(page.words)
        assert not re.search(r"\*\*|\]\(|\|---|^#+ |\0", text, re.MULTILINE), name
        assert not re.search(r"<(?:script|link|iframe)|@import|url\(", (folder / name).read_text("utf-8")), name
        assert not any(picture.startswith("http") for picture in page.pictures)


def test_it_is_small(made):
    assert sum(path.stat().st_size for path in made[0].rglob("*") if path.is_file()) < 6e6


def test_each_kind_of_block():
    page = site.Page(
        "# A `b` title\n\nTwo\nlines, **bold _and_ `*`**, *slanted*, 2 * 3 * 4, a<b.\n\n"
        "1. One\n2. Two:\n   - inner\n   - more\n     lines\n\n   still two\n\n    code <x>\n\n"
        "| h | `a` |\n|---|---|\n| 1 \\| 2 | [there](other.md#a-place) |\n\n"
        "![Seen](images/x.png) ![Large](images/simulate/y.png) [out](../core/README.md) [net](https://a.b)\n\n> Said\n",
        ["other"],
    )
    assert page.title == "A `b` title" and page.pictures == ["images/x.png"]
    for part in (
        '<h1 id="a-b-title">A <code>b</code> title</h1>',
        "<p>Two lines, <strong>bold _and_ <code>*</code></strong>, <em>slanted</em>, 2 * 3 * 4, a&lt;b.</p>",
        "<ol><li>One</li><li><p>Two:</p>\n<ul><li>inner</li><li>more lines</li></ul>\n<p>still two</p>",
        "<th>h</th><th><code>a</code></th>",
        '<td>1 | 2</td><td><a href="other.html#a-place">there</a></td>',
        '<img src="images/x.png" alt="Seen"> <em>[Large]</em> out <a href="https://a.b">net</a>',
        "<blockquote><p>Said</p></blockquote>",
        "code &lt;x&gt;",
    ):
        assert part in page.body, part
    Reader(page.document())
