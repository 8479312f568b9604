import time

from graphql import parse

from backend.api.graphql.limits import ALIAS_COUNT_MAX, DEPTH_MAX, FIELD_COUNT_MAX, find_excess


def nested(depth):
    return "{" + "a {" * (depth - 1) + "b" + "}" * depth


def test_what_the_console_asks_is_within_the_limits():
    assert find_excess(parse("{ clusters { nodes { brokerGroups { nodes { name } } } } }")) is None


def test_depth_ends_at_the_limit():
    assert find_excess(parse(nested(DEPTH_MAX))) is None
    assert "deep" in find_excess(parse(nested(DEPTH_MAX + 1)))


def test_depth_counts_through_fragments():
    deep = nested(DEPTH_MAX).replace("{", "fragment f on Query {", 1)

    assert "deep" in find_excess(parse("{ x { ...f } } " + deep))


def test_aliases_are_counted_through_fragments():
    fields = " ".join(f"a{number}: b" for number in range(ALIAS_COUNT_MAX // 2 + 1))

    assert "aliases" in find_excess(
        parse("{ x { ...f } y { ...f } } fragment f on Q {" + fields + "}")
    )


def test_fragments_that_multiply_are_refused_quickly():
    levels = [
        f"fragment f{n} on Q {{ a {{ ...f{n + 1} }} b {{ ...f{n + 1} }} }}" for n in range(40)
    ]
    document = "{ ...f0 } " + " ".join(levels) + " fragment f40 on Q { x }"
    begun = time.monotonic()

    assert find_excess(parse(document)) is not None
    assert time.monotonic() - begun < 1.0


def test_fragments_in_a_circle_are_counted_once():
    document = "{ ...f } fragment f on Q { a { ...g } } fragment g on Q { b { ...f } }"

    assert find_excess(parse(document)) is None


def test_many_fields_are_refused():
    fields = " ".join("a" for _ in range(FIELD_COUNT_MAX + 1))

    assert "fields" in find_excess(parse("{" + fields + "}"))


def test_many_operations_are_refused():
    document = " ".join(f"query q{number} {{ a }}" for number in range(6))

    assert "operations" in find_excess(parse(document))
