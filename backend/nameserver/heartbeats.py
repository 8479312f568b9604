"""Keep which replicas this process hears, over which connection, and what they last said.

Pure: time comes from the monotonic clock that is passed in, so that a step of the wall clock ends
no lease (D3). What differs from stock on purpose: an entry moves to the connection that it was
heard on last, so the close of an old one means nothing, and a connection takes all its replicas
along (control-plane.md 1.16, 2.6).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from backend.db.replica_reports import ReplicaKey
from backend.domain.election import ReplicaReport

HEARD_COUNT_MAX: Final = 50_000


@dataclass(slots=True)
class HeardReplica:
    """Hold one replica that is heard; `last_report` counts its age from `heard_at_ms`."""

    key: ReplicaKey
    connection: object
    heard_at_ms: float
    last_report: ReplicaReport
    # It asks for leases, so it takes notices over the connection that it speaks on.
    takes_notices: bool
    # Until when it may act as master if the election is committed that is being written.
    lease_ends_at_ms: float = 0.0

    def report(self, now_ms: float) -> ReplicaReport:
        """Say what was heard and how long ago."""
        return self.last_report.aged(max(0, int(now_ms - self.heard_at_ms)))


class HeartbeatTable:
    """Hold every replica that this process hears; the source of heartbeats for elections."""

    def __init__(self, process_id: UUID, monotonic_ms: Callable[[], float]) -> None:
        self._id, self._now_ms = process_id, monotonic_ms
        self._groups: dict[tuple[str, str], dict[int, HeardReplica]] = {}
        self._connections: dict[object, set[ReplicaKey]] = {}
        self._unwritten: set[ReplicaKey] = set()
        self._count = 0

    @property
    def id(self) -> UUID:
        """Name this process among those of the control plane."""
        return self._id

    def hear(
        self,
        key: ReplicaKey,
        last_report: ReplicaReport,
        *,
        connection: object,
        takes_notices: bool,
    ) -> bool:
        """Note a heartbeat; tell whether there was room for it.

        Positions only rise while a connection lasts (S67).
        """
        held = self.find(key)
        if held is None:
            if self._count >= HEARD_COUNT_MAX:
                return False
            self._count += 1
        elif held.connection is connection:
            held.last_report = _keep_position(last_report, held.last_report)
            held.heard_at_ms, held.takes_notices = self._now_ms(), takes_notices
            self._unwritten.add(key)
            return True
        else:
            self._detach(held)
        entry = HeardReplica(key, connection, self._now_ms(), last_report, takes_notices)
        self._groups.setdefault(key[:2], {})[key[2]] = entry
        self._connections.setdefault(connection, set()).add(key)
        self._unwritten.add(key)
        return True

    def find(self, key: ReplicaKey) -> HeardReplica | None:
        """Find a replica that is heard."""
        return self._groups.get(key[:2], {}).get(key[2])

    def reports_of(self, cluster_name: str, group_name: str) -> Mapping[int, ReplicaReport]:
        """Return what was heard of a group's replicas, by broker id."""
        now_ms = self._now_ms()
        held = self._groups.get((cluster_name, group_name), {})
        return {broker_id: entry.report(now_ms) for broker_id, entry in held.items()}

    def promise_lease(self, key: ReplicaKey) -> int:
        """Say how long a lease would last, in ms, that was asked for with the last heartbeat.

        It is the broker's once Postgres has it, and only told to one that asks for leases.
        """
        held = self.find(key)
        if held is None or not held.takes_notices:
            return 0
        held.lease_ends_at_ms = held.heard_at_ms + held.last_report.timeout_ms
        return max(0, int(held.lease_ends_at_ms - self._now_ms()))

    def list_of_group(self, cluster_name: str, group_name: str) -> list[HeardReplica]:
        """List the replicas of a group that are heard."""
        return list(self._groups.get((cluster_name, group_name), {}).values())

    def list_groups(self) -> list[tuple[str, str]]:
        """List the groups of which somebody is heard."""
        return list(self._groups)

    def find_cluster(self, connection: object, group_name: str) -> str | None:
        """Find the cluster of a connection's group, where a request leaves it out (D2)."""
        keys = self._connections.get(connection, ())
        return next((key[0] for key in keys if key[1] == group_name), None)

    def take_unwritten(self) -> dict[ReplicaKey, ReplicaReport]:
        """Hand over what was heard since it was last handed over."""
        unwritten, self._unwritten = self._unwritten, set()
        now_ms = self._now_ms()
        held = ((key, self.find(key)) for key in unwritten)
        return {key: entry.report(now_ms) for key, entry in held if entry is not None}

    def put_back(self, keys: Mapping[ReplicaKey, ReplicaReport]) -> None:
        """Take back what could not be written."""
        self._unwritten.update(keys)

    def list_connection(self, connection: object) -> list[HeardReplica]:
        """List every replica that was last heard over a connection."""
        return [self._groups[key[:2]][key[2]] for key in self._connections.get(connection, ())]

    def remove_connection(self, connection: object) -> list[ReplicaKey]:
        """Drop every replica that was last heard over a connection, and name them."""
        keys = list(self._connections.get(connection, ()))
        for key in keys:
            self.remove(key)
        return keys

    def keep_without_connection(self, key: ReplicaKey) -> None:
        """Wait for a replica as if it had spoken now, though its connection has closed."""
        held = self.find(key)
        if held is None:
            return
        self._detach(held)
        held.connection, held.takes_notices = object(), False
        held.heard_at_ms = self._now_ms()

    def list_silent(self) -> list[HeardReplica]:
        """List replicas that were silent for longer than they asked to be waited for."""
        now_ms = self._now_ms()
        return [
            entry
            for entry in self._entries()
            if now_ms - entry.heard_at_ms > entry.last_report.timeout_ms
        ]

    def remove(self, key: ReplicaKey) -> None:
        """Drop a replica."""
        held = self.find(key)
        if held is None:
            return
        self._detach(held)
        self._unwritten.discard(key)
        self._count -= 1
        del self._groups[key[:2]][key[2]]
        if not self._groups[key[:2]]:
            del self._groups[key[:2]]

    def is_silent_connection(self, connection: object) -> bool:
        """Tell whether nobody is heard over a connection any longer."""
        return not self._connections.get(connection)

    def postpone(self, by_ms: float) -> None:
        """Grant everybody the time in which this process itself stood still."""
        now_ms = self._now_ms()
        for entry in self._entries():
            entry.heard_at_ms = min(now_ms, entry.heard_at_ms + by_ms)

    def wait_anew(self, entries: Iterable[HeardReplica]) -> None:
        """Wait for replicas as if each had spoken now."""
        now_ms = self._now_ms()
        for entry in entries:
            entry.heard_at_ms = now_ms

    def list_all(self) -> list[HeardReplica]:
        """List every replica that is heard."""
        return list(self._entries())

    def _entries(self) -> Iterator[HeardReplica]:
        return (entry for held in self._groups.values() for entry in held.values())

    def _detach(self, held: HeardReplica) -> None:
        keys = self._connections.get(held.connection)
        if keys is None:
            return
        keys.discard(held.key)
        if not keys:
            del self._connections[held.connection]


def _keep_position(last_report: ReplicaReport, before: ReplicaReport) -> ReplicaReport:
    """Keep the later one's words with the higher one's position."""
    highest = (before.epoch, before.max_offset, before.confirm_offset)
    if (last_report.epoch, last_report.max_offset, last_report.confirm_offset) >= highest:
        return last_report
    return replace(
        last_report,
        epoch=before.epoch,
        max_offset=before.max_offset,
        confirm_offset=before.confirm_offset,
        confirm_epoch=before.confirm_epoch,
    )
