"""Describe one broker of a group: its role, its state and the version of its topics."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from backend.domain.broker_name import BrokerName

MASTER_ID: Final = 0
HEARTBEAT_TIMEOUT_DEFAULT_MS: Final = 120_000
HEARTBEAT_TIMEOUT_MIN_MS: Final = 1_000
HEARTBEAT_TIMEOUT_MAX_MS: Final = 24 * 60 * 60 * 1_000


class BrokerRole(StrEnum):
    """Say who takes writes."""

    MASTER = "master"
    REPLICA = "replica"


class BrokerState(StrEnum):
    """Say whether a broker is counted on."""

    ONLINE = "online"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class DataVersion:
    """Tell one state of a broker's topics from another.

    Two versions are equal when all three fields are; which one is newer is only asked of the
    state version, which carries a master epoch under a controller and is 0 without.
    """

    state_version: int = 0
    timestamp_ms: int = 0
    counter: int = 0


@dataclass(frozen=True, slots=True)
class LeftOutItem:
    """Name a topic or a consumer group of a broker that is not taken, and say why."""

    kind: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOutItems:
    """Count what of a broker is not taken, and name the first of it."""

    count: int = 0
    first: tuple[LeftOutItem, ...] = ()


NOTHING_LEFT_OUT: Final = LeftOutItems()
LEFT_OUT_NAMED_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Broker:
    """Hold what is known of one broker.

    `own_id` stays through all roles. `broker_id` is the id that name servers route to: 0 for the
    master. One that is not registered is known to a controller alone: it is missing. When it was
    heard last is the controller's knowledge then, and both ids are its own.
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
        """Name the broker, whatever its role."""
        return BrokerName(self.broker_group_name, self.own_id)

    @property
    def is_master(self) -> bool:
        """Tell whether the broker carries the master's id."""
        return self.broker_id == MASTER_ID

    @property
    def is_online(self) -> bool:
        """Tell whether the broker is counted on."""
        return self.state is BrokerState.ONLINE

    @property
    def role(self) -> BrokerRole:
        """Name the role that the broker's id gives it."""
        return BrokerRole.MASTER if self.is_master else BrokerRole.REPLICA


def clamp_heartbeat_timeout_ms(asked_ms: int | None) -> int:
    """Give the silence after which a broker is given up: what it asked for, within bounds."""
    if asked_ms is None or asked_ms <= 0:
        return HEARTBEAT_TIMEOUT_DEFAULT_MS
    return min(max(asked_ms, HEARTBEAT_TIMEOUT_MIN_MS), HEARTBEAT_TIMEOUT_MAX_MS)
