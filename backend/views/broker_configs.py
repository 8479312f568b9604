"""Show what a broker is set to."""

from dataclasses import dataclass
from typing import Self

from backend.domain.broker_property import BrokerProperty, PropertyEffect, PropertyType
from backend.views.copying import copied
from backend.views.graph_forms import Int64, in_graph


@in_graph("BrokerProperty")
@dataclass(frozen=True, slots=True)
class PropertyOut:
    """A property: `value` is in force, `stored` in the broker's file; null is unknown."""

    name: str
    type: PropertyType
    effect: PropertyEffect
    value: str
    stored: str | None
    default: str | None
    low: Int64 | None
    high: Int64 | None
    choices: list[str]

    @classmethod
    def of(cls, one: BrokerProperty) -> Self:
        """Show a property."""
        return copied(cls, one)
