"""Show brokers and their groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.broker import Broker, BrokerRole, BrokerState
from backend.domain.broker_group import BrokerGroup, find_master
from backend.domain.protection import Protection
from backend.rules.group_mode import GroupMode
from backend.views.copying import copied
from backend.views.field_texts import (
    ACTING_BROKER,
    ACTING_SINCE,
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    BROKER_NAME,
    BROKERS_IN_GROUP,
    CLUSTER_NAME,
    GROUP_MODE,
    LAST_HEARTBEAT_AT,
    REPLICA_ID,
    ROUTED_ID,
)
from backend.views.graph_forms import GraphId, Int64, NotShown, RestOnly, RestText, Text
from backend.views.instants import instant
from backend.views.protections import ProtectionOut


@dataclass(frozen=True, slots=True)
class BrokerOut:
    """A broker; null is an unknown heartbeat, or no protection.

    Its name is that of its group and its own id, which no failover changes. `broker_id` is the id
    that clients are routed to: 0 for the master. A missing broker is not registered: only a
    controller knows it.
    """

    id: Annotated[GraphId, Text("Key of the row of the broker.")]
    model: NotShown[Broker]
    name: Annotated[str, BROKER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    own_id: Annotated[Int64, REPLICA_ID]
    broker_id: Annotated[Int64, ROUTED_ID]
    role: Annotated[RestText[BrokerRole], Text("Role of the broker: master or replica.")]
    state: Annotated[RestText[BrokerState], Text("Whether the broker is online.")]
    address: Annotated[str, BROKER_ADDRESS]
    ha_address: Annotated[
        str | None, Text("Address for replicas. Null if the broker reported none.")
    ]
    registered_at: Annotated[datetime, Text("Time of the first registration.")]
    last_heartbeat_at: Annotated[RestOnly[datetime | None], LAST_HEARTBEAT_AT]
    is_registered: Annotated[
        bool,
        Text("Whether the broker is registered. One that is not is known to its controller only."),
    ]
    protection: Annotated[
        RestOnly[ProtectionOut | None],
        Text("Protection from being forgotten. Null if there is none."),
    ]

    @classmethod
    def of(
        cls, broker: Broker, *, heard_at_ms: int | None = None, protection: Protection | None = None
    ) -> Self:
        """Show a broker; the heartbeat of one that is registered is given in milliseconds."""
        return copied(
            cls,
            broker,
            model=broker,
            name=str(broker.name),
            last_heartbeat_at=heard_at(broker, heard_at_ms),
            protection=ProtectionOut.of(protection),
        )


def heard_at(broker: Broker, heard_at_ms: int | None) -> datetime | None:
    """Return when a broker was heard; of one that is not registered the controller knows it."""
    if not broker.is_registered:
        return broker.last_heard_at
    return None if heard_at_ms is None else instant(heard_at_ms)


@dataclass(frozen=True, slots=True)
class BrokerGroupOut:
    """A broker group; `master` is the address that takes writes, or null."""

    id: Annotated[GraphId, Text("Key of the row of the broker group.")]
    name: Annotated[str, BROKER_GROUP_NAME]
    cluster_name: Annotated[str, CLUSTER_NAME]
    mode: Annotated[RestText[GroupMode], GROUP_MODE]
    acting_broker: Annotated[str | None, ACTING_BROKER]
    acting_since: Annotated[datetime | None, ACTING_SINCE]
    broker_count: Annotated[RestOnly[int], BROKERS_IN_GROUP]
    online_broker_count: Annotated[
        RestOnly[int], Text("Number of brokers of the group that are online.")
    ]
    master: Annotated[
        RestOnly[str | None],
        Text("Master of the group, which takes writes. Null if there is none."),
    ]

    @classmethod
    def of(cls, group: BrokerGroup, brokers: Sequence[Broker] = ()) -> Self:
        """Show a group with its brokers."""
        master = find_master(brokers)
        return copied(
            cls,
            group,
            acting_broker=None if group.acting_name is None else str(group.acting_name),
            broker_count=len(brokers),
            online_broker_count=sum(broker.is_online for broker in brokers),
            master=None if master is None else master.address,
        )
