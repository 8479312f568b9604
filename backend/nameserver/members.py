"""Hold who is in each broker group and when each was last heard; a part of the route table.

Keyed by (cluster, group) and (cluster, address): two clusters may use one group name (D2). Nothing
here waits. Time comes in as milliseconds of a clock that is never set: what is kept is an age.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from backend.domain.broker import MASTER_ID, NOTHING_LEFT_OUT, DataVersion, LeftOutItems
from backend.domain.route import GroupMembers

GroupKey = tuple[str, str]
LiveKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Registration:
    """Hold what one REGISTER_BROKER says of its sender, without the topics."""

    cluster_name: str
    group_name: str
    broker_id: int
    address: str
    ha_address: str | None
    heartbeat_timeout_ms: int
    data_version: DataVersion
    # Absent from brokers older than acting masters, which never stand in (remoting.md 2.7).
    acting_master_enabled: bool | None = None
    zone_name: str | None = None
    left_out: LeftOutItems = NOTHING_LEFT_OUT

    @property
    def group_key(self) -> GroupKey:
        """Name the sender's group."""
        return (self.cluster_name, self.group_name)

    @property
    def live_key(self) -> LiveKey:
        """Name the sender among live brokers."""
        return (self.cluster_name, self.address)


@dataclass(frozen=True, slots=True)
class Departure:
    """Name a broker that leaves."""

    cluster_name: str
    group_name: str
    broker_id: int
    address: str


@dataclass(slots=True)
class LiveBroker:
    """Hold what is known of a broker while it is heard."""

    registration: Registration
    heard_at_ms: float
    connection: object

    def is_silent(self, now_ms: float) -> bool:
        """Tell whether the broker has been silent for longer than it asked to be waited for."""
        return self.heard_at_ms + self.registration.heartbeat_timeout_ms < now_ms

    @property
    def departure(self) -> Departure:
        """Name the broker as one that leaves."""
        registration = self.registration
        return Departure(
            registration.cluster_name,
            registration.group_name,
            registration.broker_id,
            registration.address,
        )


@dataclass(slots=True)
class Group:
    """Hold the members of one broker group by broker id."""

    cluster_name: str
    group_name: str
    addresses: dict[int, str] = field(default_factory=dict)
    acting_master_enabled: bool = False
    zone_name: str | None = None

    def remove_address(self, address: str, *, except_id: int | None = None) -> None:
        """Take out every id that an address has, but one."""
        for broker_id in [i for i, a in self.addresses.items() if a == address and i != except_id]:
            del self.addresses[broker_id]

    @property
    def has_master(self) -> bool:
        """Tell whether the master's id is taken."""
        return MASTER_ID in self.addresses

    def describe(self) -> GroupMembers:
        """Copy the members for an answer."""
        return GroupMembers(
            cluster_name=self.cluster_name,
            group_name=self.group_name,
            addresses=dict(sorted(self.addresses.items())),
            acting_master_enabled=self.acting_master_enabled,
            zone_name=self.zone_name,
        )


class Members:
    """Keep groups and live brokers."""

    def __init__(self) -> None:
        self.groups: dict[GroupKey, Group] = {}
        self.live: dict[LiveKey, LiveBroker] = {}

    def find_or_add(self, registration: Registration) -> Group:
        """Return the sender's group, made when it is new, with its settings as now told."""
        group = self.groups.setdefault(
            registration.group_key, Group(registration.cluster_name, registration.group_name)
        )
        group.acting_master_enabled = bool(registration.acting_master_enabled)
        group.zone_name = registration.zone_name
        return group

    def named(self, group_name: str) -> Iterator[Group]:
        """Yield the groups of a name, one for each cluster that has it."""
        return (group for group in self.groups.values() if group.group_name == group_name)

    def find(self, key: GroupKey, broker_id: int) -> LiveBroker | None:
        """Find the live broker that holds an id of a group."""
        group = self.groups.get(key)
        address = None if group is None else group.addresses.get(broker_id)
        return None if address is None else self.live.get((key[0], address))

    def forget(self, departure: Departure) -> None:
        """Drop what is known of a live broker, unless it is one of another group by now."""
        key = (departure.cluster_name, departure.address)
        held = self.live.get(key)
        if held is not None and held.registration.group_name == departure.group_name:
            del self.live[key]

    def of_connection(self, connection: object) -> list[LiveBroker]:
        """List every broker that registered over a connection."""
        return [broker for broker in self.live.values() if broker.connection is connection]
