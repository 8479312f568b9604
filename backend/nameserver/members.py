"""Hold the members of each broker group; a part of the route table.

Keyed by (cluster, group) and (cluster, address): two clusters may use one group name (D2).
"""

from dataclasses import dataclass, field

from backend.domain.broker import MASTER_ID, NOTHING_LEFT_OUT, DataVersion, LeftOutItems
from backend.domain.route import GroupMembers

GroupKey = tuple[str, str]
LiveKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Registration:
    """Hold the fields of one REGISTER_BROKER request, without the topics."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str
    ha_address: str | None
    timeout_ms: int
    data_version: DataVersion
    # Brokers from before acting masters do not send it, and never act as master (remoting.md 2.7).
    acting_master_enabled: bool | None = None
    zone_name: str | None = None
    left_out: LeftOutItems = NOTHING_LEFT_OUT

    @property
    def group_key(self) -> GroupKey:
        """Name the sender's group."""
        return (self.cluster_name, self.broker_group_name)

    @property
    def live_key(self) -> LiveKey:
        """Name the sender among live brokers."""
        return (self.cluster_name, self.address)

    @property
    def departure(self) -> "Departure":
        """Return the sender as a broker that leaves."""
        return Departure(self.cluster_name, self.broker_group_name, self.broker_id, self.address)


@dataclass(frozen=True, slots=True)
class Departure:
    """Hold a broker that leaves."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str

    @property
    def live_key(self) -> LiveKey:
        """Name the broker among live brokers."""
        return (self.cluster_name, self.address)


@dataclass(slots=True)
class Group:
    """Hold the members of one broker group by broker id."""

    cluster_name: str
    broker_group_name: str
    addresses: dict[int, str] = field(default_factory=dict)
    acting_master_enabled: bool = False
    zone_name: str | None = None

    def remove_address(self, address: str, *, except_id: int | None = None) -> None:
        """Remove every id of an address, except one."""
        for broker_id in [i for i, a in self.addresses.items() if a == address and i != except_id]:
            del self.addresses[broker_id]

    @property
    def has_master(self) -> bool:
        """Return whether the master's id is taken."""
        return MASTER_ID in self.addresses

    def describe(self) -> GroupMembers:
        """Copy the members for an answer."""
        return GroupMembers(
            cluster_name=self.cluster_name,
            broker_group_name=self.broker_group_name,
            addresses=dict(sorted(self.addresses.items())),
            acting_master_enabled=self.acting_master_enabled,
            zone_name=self.zone_name,
        )
