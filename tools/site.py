# SPDX-License-Identifier: GPL-3.0-or-later
"""``python tools/site.py FOLDER``: docs/ as pages that are read offline; ``./sinew build`` puts them into the zip.

Our pages use a small part of Markdown, and what is here turns that part into HTML, with the standard library alone. A
link into the checkout that leads out of docs/ is text there; pictures of the pages of figures stay at home, as they are
large and say nothing about how to do anything.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import sys
from collections.abc import Callable

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
DOCS = os.path.join(ROOT, "docs")
LEFT_OUT = (
    "images/simulate/",
    "images/characters/",
    "images/styles/",
    "images/respond/",
    "images/bounds/",
    "images/improvise_",
)
"""How the names of pictures begin that do not come along."""

_STYLE = """
body { max-width: 52rem; margin: 0 auto; padding: 1rem 1.2rem 4rem; font: 16px/1.5 sans-serif }
body { color: #222; background: #fff }
nav { border-bottom: 1px solid #999; padding-bottom: .5rem } img { max-width: 100%; height: auto }
pre { background: #eee; padding: .7rem; overflow-x: auto } code { background: #eee; padding: 0 .2em }
pre code { padding: 0 } table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { border: 1px solid #999; padding: .25rem .5rem; text-align: left; vertical-align: top }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #222 } pre, code { background: #333 } a { color: #8bf }
}
"""
_MENU = (
    ("README", "All pages"),
    ("tutorial", "Tutorial"),
    ("panels", "Panels"),
    ("troubleshooting", "Troubleshooting"),
)
_ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")


def main(argv: list[str]) -> int:
    """Write the site."""
    if len(argv) != 1:
        print("usage: python tools/site.py FOLDER", file=sys.stderr)
        return 2
    make_site(argv[0])
    return 0


def make_site(folder: str) -> None:
    """Every page of docs/ as HTML in a folder that is made, with the pictures that it shows; index.html is first."""
    names = sorted(name[:-3] for name in os.listdir(DOCS) if name.endswith(".md"))
    os.makedirs(folder)
    for name in names:
        with open(os.path.join(DOCS, name + ".md"), encoding="utf-8") as stream:
            text = stream.read()
        page = Page(text, names)
        with open(os.path.join(folder, page_file(name)), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(page.document())
        for picture in page.pictures:
            target = os.path.join(folder, *picture.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(DOCS, *picture.split("/")), target)


def page_file(name: str) -> str:
    """What a page is called in the site."""
    return "index.html" if name == "README" else name + ".html"


def anchor(heading: str) -> str:
    """The place of a heading, as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


class Page:
    """A page of Markdown, turned into HTML. names: the pages that a link can lead to."""

    def __init__(self, text: str, names: list[str]) -> None:
        self.names = names
        self.pictures: list[str] = []
        self.title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), "Sinew")
        self.body = self._blocks(text.splitlines())

    def document(self) -> str:
        """The whole file."""
        menu = " | ".join('<a href="%s">%s</a>' % (page_file(name), label) for name, label in _MENU)
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        parts = (head, html.escape(self.title), _STYLE, menu, self.body)
        return '<!DOCTYPE html>\n<html lang="en"><head>%s<title>%s</title><style>%s</style></head>\n' % parts[:3] + (
            "<body><nav>%s</nav>\n%s\n</body></html>\n" % parts[3:]
        )

    def _blocks(self, lines: list[str]) -> str:
        found: list[str] = []
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip() or line.startswith("<!--"):
                at += 1
            elif line.lstrip().startswith("```"):
                end = next(n for n in range(at + 1, len(lines)) if lines[n].lstrip().startswith("```"))
                found.append(_code(lines[at + 1 : end]))
                at = end + 1
            elif line.startswith("    "):
                end = _while(lines, at, lambda one: one.startswith("    ") or not one.strip())
                found.append(_code(lines[at:end]))
                at = end
            elif line.startswith("#"):
                mark, _, words = line.partition(" ")
                level = len(mark)
                found.append('<h%d id="%s">%s</h%d>' % (level, anchor(words), self._inline(words), level))
                at += 1
            elif line.startswith("|"):
                end = _while(lines, at, lambda one: one.startswith("|"))
                found.append(self._table(lines[at:end]))
                at = end
            elif line.startswith(">"):
                end = _while(lines, at, lambda one: one.startswith(">"))
                inner = [one[1:].removeprefix(" ") for one in lines[at:end]]
                found.append("<blockquote>%s</blockquote>" % self._blocks(inner))
                at = end
            elif _ITEM.match(line):
                end = _while(lines, at, _is_of_list)
                found.append(self._list(lines[at:end]))
                at = end
            else:
                end = _while(lines, at, _is_paragraph)
                found.append("<p>%s</p>" % self._inline(" ".join(one.strip() for one in lines[at:end])))
                at = end
        return "\n".join(found)

    def _list(self, lines: list[str]) -> str:
        """Items with whatever is indented below them."""
        first = _ITEM.match(lines[0])
        assert first is not None
        indent, kind = len(first[1]), "ul" if first[2] in "-*" else "ol"
        items: list[list[str]] = []
        for line in lines:
            match = _ITEM.match(line)
            if match is not None and len(match[1]) == indent:
                width = len(line) - len(match[3])
                items.append([match[3]])
            else:
                items[-1].append(line[width:] if not line[:width].strip() else line.lstrip())
        return "<%s>%s</%s>" % (kind, "".join("<li>%s</li>" % self._item(item) for item in items), kind)

    def _item(self, lines: list[str]) -> str:
        inner = self._blocks(lines)
        plain = inner.startswith("<p>") and inner.count("<p>") == 1 and inner.endswith("</p>")
        return inner[3:-4] if plain else inner

    def _table(self, lines: list[str]) -> str:
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
        ruled = len(rows) > 1 and all(re.fullmatch(r":?-+:?", cell) for cell in rows[1])
        found = []
        for number, row in enumerate(rows):
            if ruled and number == 1:
                continue
            kind = "th" if ruled and number == 0 else "td"
            cells = "".join("<%s>%s</%s>" % (kind, self._inline(cell.replace("\\|", "|")), kind) for cell in row)
            found.append("<tr>%s</tr>" % cells)
        return "<table>%s</table>" % "".join(found)

    def _inline(self, text: str) -> str:
        """Code, pictures, links, bold and italic; all else stands for itself."""
        kept: list[str] = []

        def keep(made: str) -> str:
            kept.append(made)
            return "\0%d\0" % (len(kept) - 1)

        text = re.sub(r"(`+)(.+?)\1", lambda m: keep("<code>%s</code>" % html.escape(m[2].strip(), quote=False)), text)
        text = html.escape(text, quote=False)
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", lambda m: keep(self._picture(m[1], m[2])), text)
        text = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", lambda m: self._link(m[1], m[2], keep), text)
        text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"(?<![\w*])\*(?![\s*])(.+?)(?<![\s*])\*(?![\w*])", r"<em>\1</em>", text)
        while "\0" in text:
            text = re.sub(r"\0(\d+)\0", lambda m: kept[int(m[1])], text)
        return text

    def _picture(self, words: str, path: str) -> str:
        if path.startswith(LEFT_OUT) or not path.startswith("images/"):
            return "<em>[%s]</em>" % (words or "A picture")
        self.pictures.append(path)
        return '<img src="%s" alt="%s">' % (path, words.replace('"', "&quot;"))

    def _link(self, words: str, target: str, keep: Callable[[str], str]) -> str:
        if re.match(r"[a-z]+:", target):
            there = target
        else:
            path, _, place = target.partition("#")
            if path and (not path.endswith(".md") or path[:-3] not in self.names):
                return words
            there = (page_file(path[:-3]) if path else "") + ("#" + place if place else "")
        return keep('<a href="%s">' % there) + words + "</a>"


def _code(lines: list[str]) -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join(line[indent:] for line in lines).strip("\n")
    return "<pre><code>%s</code></pre>" % html.escape(text, quote=False)


def _while(lines: list[str], at: int, goes_on: Callable[[str], bool]) -> int:
    """Where a block that begins here ends; blank lines at its end are not of it."""
    end = at + 1
    while end < len(lines) and goes_on(lines[end]):
        end += 1
    while end > at + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _is_of_list(line: str) -> bool:
    return not line.strip() or line.startswith(" ") or _ITEM.match(line) is not None


def _is_paragraph(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("#", "|", ">", "```")) and _ITEM.match(line) is None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
