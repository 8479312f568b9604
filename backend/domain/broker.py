"""Describe one broker of a group: its role, its state and the version of its topics."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from backend.domain.broker_name import BrokerName
from backend.rules import broker as rules

MASTER_ID: Final = rules.MASTER_ID
HEARTBEAT_TIMEOUT_DEFAULT_MS: Final = 120_000
HEARTBEAT_TIMEOUT_MIN_MS: Final = 1_000
HEARTBEAT_TIMEOUT_MAX_MS: Final = 24 * 60 * 60 * 1_000


class BrokerRole(StrEnum):
    """Say whether a broker takes writes."""

    MASTER = "master"
    REPLICA = "replica"


class BrokerState(StrEnum):
    """Say whether a broker is online."""

    ONLINE = "online"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class DataVersion:
    """Identify a state of the topics of a broker.

    Two versions are equal if all three fields are equal. Only the state version decides which one
    is newer: it is the master epoch under a controller, and 0 without one.
    """

    state_version: int = 0
    timestamp_ms: int = 0
    counter: int = 0


@dataclass(frozen=True, slots=True)
class LeftOutItem:
    """Name a topic or a consumer group of a broker that was left out, and why."""

    kind: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOutItems:
    """Count the items of a broker that were left out, and name the first of them."""

    count: int = 0
    first: tuple[LeftOutItem, ...] = ()


NOTHING_LEFT_OUT: Final = LeftOutItems()
LEFT_OUT_NAMED_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Broker:
    """Hold the known facts of one broker.

    `own_id` does not depend on the role. `broker_id` is the id that name servers route to: 0 for
    the master. Only a controller knows a broker that is not registered: it is missing. Then the
    time of the last heartbeat is that of the controller, and both ids are the own id.
    """

    id: int
    broker_group_id: int
    cluster_name: str
    broker_group_name: str
    broker_id: int
    own_id: int
    address: str
    ha_address: str | None
    state: BrokerState
    registered_at: datetime
    last_registered_at: datetime
    heartbeat_timeout_ms: int
    last_heard_at: datetime | None = None
    is_registered: bool = True

    @property
    def name(self) -> BrokerName:
        """Return the name of the broker, which does not depend on its role."""
        return BrokerName(self.broker_group_name, self.own_id)

    @property
    def is_master(self) -> bool:
        """Return whether the broker has the id of the master."""
        return self.broker_id == MASTER_ID

    @property
    def is_online(self) -> bool:
        """Return whether the broker is online."""
        return self.state is BrokerState.ONLINE

    @property
    def role(self) -> BrokerRole:
        """Return the role that the id of the broker means."""
        return BrokerRole.MASTER if self.is_master else BrokerRole.REPLICA


def clamp_heartbeat_timeout_ms(asked_ms: int | None) -> int:
    """Return the heartbeat timeout that a broker asked for, within bounds."""
    if asked_ms is None or asked_ms <= 0:
        return HEARTBEAT_TIMEOUT_DEFAULT_MS
    return min(max(asked_ms, HEARTBEAT_TIMEOUT_MIN_MS), HEARTBEAT_TIMEOUT_MAX_MS)
