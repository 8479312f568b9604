"""Refuse documents that would cost more than any page of the console does.

Depth, aliases and selected fields are counted with fragments spread out, each fragment once and
remembered, so that the counting itself stays cheap for a document made to be expensive. Cycles are
cut here and refused by the standard rules.

What was accepted is remembered by its text: a console sends the same documents again and again, and
reading and checking one takes longer than most answers. The text alone decides: variables are
checked each time, permissions by the fields themselves.
"""

from collections import OrderedDict
from collections.abc import Iterator
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
from strawberry.extensions import SchemaExtension

DEPTH_MAX: Final = 12
ALIAS_COUNT_MAX: Final = 30
FIELD_COUNT_MAX: Final = 500
TOKEN_COUNT_MAX: Final = 2_000
OPERATION_COUNT_MAX: Final = 5
REMEMBERED_COUNT_MAX: Final = 128
REMEMBERED_LENGTH_MAX: Final = 4_096
"""Some 300 KB each once read, so what is remembered stays below 40 MB whoever sends what."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Hold what a selection costs with its fragments spread out."""

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


class AcceptedDocuments:
    """Remember documents that one schema accepts, those used last; each is only ever read."""

    def __init__(self) -> None:
        self._by_text: OrderedDict[str, DocumentNode] = OrderedDict()

    def __len__(self) -> int:
        """Count what is remembered."""
        return len(self._by_text)

    def find(self, text: str) -> DocumentNode | None:
        """Find what a text was read as."""
        document = self._by_text.get(text)
        if document is not None:
            self._by_text.move_to_end(text)
        return document

    def add(self, text: str, document: DocumentNode) -> None:
        """Remember a document; those that are longer than any of the console's are not."""
        if len(text) > REMEMBERED_LENGTH_MAX:
            return
        self._by_text[text] = document
        if len(self._by_text) > REMEMBERED_COUNT_MAX:
            self._by_text.popitem(last=False)


class LimitDocuments(SchemaExtension):
    """Count a document before anything else looks at it, unless it was accepted before."""

    def __init__(self, accepted: AcceptedDocuments) -> None:
        super().__init__()
        self._accepted, self._is_known = accepted, False

    def on_operation(self) -> Iterator[None]:
        """Bound the parser."""
        self.execution_context.parse_options["max_tokens"] = TOKEN_COUNT_MAX
        yield

    def on_parse(self) -> Iterator[None]:
        """Spare the parser what was accepted before."""
        context = self.execution_context
        known = self._accepted.find(context.query or "")
        if known is not None:
            context.graphql_document, self._is_known = known, True
        yield

    def on_validate(self) -> Iterator[None]:
        """Refuse what is too much, so that the standard rules never see it."""
        context = self.execution_context
        document = context.graphql_document
        if self._is_known:
            # No errors, as opposed to none looked for: the standard rules are not run again.
            context.pre_execution_errors = []
        elif document is not None and (refusal := find_excess(document)) is not None:
            told = GraphQLError(refusal, extensions={"code": "invalid_input"})
            context.pre_execution_errors = [told]
        yield
        if document is not None and context.query and not context.pre_execution_errors:
            self._accepted.add(context.query, document)


def find_excess(document: DocumentNode) -> str | None:
    """Say what of a document is too much, or nothing."""
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
    """Remember what each fragment costs."""

    def __init__(self, document: DocumentNode) -> None:
        self._fragments = {
            node.name.value: node
            for node in document.definitions
            if isinstance(node, FragmentDefinitionNode)
        }
        self._costs: dict[str, Cost] = {}

    def cost(self, selections: SelectionSetNode | None) -> Cost:
        """Count a set of selections."""
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
            # Standing in while the fragment is counted, this cuts a cycle.
            self._costs[name] = Cost()
            fragment = self._fragments.get(name)
            if fragment is not None:
                self._costs[name] = self.cost(fragment.selection_set)
        return self._costs[name]
