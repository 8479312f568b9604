"""Say what can be ordered about the protocol version of a broker group."""

from dataclasses import dataclass
from typing import Annotated

from backend.domain.orders.parameter import INT_MAX, BrokerGroupName, ClusterName, Parameter


@dataclass(frozen=True, slots=True)
class UpgradeBrokerGroup:
    """Upgrade the brokers of a broker group one by one, the master last.

    Someone, or a script, restarts each broker with the new release when the operation says so.
    """

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    version: Annotated[
        int | None,
        Parameter(
            "Protocol version that each broker has afterwards.",
            absence="the newest version that the control plane knows",
            low=1,
            high=INT_MAX,
        ),
    ] = None

    @property
    def target(self) -> str:
        """Name the group."""
        return self.broker_group_name


@dataclass(frozen=True, slots=True)
class LowerProtocolVersion:
    """Lower the protocol version of a broker group, so that brokers of an older release can join.

    Its share queues are written again in records of that version.
    """

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    version: Annotated[
        int, Parameter("Protocol version of the group afterwards.", low=1, high=INT_MAX)
    ]

    @property
    def target(self) -> str:
        """Name the group."""
        return self.broker_group_name
