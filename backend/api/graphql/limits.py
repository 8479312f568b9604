"""Refuse documents that cost more than any page of the console.

Depth, aliases and selected fields are counted with expanded fragments. The cost of each fragment is
computed once, so counting is cheap also for a malicious document. Cycles are cut here, and refused
by the standard rules.

The limiters of the library are not suitable: they follow each path through the fragments, so their
work can double with each fragment, and an unknown fragment makes them fail.

Documents are cached: a console repeats the same documents, and reading and checking one takes
longer than most answers. Variables are checked each time. Fields check the permissions.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
    SelectionSetNode,
)
from strawberry.extensions import MaxTokensLimiter, ParserCache, ValidationCache
from strawberry.types import ExecutionContext

DEPTH_MAX: Final = 12
ALIAS_COUNT_MAX: Final = 30
FIELD_COUNT_MAX: Final = 500
TOKEN_COUNT_MAX: Final = 2_000
OPERATION_COUNT_MAX: Final = 5
REMEMBERED_COUNT_MAX: Final = 128
REMEMBERED_LENGTH_MAX: Final = 4_096
"""Each parsed document has about 300 KB, in two caches, so the caches stay below 80 MB."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Hold the cost of a selection with expanded fragments."""

    depth: int = 0
    alias_count: int = 0
    field_count: int = 0

    def beside(self, other: "Cost") -> "Cost":
        """Add a selection at the same level."""
        return Cost(
            max(self.depth, other.depth),
            self.alias_count + other.alias_count,
            self.field_count + other.field_count,
        )


class ReadOnce(ParserCache):
    """Cache parsed short documents; a long document is parsed each time."""

    def __init__(self) -> None:
        super().__init__(REMEMBERED_COUNT_MAX)

    def on_parse(self) -> Iterator[None]:
        """Use the cached form of a short document."""
        context = self.execution_context
        if _is_short(context):
            # The parser also gets unreadable documents: errors get their code after this.
            with suppress(GraphQLError, RecursionError):
                context.graphql_document = self.cached_parse_document(
                    context.query, **context.parse_options
                )
        yield


class CheckOnce(ValidationCache):
    """Compute the cost of a document, and cache the checks of the standard rules if it is short."""

    def __init__(self) -> None:
        super().__init__(REMEMBERED_COUNT_MAX)

    def on_validate(self) -> Iterator[None]:
        """Refuse a document that costs too much, before the standard rules check it."""
        context = self.execution_context
        document = context.graphql_document
        excess = None if document is None else find_excess(document)
        if excess is not None:
            refusal = GraphQLError(excess, extensions={"code": "invalid_input"})
            context.pre_execution_errors = [refusal]
            yield
        elif _is_short(context):
            yield from super().on_validate()
        else:
            yield


def limit_tokens() -> MaxTokensLimiter:
    """Limit the parser."""
    return MaxTokensLimiter(TOKEN_COUNT_MAX)


def find_excess(document: DocumentNode) -> str | None:
    """Return which limit a document exceeds, or None."""
    operations = [
        node for node in document.definitions if isinstance(node, OperationDefinitionNode)
    ]
    if len(operations) > OPERATION_COUNT_MAX:
        return f"a document holds {OPERATION_COUNT_MAX} operations at most"
    counter = _Counter(document)
    cost = Cost()
    for operation in operations:
        cost = cost.beside(counter.cost(operation.selection_set))
    if cost.depth > DEPTH_MAX:
        return f"fields nest {DEPTH_MAX} deep at most"
    if cost.alias_count > ALIAS_COUNT_MAX:
        return f"a document uses {ALIAS_COUNT_MAX} aliases at most"
    if cost.field_count > FIELD_COUNT_MAX:
        return f"a document selects {FIELD_COUNT_MAX} fields at most"
    return None


class _Counter:
    """Cache the cost of each fragment."""

    def __init__(self, document: DocumentNode) -> None:
        self._fragments = {
            node.name.value: node
            for node in document.definitions
            if isinstance(node, FragmentDefinitionNode)
        }
        self._costs: dict[str, Cost] = {}

    def cost(self, selections: SelectionSetNode | None) -> Cost:
        """Return the cost of a set of selections."""
        total = Cost()
        for node in selections.selections if selections is not None else ():
            if isinstance(node, FieldNode):
                below = self.cost(node.selection_set)
                aliases = below.alias_count + int(node.alias is not None)
                part = Cost(below.depth + 1, aliases, below.field_count + 1)
            elif isinstance(node, FragmentSpreadNode):
                part = self._fragment_cost(node.name.value)
            else:
                part = self.cost(getattr(node, "selection_set", None))
            total = total.beside(part)
        return total

    def _fragment_cost(self, name: str) -> Cost:
        if name not in self._costs:
            # This placeholder while the fragment is counted cuts a cycle.
            self._costs[name] = Cost()
            fragment = self._fragments.get(name)
            if fragment is not None:
                self._costs[name] = self.cost(fragment.selection_set)
        return self._costs[name]


def _is_short(context: ExecutionContext) -> bool:
    return len(context.query or "") <= REMEMBERED_LENGTH_MAX
