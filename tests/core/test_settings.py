# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings fail where they are made, naming the setting and the fix."""

import dataclasses

import pytest

from sinew.core.errors import BadSettings
from sinew.core.settings import Settings, setting


@dataclasses.dataclass(frozen=True)
class Example(Settings):
    """One of each kind."""

    steps: int = setting(10, "Steps", "How many", minimum=1, maximum=100)
    speed: float = setting(1.5, "Speed", "How fast", minimum=0.0)
    coldest: float = setting(-5.0, "Coldest", "How cold", maximum=0.0)
    free: float = setting(0.0, "Free", "Any number")
    mirror: bool = setting(False, "Mirror", "Left for right")
    style: str = setting("calm", "Style", "How", choices=(("calm", "Calm", ""), ("wild", "Wild", "")))
    label: str = setting("", "Label", "Anything")


@dataclasses.dataclass(frozen=True)
class Nothing(Settings):
    """No settings at all."""


def test_defaults_are_sound_and_come_back_from_a_mapping():
    assert Example.from_mapping(Example().to_mapping()) == Example()
    assert Nothing.from_mapping({}).to_mapping() == {}


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("steps=42", "steps", 42),
        (" steps = 42 ", "steps", 42),
        ("speed=2", "speed", 2.0),
        ("speed=1e-3", "speed", 0.001),
        ("free=-1.5", "free", -1.5),
        ("mirror=true", "mirror", True),
        ("mirror=Yes", "mirror", True),
        ("mirror=0", "mirror", False),
        ("style=wild", "style", "wild"),
        ("label=a=b = c", "label", "a=b = c"),
        ("label=", "label", ""),
        ("label=größer 跳", "label", "größer 跳"),
    ],
)
def test_a_text_becomes_its_value(text, name, value):
    found = getattr(Example.from_texts([text]), name)
    assert found == value
    assert type(found) is type(value)


def test_the_last_of_two_texts_wins():
    assert Example.from_texts(["steps=3", "steps=4"]).steps == 4


@pytest.mark.parametrize(
    ("text", "name", "hint"),
    [
        ("steps=many", "steps", "a whole number"),
        ("steps=1.5", "steps", "a whole number"),
        ("steps=true", "steps", "a whole number"),
        ("speed=fast", "speed", "a number"),
        ("mirror=perhaps", "mirror", "true or false"),
        ("mirror=2", "mirror", "true or false"),
        ("style=angry", "style", "calm, wild"),
        ("style=", "style", "calm, wild"),
        ("steps=0", "steps", "between 1 and 100"),
        ("steps=101", "steps", "between 1 and 100"),
        ("speed=-0.1", "speed", "at least 0.0"),
        ("coldest=1", "coldest", "at most 0.0"),
        ("speed=nan", "speed", "at least 0.0"),
        ("free=nan", "free", "finite"),
        ("free=inf", "free", "finite"),
        ("free=-1e999", "free", "finite"),
    ],
)
def test_a_wrong_text_names_the_setting_and_what_is_wanted(text, name, hint):
    with pytest.raises(BadSettings, match=f"'{name}'") as caught:
        Example.from_texts([text])
    assert hint in caught.value.hint


@pytest.mark.parametrize("text", ["steps", "", "steps:3"])
def test_a_text_that_is_no_setting_shows_how_to_write_one(text):
    with pytest.raises(BadSettings, match="is not a setting") as caught:
        Example.from_texts([text])
    assert "name=value" in caught.value.hint


def test_an_unknown_name_lists_those_there_are():
    for make in (lambda: Example.from_texts(["size=3"]), lambda: Example.from_mapping({"size": 3})):
        with pytest.raises(BadSettings, match="no setting 'size'") as caught:
            make()
        assert "coldest, free, label, mirror, speed, steps, style" in caught.value.hint
    with pytest.raises(BadSettings, match="no setting 'size'") as caught:
        Nothing.from_texts(["size=3"])
    assert "none" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", True),
        ("steps", 3.0),
        ("steps", "3"),
        ("steps", None),
        ("steps", [3]),
        ("speed", True),
        ("speed", "1"),
        ("speed", None),
        ("mirror", 1),
        ("mirror", 0),
        ("mirror", "true"),
        ("mirror", None),
        ("style", 3),
        ("style", None),
        ("label", 3),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_name(name, value):
    with pytest.raises(BadSettings, match=f"'{name}'") as caught:
        Example.from_mapping({name: value})
    assert caught.value.hint.startswith("Give ")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 10**400])
def test_a_number_that_is_none_or_out_of_range_is_refused_when_made_by_hand(value):
    with pytest.raises(BadSettings, match="'speed'"):
        Example(speed=value)
    with pytest.raises(BadSettings, match="'steps'"):
        dataclasses.replace(Example(), steps=value)


def test_the_ends_of_a_range_are_allowed():
    assert (Example(steps=1).steps, Example(steps=100).steps, Example(speed=0).speed) == (1, 100, 0.0)


def test_a_whole_number_for_a_number_is_the_same_setting():
    settings = Example(speed=2)
    assert type(settings.speed) is float
    assert settings.to_mapping() == Example(speed=2.0).to_mapping()


def test_settings_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Example().steps = 3  # type: ignore[misc]


def test_fields_describe_themselves():
    steps = dataclasses.fields(Example)[0]
    assert (steps.metadata["label"], steps.metadata["help"]) == ("Steps", "How many")
    assert (steps.metadata["minimum"], steps.metadata["maximum"]) == (1, 100)
