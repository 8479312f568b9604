"""Show brokers and their groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.domain.broker import Broker, BrokerRole, BrokerState
from backend.domain.broker_group import BrokerGroup, GroupMode, find_master
from backend.domain.protection import Protection
from backend.views.copying import copied
from backend.views.graph_forms import GraphId, Int64, NotShown, RestOnly, RestText
from backend.views.instants import instant
from backend.views.protections import ProtectionOut


@dataclass(frozen=True, slots=True)
class BrokerOut:
    """A broker; null is an unknown heartbeat, or no protection.

    Its name is that of its group and its own id, which no failover changes. `broker_id` is the id
    that clients are routed to: 0 for the master. A missing broker is not registered: only a
    controller knows it.
    """

    id: GraphId
    model: NotShown[Broker]
    name: str
    group_name: str
    own_id: Int64
    broker_id: Int64
    role: RestText[BrokerRole]
    state: RestText[BrokerState]
    address: str
    ha_address: str | None
    registered_at: datetime
    last_heartbeat_at: RestOnly[datetime | None]
    is_registered: bool
    protection: RestOnly[ProtectionOut | None]

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

    id: GraphId
    name: str
    cluster_name: str
    mode: RestText[GroupMode]
    broker_count: RestOnly[int]
    online_broker_count: RestOnly[int]
    master: RestOnly[str | None]

    @classmethod
    def of(cls, group: BrokerGroup, brokers: Sequence[Broker] = ()) -> Self:
        """Show a group with its brokers."""
        master = find_master(brokers)
        return copied(
            cls,
            group,
            broker_count=len(brokers),
            online_broker_count=sum(broker.is_online for broker in brokers),
            master=None if master is None else master.address,
        )
