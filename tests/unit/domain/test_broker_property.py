"""Properties of brokers: what they may be set to, and which one was meant (G14)."""

import pytest

from backend.domain.broker_property import (
    BrokerProperty,
    PropertyEffect,
    PropertyRefused,
    PropertyType,
    check_value,
    find_near,
    find_property,
    guess_type,
)


def a_property(type_=PropertyType.INTEGER, **values):
    made = {"name": "p", "effect": PropertyEffect.LIVE, "value": "1", "low": 0, "high": 10}
    return BrokerProperty(type=type_, **(made | values))


SIZE = a_property(PropertyType.BYTES, high=1 << 30)
CHOICE = a_property(PropertyType.CHOICE, choices=("A", "B"))


@pytest.mark.parametrize(
    ("target", "text", "value"),
    [
        (a_property(), " 7 ", "7"),
        (a_property(PropertyType.BOOLEAN), "TRUE", "true"),
        (SIZE, "64MiB", str(64 << 20)),
        (SIZE, "1 KiB", "1024"),
        (SIZE, "5", "5"),
        (CHOICE, "B", "B"),
        (a_property(PropertyType.TEXT), "a b  c", "a b  c"),
        (a_property(default="3"), "", ""),
        (a_property(low=None, high=None), "-12", "-12"),
    ],
)
def test_values_are_spelt_as_the_broker_does(target, text, value):
    assert check_value(target, text) == value


@pytest.mark.parametrize(
    ("target", "text", "words"),
    [
        (a_property(), "11", "a whole number from 0 to 10"),
        (a_property(), "seven", "not 'seven'"),
        (a_property(), "", "from 0 to 10"),
        (a_property(PropertyType.BOOLEAN), "1", "true or false"),
        (SIZE, "2GiB", "bytes from 0 to"),
        (SIZE, "64 MB", "bytes"),
        (CHOICE, "C", "A or B"),
        (a_property(PropertyType.TEXT), "a\nb", "one line"),
        (a_property(PropertyType.TEXT), "x" * 1001, "one line"),
        (a_property(effect=PropertyEffect.FIXED), "5", "read-only"),
    ],
)
def test_what_cannot_be_says_what_could(target, text, words):
    with pytest.raises(PropertyRefused, match=words):
        check_value(target, text)


def test_a_misspelt_name_brings_the_near_ones():
    known = [a_property(name=name) for name in ("fileReservedTime", "fileReservedSize", "other")]

    assert find_property(known, "other").name == "other"
    assert find_near("filereservedtime", [one.name for one in known])[0] == "fileReservedTime"
    with pytest.raises(PropertyRefused, match="did you mean fileReserved"):
        find_property(known, "fileReserved")
    with pytest.raises(PropertyRefused, match=r"no property 'zzz'$"):
        find_property(known, "zzz")


@pytest.mark.parametrize(
    ("value", "type_"),
    [("true", "boolean"), ("-5", "integer"), ("1s 2s", "text"), ("", "text"), ("0.5", "text")],
)
def test_a_broker_that_describes_nothing_has_its_values_looked_at(value, type_):
    assert guess_type(value) == type_
