# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles that are in the names of clips: the word before the first underscore, as collections of mocap have it.

A file of a game's character has one Action for each thing that it can do, which exporters call 'Armature|Walk'.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence

WAYS = ("auto", "names", "none")
"""Whether words of names are style tags: where they repeat, always, or never."""

_COLLECTION, _SHARED = 8, 0.6  # names of a collection, and how many of them share their words with others
_TAKES = 3  # Actions of one armature, by whose names they are styles
_OWNER = re.compile(r"(.+)\|([^\W\d_][a-z]*)[^|]*")  # what an exporter puts before an Action's name, and its first word
_WORD = re.compile(r"[^\W\d][^\W_]*")  # begins with a letter: '16_11' names no style


def find_name_styles(names: Sequence[str], way: str = "auto", known: Collection[str] = ()) -> list[tuple[str, ...]]:
    """For each name the tags of its whole clip: its first word, or none.

    way: 'auto' takes a word that two names begin with, or that is ``known`` as a tag already, for a single file called
    'final_version' names no style; in a collection in which most names share their words, the others are styles as
    well. 'names' takes every word, 'none' takes none.
    """
    takes = [_OWNER.fullmatch(name) for name in names]
    owners = Counter(match[1] for match in takes if match)
    words = [match[0] if (match := _WORD.match(name)) and "_" in name else "" for name in names]
    often = Counter(words)
    shared = sum(often[word] > 1 for word in words if word)
    is_collection = len(words) >= _COLLECTION and shared > _SHARED * len(words)

    def is_style(word: str) -> bool:
        return bool(word) and (
            way == "names" or (way == "auto" and (is_collection or often[word] > 1 or word in known))
        )

    def is_take(match: re.Match[str] | None) -> bool:
        return match is not None and way != "none" and (way == "names" or owners[match[1]] >= _TAKES)

    return [
        (match[2].lower(),) if match is not None and is_take(match) else ((word,) if is_style(word) else ())
        for word, match in zip(words, takes, strict=True)
    ]
