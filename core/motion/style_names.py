# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles that are in the names of clips: the word before the first underscore, as collections of mocap have it."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

WAYS = ("auto", "names", "none")
"""Whether words of names are style tags: where they repeat, always, or never."""

_COLLECTION, _SHARED = 8, 0.6  # names of a collection, and how many of them share their words with others
_WORD = re.compile(r"[^\W\d][^\W_]*")  # begins with a letter: '16_11' names no style


def find_name_styles(names: Sequence[str], way: str = "auto", known: Collection[str] = ()) -> list[tuple[str, ...]]:
    """For each name the tags of its whole clip: its first word, or none.

    way: 'auto' takes a word that two names begin with, or that is ``known`` as a tag already, for a single file called
    'final_version' names no style; in a collection in which most names share their words, the others are styles as
    well. 'names' takes every word, 'none' takes none.
    """
    words = [match[0] if (match := _WORD.match(name)) and "_" in name else "" for name in names]
    often = Counter(words)
    shared = sum(often[word] > 1 for word in words if word)
    is_collection = len(words) >= _COLLECTION and shared > _SHARED * len(words)

    def is_style(word: str) -> bool:
        return bool(word) and (
            way == "names" or (way == "auto" and (is_collection or often[word] > 1 or word in known))
        )

    return [(word,) if is_style(word) else () for word in words]
