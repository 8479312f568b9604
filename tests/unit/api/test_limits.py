import time
from functools import cache
from types import SimpleNamespace

import pytest
import strawberry
import strawberry.schema.schema as library
from graphql import parse
from strawberry.extensions import parser_cache, validation_cache

from backend.api.graphql.limits import (
    ALIAS_COUNT_MAX,
    DEPTH_MAX,
    FIELD_COUNT_MAX,
    REMEMBERED_COUNT_MAX,
    REMEMBERED_LENGTH_MAX,
    TOKEN_COUNT_MAX,
    CheckOnce,
    ReadOnce,
    find_excess,
    limit_tokens,
)


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
    begun_s = time.thread_time()

    assert find_excess(parse(document)) is not None
    assert time.thread_time() - begun_s < 1.0


def test_fragments_in_a_circle_are_counted_once():
    document = "{ ...f } fragment f on Q { a { ...g } } fragment g on Q { b { ...f } }"

    assert find_excess(parse(document)) is None


def test_many_fields_are_refused():
    fields = " ".join("a" for _ in range(FIELD_COUNT_MAX + 1))

    assert "fields" in find_excess(parse("{" + fields + "}"))


def test_many_operations_are_refused():
    document = " ".join(f"query q{number} {{ a }}" for number in range(6))

    assert "operations" in find_excess(parse(document))


@strawberry.type
class Query:
    @strawberry.field
    def twice(self, number: int) -> int:
        return 2 * number


@pytest.fixture
def graph(monkeypatch):
    """Give a schema that remembers documents, and counts how often one is read and checked."""
    done = {"parse": 0, "validate": 0}

    def counting(module, name):
        real = getattr(module, name)

        def count(*arguments, **named):
            done[name] += 1
            return real(*arguments, **named)

        monkeypatch.setattr(module, name, count)

    for module in (parser_cache, library):
        counting(module, "parse")
    counting(library, "validate")
    # The library keeps its caches for all schemas of a process.
    for module, find in (
        (parser_cache, "_get_parse_cache"),
        (validation_cache, "_get_validate_cache"),
    ):
        monkeypatch.setattr(module, find, cache(getattr(module, find).__wrapped__))
    schema = strawberry.Schema(query=Query, extensions=[limit_tokens, ReadOnce, CheckOnce])
    return SimpleNamespace(ask=schema.execute, done=done)


QUESTION = "query ($number: Int!) { twice(number: $number) }"


async def test_a_document_is_read_and_checked_once_and_answered_each_time(graph):
    reported = [await graph.ask(QUESTION, variable_values={"number": n}) for n in (1, 2, "x")]

    assert [one.data for one in reported] == [{"twice": 2}, {"twice": 4}, None]
    assert "Int cannot represent" in reported[2].errors[0].message
    assert graph.done == {"parse": 1, "validate": 1}


async def test_a_long_document_is_not_remembered(graph):
    text = QUESTION + " " * REMEMBERED_LENGTH_MAX

    reported = [await graph.ask(text, variable_values={"number": n}) for n in (1, 2)]

    assert [one.data for one in reported] == [{"twice": 2}, {"twice": 4}]
    assert graph.done == {"parse": 2, "validate": 2}


async def test_only_so_many_documents_are_remembered(graph):
    texts = [f"{{ twice(number: {number}) }}" for number in range(REMEMBERED_COUNT_MAX + 1)]
    for text in (*texts, texts[-1], texts[0]):
        await graph.ask(text)

    assert graph.done == {"parse": len(texts) + 1, "validate": len(texts) + 1}


@pytest.mark.parametrize(
    ("text", "check_count"),
    [
        ("{ nothing }", 1),
        ("{ ...nothing }", 1),
        ("{ twice(", 0),
        ("{ " + "twice " * TOKEN_COUNT_MAX + "}", 0),
        (nested(DEPTH_MAX + 1), 0),
    ],
)
async def test_what_is_refused_is_refused_again(graph, text, check_count):
    refusals = [(await graph.ask(text)).errors[0].message for _ in range(2)]

    assert refusals[0] == refusals[1]
    assert graph.done["validate"] == check_count
