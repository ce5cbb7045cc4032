# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a BVH file can be what it says, before Blender opens it: what is wrong, and on which line.

Blender's importer reads line by line and trusts them; here the same lines are read with suspicion, and nothing that it
opens is refused but what no body could follow: no numbers, numbers without end, rates and sizes beyond reason, and
joints that have more or fewer channels than there are numbers, whose motion would be another one.
"""

import codecs
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...errors import BadFile
from ...limits import (
    BLENDER_NAME_BYTES,
    BVH_BYTES,
    BVH_LINE_LETTERS,
    BVH_LINES,
    BVH_NUMBERS,
    FASTEST_FPS,
    LARGEST_DEGREES,
    LARGEST_UNITS,
    MOST_BONES,
    MOST_FRAMES,
    MOST_POSES,
    MOST_SPARSE_POSES,
    SLOWEST_FPS,
    SPARSE_KEYS,
)

_AXES = "xyz"
_MOST_CHANNELS = 9  # of a joint: place, turn and size
_SHOWN = 40  # letters of a number that a message shows
_AGAIN = "Export or download it again"


@dataclass
class _Joint:
    """A joint as far as it was read: its channels, such as 'xrotation', in the order of their columns."""

    name: str
    channels: tuple[str, ...] = ()


@dataclass
class _Reading:
    """Lines with their numbers, blank ones left out, and what was read of them."""

    path: Path
    lines: Iterator[tuple[int, list[str]]]
    joints: list[_Joint] = field(default_factory=list)
    number: int = 0

    def next_words(self, wanted: str) -> list[str]:
        """The words of the next line that has any."""
        for number, words in self.lines:
            self.number = number
            return words
        raise BadFile(f"'{self.path}' ends after line {self.number}, where {wanted} should follow", _AGAIN)

    def wrong(self, what: str, hint: str = _AGAIN) -> BadFile:
        """The error for the line that was read last."""
        return BadFile(f"'{self.path}', line {self.number}: {what}", hint)


def check_bvh(path: Path) -> None:
    """Refuse a BVH file that is torn, or whose numbers cannot be a motion, naming the line."""
    size = path.stat().st_size
    if size > BVH_BYTES:
        raise BadFile(
            f"'{path}' has {size / 1e6:.0f} MB, and {BVH_BYTES / 1e6:.0f} MB is the most that Sinew opens",
            "Cut it into shorter pieces",
        )
    with path.open("rb") as stream:
        if stream.read(3) == codecs.BOM_UTF8:
            hint = "Save it as UTF-8 without a byte order mark"
            raise BadFile(f"'{path}', line 1: it begins with a byte order mark, which Blender cannot read", hint)
    reading = _Reading(path, _words_of(path))
    if reading.next_words("HIERARCHY")[0].lower() != "hierarchy":
        raise reading.wrong("it does not begin with HIERARCHY, so it is no BVH file", "Check what kind of file it is")
    _check_hierarchy(reading)
    _check_motion(reading)


def _words_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line number from 1, words) of every line that has words, as Blender splits them.

    A word takes some twenty times its letters, so that no line is read that is longer than any frame.
    """
    with path.open("r", encoding="utf-8", errors="surrogateescape") as stream:
        for number in itertools.count(1):
            if not (line := stream.readline(BVH_LINE_LETTERS + 1)):
                return
            if len(line) > BVH_LINE_LETTERS:
                hint = "Write every frame on a line of its own"
                raise BadFile(f"'{path}', line {number}: it has more than {BVH_LINE_LETTERS} letters", hint)
            if number > BVH_LINES:
                hint = "Delete empty lines, or cut the file into shorter pieces"
                raise BadFile(f"'{path}' has more than {BVH_LINES} lines", hint)
            try:
                line.encode()
            except UnicodeEncodeError:
                hint = "Save it as UTF-8, or rename its joints with plain letters"
                raise BadFile(f"'{path}', line {number}: it has bytes that are no UTF-8 text", hint) from None
            if words := line.split():
                yield number, words


def _check_hierarchy(reading: _Reading) -> None:
    """Read joints up to MOTION."""
    depth = ends = 0
    words = reading.next_words("a ROOT")
    while words[0].lower() != "motion" or len(words) > 1:
        word = words[0].lower()
        if word in ("root", "joint"):
            words = _check_joint(reading, words)
            depth += 1
            continue
        if word == "end" and len(words) > 1 and words[1].lower() == "site":
            if depth == 0:
                raise reading.wrong("an End Site stands outside every joint")
            ends += 1
            if ends > MOST_BONES:
                raise reading.wrong(f"there are more than {MOST_BONES} End Sites", "Leave one for each joint")
            _expect(reading, "{")
            _check_offset(reading, f"the end of '{reading.joints[-1].name}'")
            depth += 1
        elif words == ["}"]:
            depth -= 1
            if depth < 0:
                raise reading.wrong("a '}' closes nothing")
        else:
            raise reading.wrong(f"'{words[0]}' stands where a JOINT, an End Site, a }} or MOTION should")
        words = reading.next_words("MOTION")
    if not reading.joints:
        raise reading.wrong("the file has no joints")
    if depth:
        raise reading.wrong(f"MOTION begins, and {depth} '}}' are missing before it")


def _check_joint(reading: _Reading, words: list[str]) -> list[str]:
    """Read a joint up to its channels; gives the words of the line after them."""
    if len(words) < 2:
        raise reading.wrong(f"{words[0]} has no name")
    joint = _Joint("_".join(words[1:]))
    reading.joints.append(joint)
    if not _is_whole(joint.name.encode()[:BLENDER_NAME_BYTES]):
        much = f"{len(joint.name.encode())} bytes, and Blender cuts it in the middle of a letter after"
        raise reading.wrong(f"the name '{joint.name}' has {much} {BLENDER_NAME_BYTES}", "Give it a shorter name")
    if len(reading.joints) > MOST_BONES:
        raise reading.wrong(f"there are more than {MOST_BONES} joints", "Export only the character's own joints")
    _expect(reading, "{")
    _check_offset(reading, f"'{joint.name}'")
    words = reading.next_words("CHANNELS")
    if words[0].lower() != "channels":
        if words == ["}"] or words[0].lower() == "end":
            return words  # a joint that does not move
        raise reading.wrong(f"'{words[0]}' stands where the CHANNELS of '{joint.name}' should")
    joint.channels = tuple(word.lower() for word in words[2:])
    says = words[1] if len(words) > 1 else ""
    if says.lstrip("+0") != str(len(joint.channels) or ""):
        raise reading.wrong(f"'{joint.name}' should have '{says}' channels, and {len(joint.channels)} are named")
    if len(joint.channels) > _MOST_CHANNELS:
        much = f"'{joint.name}' has {len(joint.channels)} channels, and {_MOST_CHANNELS} is the most"
        raise reading.wrong(much, "Export it with three positions and three rotations a joint")
    turns = [channel[0] for channel in joint.channels if channel in ("xrotation", "yrotation", "zrotation")]
    if turns and sorted(turns) != list(_AXES):
        has = ", ".join(f"{axis.upper()}rotation" for axis in turns)
        raise reading.wrong(
            f"'{joint.name}' has the rotation channels {has}", "Export it with three rotations a joint, or none"
        )
    return reading.next_words("a JOINT, an End Site or }")


def _is_whole(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _expect(reading: _Reading, wanted: str) -> None:
    words = reading.next_words(f"'{wanted}'")
    if words != [wanted]:
        raise reading.wrong(f"'{words[0]}' stands where '{wanted}' should, alone on its line")


def _check_offset(reading: _Reading, whose: str) -> None:
    words = reading.next_words("OFFSET")
    if words[0].lower() != "offset" or len(words) < 4:
        raise reading.wrong(f"the OFFSET of {whose} is missing or has fewer than three numbers")
    for axis, word in zip(_AXES, words[1:4], strict=True):
        _check_number(reading, word, f"the {axis.upper()} offset of {whose}", LARGEST_UNITS)


def _check_number(reading: _Reading, word: str, what: str, largest: float) -> float:
    try:
        value = float(word)
        word = f"{word[:_SHOWN]}..." if len(word) > _SHOWN else word
    except ValueError:
        raise reading.wrong(f"{what} is '{word}', which is no number") from None
    if not np.isfinite(value):
        raise reading.wrong(f"{what} is not a number ({word})", "Repair that number, or delete its frame")
    if abs(value) > largest:
        raise reading.wrong(f"{what} is {value:g}, and no more than {largest:g} is believed", "Repair that number")
    return value


def _check_motion(reading: _Reading) -> None:
    """Read the number of frames, their rate, and every frame."""
    words = reading.next_words("Frames:")
    if len(words) == 2 and words[0].lower() == "frames:":
        if not words[1].isascii() or not words[1].lstrip("+").isdigit():
            raise reading.wrong(f"the number of frames is '{words[1]}'", "Write how many frames there are")
        if len(words[1]) > 9 or int(words[1]) > MOST_FRAMES:
            raise reading.wrong(
                f"it says that it has {words[1]} frames, and {MOST_FRAMES} is the most that Sinew reads",
                "Correct that number, or cut the file into shorter pieces",
            )
    words = reading.next_words("Frame Time:")
    if [word.lower() for word in words[:2]] == ["frame", "time:"] and len(words) == 3:
        _check_rate(reading, words[2])
    _check_frames(reading)


def _check_rate(reading: _Reading, word: str) -> None:
    seconds = _check_number(reading, word, "the Frame Time", np.inf)
    such = "Write the seconds from frame to frame there, such as 0.0333333 for 30 frames a second"
    if seconds <= 0.0:
        raise reading.wrong(f"the Frame Time is {word}", such)
    fps = 1.0 / seconds
    if SLOWEST_FPS * 0.999 <= fps <= FASTEST_FPS * 1.001:
        return
    if fps < SLOWEST_FPS and 2.0 <= 1000.0 / seconds <= FASTEST_FPS:
        such = f"It seems to be in milliseconds: write {seconds / 1000.0:.6g}"
    raise reading.wrong(f"the Frame Time is {word} s, which is {fps:.3g} frames a second", such)


def _check_frames(reading: _Reading) -> None:
    columns = [(joint.name, channel) for joint in reading.joints for channel in joint.channels]
    wanted = len(columns)
    largest = np.array([LARGEST_DEGREES if channel.endswith("rotation") else LARGEST_UNITS for _, channel in columns])
    most_poses = MOST_POSES if wanted >= SPARSE_KEYS * len(reading.joints) else MOST_SPARSE_POSES
    frames = 0
    for number, words in reading.lines:
        reading.number, frames = number, frames + 1
        if frames > MOST_FRAMES or frames * wanted > BVH_NUMBERS:
            raise reading.wrong(
                f"there are more than {frames - 1} frames of {wanted} numbers, which is more than Sinew reads",
                "Cut the file into shorter pieces",
            )
        if frames * len(reading.joints) > most_poses:  # joints that do not move are in every frame as well
            raise reading.wrong(
                f"there are more than {frames - 1} frames of {len(reading.joints)} joints, more than Sinew reads",
                "Cut the file into shorter pieces, or leave out joints that do not move",
            )
        if len(words) != wanted:
            raise reading.wrong(f"frame {frames} has {len(words)} numbers, and the joints have {wanted} channels")
        try:
            values = np.array(words[:wanted], dtype=float)
            sound = bool((np.abs(values) <= largest).all())
        except ValueError:
            sound = False
        if not sound:
            for (name, channel), word, most in zip(columns, words, largest, strict=False):
                what = f"{channel[:1].upper()} {channel[1:]}" if channel[:1] in _AXES else f"'{channel}'"
                _check_number(reading, word, f"frame {frames}: the {what} of '{name}'", float(most))
    if not frames:
        raise reading.wrong("the file has no frames", "Export it with its motion")
