"""What of JSON can be kept, and where the first thing is that can't."""

import math

import pytest

from backend.domain.json_value import DEPTH_MAX, find_unkept


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [{}, {"a": [1, 2**80, 0.5, None, True, "ä\n\U0001f600", ("b",)]}, nested(DEPTH_MAX)]
)
def test_what_postgres_and_answers_hold_is_kept(value):
    assert find_unkept(value) is None


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"topic_name": "\ud800"}, "$.topic_name"),
        ({"topic_name": "a\udc00"}, "$.topic_name"),
        ({"waived_groups": ["a", "b\0"]}, "$.waived_groups[1]"),
        ({"settings": [{"settings": {"others": {"a\0": 1}}}]}, "$.settings[0].settings.others"),
        ({"others": {"a": math.nan}}, "$.others.a"),
        ({"others": {"a": (-math.inf,)}}, "$.others.a[0]"),
        (nested(DEPTH_MAX + 1), "$" + (DEPTH_MAX + 1) * "[0]"),
        (nested(100_000), "$" + (DEPTH_MAX + 1) * "[0]"),
    ],
)
def test_what_they_do_not_hold_is_named_by_its_place(value, where):
    assert (find_unkept(value) or "").endswith(f" - at `{where}`")
