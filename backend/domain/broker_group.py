"""Describe a broker group: one master and its replicas, holding the same log."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from backend.domain.broker import MASTER_ID, Broker
from backend.domain.broker_name import BrokerName
from backend.rules.group_mode import GroupMode


@dataclass(frozen=True, slots=True)
class BrokerGroup:
    """Name a group; it is keyed by its cluster too (D2).

    The replica `acting_id` acts for the absent master since `acting_since`, by the registrations at
    the name servers.
    """

    id: int
    cluster_name: str
    name: str
    mode: GroupMode
    acting_id: int | None = None
    acting_since: datetime | None = None

    @property
    def acting_name(self) -> BrokerName | None:
        """Return the name of the replica that acts for the absent master."""
        return None if self.acting_id is None else BrokerName(self.name, self.acting_id)


def find_master(brokers: Iterable[Broker]) -> Broker | None:
    """Find the broker that takes writes: the online broker with the id of the master, or None."""
    return next((broker for broker in brokers if broker.is_master and broker.is_online), None)


def find_acting_id(mode: GroupMode, online_ids: Collection[int]) -> int | None:
    """Return the id of the replica that acts for an absent master, as routes show it (S83, S87).

    It has the least id of the brokers that are online.
    """
    if mode is not GroupMode.ACTING_MASTER or not online_ids or MASTER_ID in online_ids:
        return None
    return min(online_ids)
