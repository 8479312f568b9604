"""Show what a broker is set to."""

from dataclasses import dataclass
from typing import Self

from backend.domain.broker_property import BrokerProperty, PropertyEffect, PropertyType
from backend.services.cluster.broker_configs import BrokerConfig
from backend.views.copying import Copied
from backend.views.graph_forms import Int64, Version, in_graph


@in_graph("BrokerProperty")
@dataclass(frozen=True, slots=True)
class PropertyOut(Copied[BrokerProperty]):
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


@dataclass(frozen=True, slots=True)
class BrokerConfigOut:
    """What a broker is set to, by name."""

    address: str
    version: Version
    properties: list[PropertyOut]

    @classmethod
    def of(cls, found: BrokerConfig) -> Self:
        """Show what a broker is set to."""
        properties = [PropertyOut.of(one) for one in found.properties]
        return cls(found.broker.address, found.version, properties)
