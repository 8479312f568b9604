"""Copy the fields of a view that have the same name in its source."""

from dataclasses import fields
from typing import Any, Generic, Self, TypeVar

SourceT = TypeVar("SourceT")
ViewT = TypeVar("ViewT")


def copied(view: type[ViewT], source: object, **others: Any) -> ViewT:
    """Make a view from the attributes of the same names; `others` are the fields that differ.

    A tuple becomes a list, as a view has it.
    """
    described: Any = view
    names = [one.name for one in fields(described) if one.name not in others]
    values = {name: getattr(source, name) for name in names}
    lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
    return view(**(values | lists | others))


class Copied(Generic[SourceT]):
    """A view whose fields all have the same names in its source."""

    __slots__ = ()

    @classmethod
    def of(cls, source: SourceT) -> Self:
        """Show a value of the domain or of a use case."""
        return copied(cls, source)
