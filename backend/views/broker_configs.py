"""Show the configuration of a broker."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.domain.broker_property import BrokerProperty, PropertyEffect, PropertyType
from backend.services.cluster.broker_configs import BrokerConfig
from backend.views.copying import Copied
from backend.views.field_texts import BROKER_ADDRESS, PROPERTY_NAME
from backend.views.graph_forms import Int64, Text, Version, in_graph


@in_graph("BrokerProperty")
@dataclass(frozen=True, slots=True)
class PropertyOut(Copied[BrokerProperty]):
    """A property: `value` is in force, `stored` is in the broker's file; null is unknown."""

    name: Annotated[str, PROPERTY_NAME]
    type: Annotated[PropertyType, Text("Type of the property.")]
    effect: Annotated[PropertyEffect, Text("When a new value takes effect.")]
    value: Annotated[str, Text("Value in force.")]
    stored: Annotated[
        str | None,
        Text("Value in the file of the broker. Null if the file has none, or if it is unknown."),
    ]
    default: Annotated[str | None, Text("Default value. Null if it is unknown.")]
    low: Annotated[Int64 | None, Text("Lowest allowed value. Null if there is no limit.")]
    high: Annotated[Int64 | None, Text("Highest allowed value. Null if there is no limit.")]
    choices: Annotated[list[str], Text("Allowed values, if there is a list of them.")]


@dataclass(frozen=True, slots=True)
class BrokerConfigOut:
    """The configuration of a broker, by name."""

    address: Annotated[str, BROKER_ADDRESS]
    version: Annotated[Version, Text("Version of the configuration. A change can require it.")]
    properties: Annotated[list[PropertyOut], Text("Properties of the broker, by name.")]

    @classmethod
    def of(cls, found: BrokerConfig) -> Self:
        """Show the configuration of a broker."""
        properties = [PropertyOut.of(one) for one in found.properties]
        return cls(found.broker.address, found.version, properties)
