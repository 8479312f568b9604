"""Show broker containers and their brokers."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.domain.broker_name import BrokerName
from backend.domain.container import Container, InnerBroker
from backend.views.field_texts import BROKER_GROUP_NAME, CLUSTER_NAME
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class InnerBrokerOut:
    """A broker in the list of a container. A file that can't be read names no broker."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    name: Annotated[
        str | None, Text("Name of the broker: its group and own id. Null if its id is not known.")
    ]
    own_id: Annotated[
        Int64 | None,
        Text(
            "Own id of the broker. Null if its file names no broker, or if the controller has not"
            " yet said the id."
        ),
    ]
    is_master: Annotated[bool, Text("Whether the broker leads its group.")]
    path: Annotated[
        str | None, Text("File of the broker on the machine of its container. Null if unknown.")
    ]
    failure: Annotated[str | None, Text("Why the broker does not run. Null while it runs.")]

    @classmethod
    def of(cls, one: InnerBroker) -> Self:
        """Show a broker."""
        name = None if one.own_id is None else str(BrokerName(one.broker_group_name, one.own_id))
        return cls(
            one.cluster_name,
            one.broker_group_name,
            name,
            one.own_id,
            one.is_master,
            one.path or None,
            one.failure or None,
        )


@dataclass(frozen=True, slots=True)
class ContainerOut:
    """A process that runs several brokers. Its own brokers report its address."""

    address: Annotated[str, Text("Address of the container for tools.")]
    brokers: Annotated[
        list[InnerBrokerOut],
        Text("Brokers that the container runs, also those that do not run now."),
    ]
    why_unknown: Annotated[
        str | None,
        Text("Why the container does not list its brokers. Null if it does."),
    ]

    @classmethod
    def of(cls, one: Container) -> Self:
        """Show a container."""
        brokers = [InnerBrokerOut.of(broker) for broker in one.brokers]
        return cls(one.address, brokers, one.why_unknown or None)


@in_graph("Containers")
@dataclass(frozen=True, slots=True)
class ContainersOut(ObservedPage[ContainerOut, UnknownBrokerOut]):
    """One page of containers by address, and brokers that did not say whether they are in one."""
