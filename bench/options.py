# SPDX-License-Identifier: GPL-3.0-or-later
"""What benchmarks with options of their own have in common: lists of words and numbers, and lines to watch."""

import argparse
import sys


def print_progress(line: str) -> None:
    """A line for whoever watches; standard output is for JSON."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def split_words(text: str) -> tuple[str, ...]:
    """The words of 'one,two'."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def split_numbers(text: str) -> tuple[int, ...]:
    """The whole numbers of '0,1,2'."""
    try:
        return tuple(int(word) for word in split_words(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers; write N,N, such as 0,1,2") from None
