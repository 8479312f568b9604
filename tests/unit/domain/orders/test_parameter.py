"""A parameter of an order is read off its annotation, as all doors read it."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest

from backend.domain.orders.parameter import Parameter, fields_of, kind_name
from backend.domain.topic_layout import MessageType


@dataclass(frozen=True, slots=True)
class PaintFence:
    size: Annotated[int, Parameter("How large it is.", low=1, high=2**40)] = 3
    colour: Annotated[MessageType | None, Parameter("Which colour.", option="paint")] = None
    slats: Annotated[
        tuple[str, ...], Parameter("Name of a slat.", absence="all slats", count_max=9)
    ] = ()
    owner: Annotated[str, Parameter("Whose it is.")] = field(kw_only=True)


def test_a_field_says_its_type_its_bounds_and_whether_it_may_be_left_out():
    size, colour, slats = fields_of(PaintFence)[1:]

    assert (size.type, size.about.bounds.low, size.default, size.is_long) == (int, 1, 3, True)
    assert (colour.type, colour.is_optional, colour.about.option) == (MessageType, True, "paint")
    assert (slats.type, slats.is_list, slats.about.bounds.count_max) == (str, True, 9)


def test_the_text_of_a_parameter_says_what_holds_without_it():
    size, _, slats = fields_of(PaintFence)[1:]

    assert size.about.text == "How large it is."
    assert slats.about.text == "Name of a slat. Default: all slats."


def test_what_must_be_given_comes_first():
    assert [one.name for one in fields_of(PaintFence)] == ["owner", "size", "colour", "slats"]
    assert [one.is_required for one in fields_of(PaintFence)] == [True, False, False, False]


def test_a_kind_is_called_as_its_order():
    assert kind_name(PaintFence) == "paint_fence"


def test_a_field_without_a_text_is_refused():
    @dataclass
    class Bare:
        size: int

    with pytest.raises(AssertionError, match="size has no Parameter"):
        fields_of(Bare)
