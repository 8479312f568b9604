"""Say what can be ordered of one broker."""

from dataclasses import dataclass, field
from typing import Annotated

from backend.domain.broker_name import BrokerName
from backend.domain.orders.parameter import LONG_MAX, BrokerGroupName, ClusterName, Parameter


@dataclass(frozen=True, slots=True)
class BrokerOrder:
    """Mean a broker of a group: by its address if one is given, else by its own id.

    An id of 0 is the master that the group has when the operation is planned; the plan then holds
    the master's own id.
    """

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    broker_id: Annotated[
        int,
        Parameter(
            "Id of the broker, as in its name. 0 is the master of the group.",
            option="broker",
            low=0,
            high=LONG_MAX,
        ),
    ] = 0
    address: Annotated[
        str | None,
        Parameter("Address of the broker, in place of its id."),
    ] = None

    @property
    def target(self) -> str:
        """Name the broker, or its address where that was given."""
        return target_of(self)


def target_of(order: BrokerOrder) -> str:
    """Name the broker of an order by its address if one is given, else by its id."""
    if order.address is not None:
        return f"{order.broker_group_name}/{order.address}"
    return str(BrokerName(order.broker_group_name, order.broker_id))


@dataclass(frozen=True, slots=True)
class CordonBroker(BrokerOrder):
    """Take the right to write from a broker."""


@dataclass(frozen=True, slots=True)
class UncordonBroker(BrokerOrder):
    """Give a broker the right to write."""

    takes_back: Annotated[
        str | None,
        Parameter(
            "Id of the drain whose moves of logical queues are taken back.",
            for_undo=True,
            length_max=36,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class DrainBroker(BrokerOrder):
    """Drain a broker; consumer groups that are waived are not waited for."""

    waived_groups: Annotated[
        tuple[str, ...],
        Parameter(
            "Name of a consumer group that the drain does not wait for.",
            option="waive",
            length_min=1,
            length_max=300,
            count_max=100,
        ),
    ] = ()
    move_queues: Annotated[
        bool,
        Parameter(
            "First move the logical queues of static topics from the broker group to other broker"
            " groups."
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class ForgetBroker(BrokerOrder):
    """Forget a broker that is not registered."""

    loses_segments: Annotated[
        bool,
        Parameter(
            "Forget the last broker of a group even if logical queues have older messages there."
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """Name a property and its new value; an empty one is the default."""

    name: Annotated[str, Parameter("Name of the property.", length_max=100)]
    value: Annotated[
        str,
        Parameter("New value of the property. An empty value sets the default.", length_max=2_000),
    ]


@dataclass(frozen=True, slots=True)
class ChangeBrokerConfig(BrokerOrder):
    """Set properties of one broker: by its address if one is given, else by its own id."""

    changes: Annotated[
        tuple[PropertyChange, ...],
        Parameter("Properties with their new values.", count_min=1, count_max=100),
    ] = field(kw_only=True)
