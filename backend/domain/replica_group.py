"""Decide the changes of a broker group under a controller (control-plane.md 2).

Plain values and functions: a function takes the present group and returns the change, or None if
nothing changes, or refuses. `election` decides which replica may become master. This module knows
no clock, socket or table; the caller passes the living replicas.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from backend.domain.errors import (
    AlterSyncStateSetRefused,
    BrokerGroupNotControlled,
    BrokerIdRefused,
    BrokerNotAlive,
    BrokerNotRegistered,
    CleanRefused,
    MasterEpochFenced,
    MasterEpochMoved,
    NotTheMaster,
    ProtocolVersionRefused,
    SyncStateSetEpochFenced,
    UnknownReplica,
)

FIRST_BROKER_ID: Final = 1
NEVER_ELECTED: Final = 0
UNKNOWN_POSITION: Final = -1
UNKNOWN_LIFE: Final = 0
FIRST_PROTOCOL_VERSION: Final = 1


class LeasePolicy(StrEnum):
    """What a master needs to acknowledge a message (D9, targets 5.6).

    Strict: a live lease. A master is replaced only after its lease has expired. Quorum: a live
    lease, or every member of a set of two or more. Members refuse older epochs, so one of them can
    replace the master immediately.
    """

    QUORUM = "quorum"
    STRICT = "strict"


class ChangeKind(StrEnum):
    """Name the kind of a change of a group."""

    BROKER_ID_APPLIED = "broker_id_applied"
    ADDRESS_CHANGED = "address_changed"
    PROTOCOL_VERSION_CHANGED = "protocol_version_changed"
    SYNC_STATE_SET_ALTERED = "sync_state_set_altered"
    MASTER_ELECTED = "master_elected"
    MASTER_LOST = "master_lost"
    REPLICAS_REMOVED = "replicas_removed"
    REPLICAS_ADOPTED = "replicas_adopted"
    PREFERENCE_CHANGED = "preference_changed"
    GROUP_REMOVED = "group_removed"


@dataclass(frozen=True, slots=True)
class ConfirmedEnd:
    """Hold the highest confirmed position that masters of a group reported (D27).

    The epoch is that of the master that wrote the last confirmed byte. Every log with all confirmed
    data reaches the position, and has this epoch or a newer one.
    """

    epoch: int = UNKNOWN_POSITION
    position: int = UNKNOWN_POSITION

    @property
    def is_known(self) -> bool:
        """Return whether a master has reported a position."""
        return self.position > UNKNOWN_POSITION

    def is_held_by(self, epoch: int, end: int) -> bool:
        """Return whether a log with this newest epoch and this end has all confirmed data."""
        return end >= self.position and epoch >= self.epoch

    def missing_bytes(self, end: int) -> int | None:
        """Return how many confirmed bytes a log with this end lacks; `None` if unknown."""
        return None if end == UNKNOWN_POSITION else max(0, self.position - end)


@dataclass(frozen=True, slots=True)
class SyncStateSet:
    """Hold the replicas with all acknowledged data; set and epoch are one value (targets 6, row 8).

    `lives` is the process of each member at the time when it joined. A log only grows while its
    process runs. So a member that still runs in the same process has all confirmed data, however
    old its last heartbeat is (D27). A member that does not report its process is left out.
    """

    members: frozenset[int] = frozenset()
    epoch: int = 0
    lives: Mapping[int, int] = field(default_factory=dict, compare=False)

    def with_members(
        self, members: Collection[int], lives: Mapping[int, int] | None = None
    ) -> "SyncStateSet":
        """Return the next set; `lives` are the processes of the new members."""
        known = {i: life for i, life in (lives or {}).items() if life != UNKNOWN_LIFE}
        kept = {i: life for i, life in self.lives.items() if i in self.members}
        wanted = {i: life for i, life in {**known, **kept}.items() if i in members}
        return SyncStateSet(frozenset(members), self.epoch + 1, wanted)

    def vouches_for(self, broker_id: int, life: int) -> bool:
        """Return whether a member still runs in the process in which it joined."""
        return life != UNKNOWN_LIFE and self.lives.get(broker_id) == life


@dataclass(frozen=True, slots=True)
class Replica:
    """Hold a replica of a group: its id, which never changes, and its last address.

    The register check code proves that a repeated request, after a lost answer, is of the same
    broker. The protocol version is None if the broker does not write the records of share queues,
    as those of RocketMQ.
    """

    broker_id: int
    address: str
    register_code: str
    protocol_version: int | None = None


@dataclass(frozen=True, slots=True)
class ReplicaGroup:
    """Hold the replicas of a broker group and its master.

    Invariants: the master is a member of the set, members are replicas, and an assigned id belongs
    to a replica or is retired.
    """

    cluster_name: str
    name: str
    replicas: Mapping[int, Replica] = field(default_factory=dict)
    retired_ids: frozenset[int] = frozenset()
    master_id: int | None = None
    master_epoch: int = NEVER_ELECTED
    sync_state_set: SyncStateSet = SyncStateSet()
    # No replica could replace the dead master, so the master needs a new epoch to come back.
    is_master_lost: bool = False
    lease_policy: LeasePolicy = LeasePolicy.QUORUM
    # The master that operators prefer among members with equal logs.
    preferred_id: int | None = None
    # The confirmed position, which every master of the group must have (D27).
    confirmed: ConfirmedEnd = ConfirmedEnd()
    # The newest master epoch that began with an accepted loss; 0 for none.
    loss_epoch: int = NEVER_ELECTED
    # The version of the records that its master may write: each member reads them (Q78).
    protocol_version: int = FIRST_PROTOCOL_VERSION
    # The highest version that the group may rise to; None for no limit. An operator sets it before
    # the version falls.
    version_limit: int | None = None

    @property
    def written_version(self) -> int:
        """Return the version of the records that the master writes now."""
        limit = self.version_limit
        return self.protocol_version if limit is None else min(limit, self.protocol_version)

    @property
    def master(self) -> Replica | None:
        """Find the recorded master, alive or not."""
        return None if self.master_id is None else self.replicas[self.master_id]


@dataclass(frozen=True, slots=True)
class Change:
    """Hold one change: its kind and the group after it, None if the group was removed."""

    kind: ChangeKind
    before: ReplicaGroup
    after: ReplicaGroup | None
    # The change must wait until the lease of the former master has ended.
    awaits_lease: bool = False
    # The newest epoch and the end of the winner's log, which must have all data that is confirmed
    # at the time of writing. `None` if the set vouches for the winner, or a loss is accepted.
    winner_log: tuple[int, int] | None = None
    # Whether the confirmed position becomes that of `after`: a loss is accepted, or a group is
    # adopted.
    resets_confirmed: bool = False
    # What operators must know immediately, for example that the group takes no writes.
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class SyncStateSetProposal:
    """Hold the set that a master proposes, and the state that it knows."""

    master_id: int
    master_epoch: int
    members: frozenset[int]
    sync_state_set_epoch: int
    is_fence: bool = False
    """Whether only the epoch of the set is raised.

    An earlier request without an answer is then refused, whenever it arrives (D8).
    """


def check_master_epoch(group: ReplicaGroup, expected: int | None) -> None:
    """Refuse an order for another master epoch; None accepts any epoch.

    Raises:
        MasterEpochMoved: a master was elected since then.
    """
    if expected is not None and group.master_epoch != expected:
        raise MasterEpochMoved(group.name, expected, held=group.master_epoch)


def next_broker_id(group: ReplicaGroup | None) -> int:
    """Return the smallest id that was never assigned, so that ids never run out (D5)."""
    taken = frozenset[int]() if group is None else group.replicas.keys() | group.retired_ids
    broker_id = FIRST_BROKER_ID
    while broker_id in taken:
        broker_id += 1
    return broker_id


def check_protocol_version(group: ReplicaGroup, replica: Replica) -> None:
    """Refuse a member that can't read the records of its group (queue-ownership.md 4.15).

    Raises:
        ProtocolVersionRefused: its version is older than that of the group.
    """
    version = replica.protocol_version
    if version is not None and version < group.protocol_version:
        raise ProtocolVersionRefused(
            group.name, replica.broker_id, version, held=group.protocol_version
        )


def raise_protocol_version(group: ReplicaGroup) -> ReplicaGroup:
    """Return the group in the version of its lowest member, which never falls so (Q78, Q80)."""
    versions = [one.protocol_version for one in group.replicas.values()]
    lowest = min((one for one in versions if one is not None), default=group.protocol_version)
    wanted = lowest if group.version_limit is None else min(lowest, group.version_limit)
    if wanted <= group.protocol_version:
        return group
    return replace(group, protocol_version=wanted)


def apply_broker_id(
    group: ReplicaGroup | None, empty: ReplicaGroup, replica: Replica
) -> Change | None:
    """Bind an id to a register check code; a repeated request with the same code changes nothing.

    `empty` is the new group if there is none yet.

    Raises:
        BrokerIdRefused: the id belongs to another broker, is retired, or is not the first of a new
        group. ProtocolVersionRefused: the broker can't read the records of the group.
    """
    broker_id = replica.broker_id
    held = None if group is None else group.replicas.get(broker_id)
    if held is not None and held.register_code == replica.register_code:
        return None
    is_first = group is None and broker_id == FIRST_BROKER_ID
    is_free = (
        group is not None
        and held is None
        and broker_id >= FIRST_BROKER_ID
        and broker_id not in group.retired_ids
    )
    if not (is_first or is_free):
        raise BrokerIdRefused(empty.name, broker_id, next_broker_id=next_broker_id(group))
    before = empty if group is None else group
    check_protocol_version(before, replica)
    after = replace(before, replicas={**before.replicas, broker_id: replica})
    return Change(ChangeKind.BROKER_ID_APPLIED, before, raise_protocol_version(after))


def register_replica(
    group: ReplicaGroup | None,
    *,
    broker_group_name: str,
    broker_id: int,
    address: str,
    register_code: str | None = None,
    protocol_version: int | None = None,
) -> Change | None:
    """Record the address and the protocol version of a replica (Q75).

    A sent code must be the one that is bound to the id. The version of the group rises if this was
    its lowest member.

    Raises:
        BrokerNotRegistered: no broker ever applied for the id. BrokerIdRefused: the id belongs to
        another broker. ProtocolVersionRefused: the broker can't read the records of the group.
    """
    held = None if group is None else group.replicas.get(broker_id)
    if group is None or held is None:
        raise BrokerNotRegistered(broker_group_name, broker_id)
    if register_code not in {None, held.register_code}:
        raise BrokerIdRefused(broker_group_name, broker_id, next_broker_id=next_broker_id(group))
    moved = replace(held, address=address, protocol_version=protocol_version)
    check_protocol_version(group, moved)
    if held == moved:
        return None
    is_same_place = held.address == address
    kind = ChangeKind.PROTOCOL_VERSION_CHANGED if is_same_place else ChangeKind.ADDRESS_CHANGED
    after = replace(group, replicas={**group.replicas, broker_id: moved})
    return Change(kind, group, raise_protocol_version(after))


def alter_sync_state_set(
    group: ReplicaGroup | None,
    proposal: SyncStateSetProposal,
    *,
    broker_group_name: str,
    alive_ids: Collection[int],
    lives: Mapping[int, int] | None = None,
) -> Change:
    """Replace the set as its master asks; the first failed check decides.

    The checks are those of control-plane.md 1.4.

    `lives` are the processes of the replicas. The master vouches for each new member.

    Raises:
        AlterSyncStateSetRefused: there is no such group, the set is the present one (or, for a
            fence, it is not), or it lacks the master.
        NotTheMaster: another broker is master. MasterEpochFenced: the caller sent another master
        epoch. SyncStateSetEpochFenced: the set has changed since the caller read it.
        UnknownReplica: a member is no replica. BrokerNotAlive: a new member is not alive.
    """
    if group is None:
        raise AlterSyncStateSetRefused(broker_group_name, "is not known")
    held = group.sync_state_set
    if (proposal.members == held.members) is not proposal.is_fence:
        found = "another" if proposal.is_fence else "this"
        raise AlterSyncStateSetRefused(broker_group_name, f"has {found} SyncStateSet already")
    if group.master_id is None or group.master_id != proposal.master_id:
        raise NotTheMaster(broker_group_name, proposal.master_id, master_id=group.master_id)
    if proposal.master_epoch != group.master_epoch:
        raise MasterEpochFenced(broker_group_name, proposal.master_epoch, held=group.master_epoch)
    if proposal.sync_state_set_epoch != held.epoch:
        raise SyncStateSetEpochFenced(
            broker_group_name, proposal.sync_state_set_epoch, held=held.epoch
        )
    for broker_id in sorted(proposal.members):
        if broker_id not in group.replicas:
            raise UnknownReplica(broker_group_name, broker_id)
        # A present member has all data, even if the controller receives no heartbeats of it. A
        # refusal would stop the master from removing another member, and nothing would be
        # acknowledged meanwhile.
        if broker_id not in held.members and broker_id not in alive_ids:
            raise BrokerNotAlive(broker_group_name, broker_id)
    if group.master_id not in proposal.members:
        raise AlterSyncStateSetRefused(
            broker_group_name, "would have a SyncStateSet without its master"
        )
    after = replace(group, sync_state_set=held.with_members(proposal.members, lives))
    return Change(ChangeKind.SYNC_STATE_SET_ALTERED, group, after)


def lose_master(group: ReplicaGroup) -> Change | None:
    """Record that the master is dead, and that no replica may replace it.

    Neither the recorded master nor an epoch changes (D4).
    """
    if group.master_id is None or group.is_master_lost:
        return None
    return Change(ChangeKind.MASTER_LOST, group, replace(group, is_master_lost=True))


def prefer_master(
    group: ReplicaGroup | None, *, broker_group_name: str, broker_id: int | None
) -> Change | None:
    """Record the master that operators prefer, or that they prefer none.

    The preference decides the next election between members with equal logs. It causes no election.

    Raises:
        BrokerGroupNotControlled: the group is not known. UnknownReplica: the named broker is no
        replica of the group.
    """
    if group is None:
        raise BrokerGroupNotControlled(broker_group_name)
    if broker_id is not None and broker_id not in group.replicas:
        raise UnknownReplica(broker_group_name, broker_id)
    if broker_id == group.preferred_id:
        return None
    return Change(ChangeKind.PREFERENCE_CHANGED, group, replace(group, preferred_id=broker_id))


def clean_replicas(
    group: ReplicaGroup | None,
    *,
    broker_group_name: str,
    broker_ids: frozenset[int],
    cleans_living: bool,
    alive_ids: Collection[int],
) -> Change | None:
    """Forget replicas; without ids, or if living replicas are included, the whole group.

    Request 1011 does the same (control-plane.md 1.13).

    The id of a forgotten replica is retired, and never assigned again. The epoch of the set grows
    if the set changes.

    Raises:
        CleanRefused: the group is unknown, has a master, or a named replica is alive.
    """
    if group is None:
        raise CleanRefused(broker_group_name, "is not known")
    if not cleans_living:
        if not broker_ids and group.master_id is not None:
            raise CleanRefused(broker_group_name, "has a master; name the replicas to forget")
        living = sorted(broker_ids.intersection(alive_ids))
        if living:
            raise CleanRefused(
                broker_group_name, f"has living replicas among those named: {living}"
            )
    left = dict(group.replicas)
    for broker_id in broker_ids:
        left.pop(broker_id, None)
    if cleans_living or not broker_ids or not left:
        return Change(ChangeKind.GROUP_REMOVED, group, None)
    if len(left) == len(group.replicas):
        return None
    held = group.sync_state_set
    members = held.members - broker_ids
    after = replace(
        group,
        replicas=left,
        retired_ids=group.retired_ids | (group.replicas.keys() & broker_ids),
        master_id=None if group.master_id in broker_ids else group.master_id,
        preferred_id=None if group.preferred_id in broker_ids else group.preferred_id,
        sync_state_set=held if members == held.members else held.with_members(members),
    )
    return Change(ChangeKind.REPLICAS_REMOVED, group, raise_protocol_version(after))


def limit_protocol_version(group: ReplicaGroup, version: int | None) -> Change | None:
    """Let the version of a group rise to a limit only; None ends the limit.

    A limit below the present version stops its records. The version itself falls later
    (`lower_protocol_version`).
    """
    if group.version_limit == version:
        return None
    after = raise_protocol_version(replace(group, version_limit=version))
    return Change(ChangeKind.PROTOCOL_VERSION_CHANGED, group, after)


def lower_protocol_version(group: ReplicaGroup) -> Change | None:
    """Lower the version of a group to its limit, so that older members may register.

    The caller knows that the log holds no later record behind the last snapshots of share queues.
    """
    if group.written_version == group.protocol_version:
        return None
    after = replace(group, protocol_version=group.written_version)
    return Change(ChangeKind.PROTOCOL_VERSION_CHANGED, group, after)
