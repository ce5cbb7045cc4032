# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of others, made fit to be shown: a name from a file is one line, and tells a terminal nothing but itself."""

import unicodedata

LONGEST = 1000
"""Characters of a message for people; what is longer has its middle left out."""

# Control characters, formatting (which turns the direction of writing), lone surrogates, line and paragraph ends.
_UNFIT = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_JOINERS = "\u200c\u200d"  # letters of some scripts, and the people in some emoji, are made with them


def one_line(text: str, longest: int = 0) -> str:
    """The text on one line, with every character that a terminal would obey written as an escape, such as ``\\x1b``.

    longest: how many characters to show at most; 0 for all of them.
    """
    if not text.isprintable():
        text = "".join(_shown(character) for character in text)
    if longest and len(text) > longest:
        half = (longest - 3) // 2
        text = f"{text[:half]} … {text[-half:]}"
    return text


def is_encodable(text: str) -> bool:
    """Whether the text can be written to a file: a lone surrogate, half of a character, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _UNFIT or character in _JOINERS:
        return character
    return character.encode("unicode_escape").decode("ascii")
