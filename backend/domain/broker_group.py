"""Describe a broker group: one master and its replicas, holding the same log."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from backend.domain.broker import Broker


class GroupMode(StrEnum):
    """Say how a group gets a new master (D16)."""

    STATIC = "static"
    ACTING_MASTER = "acting_master"
    CONTROLLER = "controller"


@dataclass(frozen=True, slots=True)
class BrokerGroup:
    """Name a group; it is keyed by its cluster too (D2)."""

    id: int
    cluster_name: str
    name: str
    mode: GroupMode


def find_master(brokers: Iterable[Broker]) -> Broker | None:
    """Find the broker that takes writes: the online broker with the id of the master, or None."""
    return next((broker for broker in brokers if broker.is_master and broker.is_online), None)
