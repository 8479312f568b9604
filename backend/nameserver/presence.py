"""Keep the last report of each broker that this process hears, with its time and connection.

A broker may have two rows. One is its registration, by address: it keeps the broker in the routes.
The other is its report as a replica of a controller's group, by id: elections and leases depend on
it. Each row has its own timeout, and a registration never extends a lease (D9).

Pure: time comes from the monotonic clock that is passed in, so that a step of the wall clock ends
no lease (D3). Two differences from stock are intended. A replica moves to the connection of its
last heartbeat, so the close of an old connection has no effect. A closed connection takes all its
brokers along (control-plane.md 1.16, 2.6).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Protocol, TypeVar
from uuid import UUID

from backend.db.replica_reports import ReplicaKey
from backend.domain.election import ReplicaReport
from backend.nameserver.members import GroupKey, LiveKey, Registration

REPLICA_COUNT_MAX: Final = 50_000


class Report(Protocol):
    """A report of a broker about itself."""

    @property
    def timeout_ms(self) -> int:
        """Return the heartbeat timeout that the broker asked for."""
        ...


KeyT = TypeVar("KeyT")
ReportT = TypeVar("ReportT", bound=Report)


@dataclass(slots=True, eq=False)
class HeardBroker(Generic[KeyT, ReportT]):
    """Hold one broker with its last report, which arrived at `heard_at_ms`."""

    key: KeyT
    report: ReportT
    connection: object
    heard_at_ms: float
    # The broker asks for leases, so it accepts notices over its own connection.
    takes_notices: bool = False
    # The end of its lease as master if the election that is being written is committed.
    lease_ends_at_ms: float = 0.0


RegisteredBroker = HeardBroker[LiveKey, Registration]
HeardReplica = HeardBroker[ReplicaKey, ReplicaReport]


class PresenceTable:
    """Hold every broker whose heartbeats this process receives."""

    def __init__(self, process_id: UUID, monotonic_ms: Callable[[], float]) -> None:
        self._id, self._now_ms = process_id, monotonic_ms
        self._registered: dict[LiveKey, RegisteredBroker] = {}
        self._groups: dict[GroupKey, dict[int, HeardReplica]] = {}
        # By connection, in the order in which they were opened.
        self._connections: dict[object, dict[HeardBroker[Any, Any], None]] = {}
        self._unwritten: set[ReplicaKey] = set()
        self._replica_count = 0

    @property
    def id(self) -> UUID:
        """Return the id of this process of the control plane."""
        return self._id

    def postpone(self, by_ms: float) -> None:
        """Extend the timeout of every broker by the time in which this process was paused (D28)."""
        now_ms = self._now_ms()
        for row in self._rows():
            row.heard_at_ms = min(now_ms, row.heard_at_ms + by_ms)

    def wait_again(self, rows: Iterable[HeardBroker[Any, Any]] | None = None) -> None:
        """Restart the timeout of some brokers, or of all."""
        now_ms = self._now_ms()
        for row in self._rows() if rows is None else rows:
            row.heard_at_ms = now_ms

    def register(self, registration: Registration, *, connection: object) -> None:
        """Record a registration and its connection."""
        key = registration.live_key
        self.unregister(key)
        row = HeardBroker(key, registration, connection, self._now_ms())
        self._registered[key] = row
        self._attach(row)

    def hear_registered(self, key: LiveKey) -> RegisteredBroker | None:
        """Record a heartbeat; a heartbeat of an unregistered broker is ignored."""
        row = self._registered.get(key)
        if row is not None:
            row.heard_at_ms = self._now_ms()
        return row

    def find_registered(self, key: LiveKey) -> RegisteredBroker | None:
        """Find a registered broker."""
        return self._registered.get(key)

    def unregister(self, key: LiveKey) -> None:
        """Drop a registration, if there is one."""
        row = self._registered.pop(key, None)
        if row is not None:
            self._detach(row)

    def list_registered_over(self, connection: object) -> list[RegisteredBroker]:
        """List every broker that registered over a connection."""
        rows = self._connections.get(connection, ())
        return [row for row in rows if isinstance(row.report, Registration)]

    def list_silent_registered(self) -> list[RegisteredBroker]:
        """List registered brokers that were silent for longer than they asked to be waited for."""
        return self._silent(self._registered.values())

    def hear(
        self, key: ReplicaKey, report: ReplicaReport, *, connection: object, takes_notices: bool
    ) -> bool:
        """Record a replica's heartbeat; return whether there was space for it.

        Positions only rise while a connection lasts (S67).
        """
        held = self.find_replica(key)
        if held is None:
            if self._replica_count >= REPLICA_COUNT_MAX:
                return False
            self._replica_count += 1
        elif held.connection is connection:
            held.report = _keep_position(report, held.report)
            held.heard_at_ms, held.takes_notices = self._now_ms(), takes_notices
            self._unwritten.add(key)
            return True
        else:
            self._detach(held)
        row = HeardBroker(key, report, connection, self._now_ms(), takes_notices)
        self._groups.setdefault(key[:2], {})[key[2]] = row
        self._attach(row)
        self._unwritten.add(key)
        return True

    def find_replica(self, key: ReplicaKey) -> HeardReplica | None:
        """Find a replica that is heard."""
        return self._groups.get(key[:2], {}).get(key[2])

    def reports_of(self, cluster_name: str, broker_group_name: str) -> Mapping[int, ReplicaReport]:
        """Return what was heard of a group's replicas, by broker id."""
        now_ms = self._now_ms()
        rows = self._groups.get((cluster_name, broker_group_name), {})
        return {broker_id: _report(row, now_ms) for broker_id, row in rows.items()}

    def promise_lease(self, key: ReplicaKey) -> int:
        """Say how long a lease would last, in ms, that was asked for with the last heartbeat.

        The lease is valid once Postgres has it, and is only sent to a broker that asks for leases.
        """
        held = self.find_replica(key)
        if held is None or not held.takes_notices:
            return 0
        held.lease_ends_at_ms = held.heard_at_ms + held.report.timeout_ms
        return max(0, int(held.lease_ends_at_ms - self._now_ms()))

    def list_of_group(self, cluster_name: str, broker_group_name: str) -> list[HeardReplica]:
        """List the replicas of a group that are heard."""
        return list(self._groups.get((cluster_name, broker_group_name), {}).values())

    def list_groups(self) -> list[GroupKey]:
        """List the groups with a replica in the table."""
        return list(self._groups)

    def find_cluster(self, connection: object, broker_group_name: str) -> str | None:
        """Find the cluster of a connection's group, for a request without a cluster name (D2)."""
        keys = (row.key for row in self.list_replicas_over(connection))
        return next((key[0] for key in keys if key[1] == broker_group_name), None)

    def take_unwritten(self) -> dict[ReplicaKey, ReplicaReport]:
        """Return the reports of replicas since the last call."""
        unwritten, self._unwritten = self._unwritten, set()
        now_ms = self._now_ms()
        held = ((key, self.find_replica(key)) for key in unwritten)
        return {key: _report(row, now_ms) for key, row in held if row is not None}

    def put_back(self, keys: Iterable[ReplicaKey]) -> None:
        """Take back reports that could not be written."""
        self._unwritten.update(keys)

    def list_replicas_over(self, connection: object) -> list[HeardReplica]:
        """List every replica whose last heartbeat came over a connection."""
        rows = self._connections.get(connection, ())
        return [row for row in rows if isinstance(row.report, ReplicaReport)]

    def remove_replicas_over(self, connection: object) -> list[ReplicaKey]:
        """Remove all replicas whose last heartbeat came over a connection; return their keys."""
        keys = [row.key for row in self.list_replicas_over(connection)]
        for key in keys:
            self.remove_replica(key)
        return keys

    def keep_without_connection(self, row: HeardReplica) -> None:
        """Keep a replica whose connection has closed, and restart its timeout."""
        self._detach(row)
        row.connection, row.takes_notices = object(), False
        row.heard_at_ms = self._now_ms()

    def list_silent_replicas(self) -> list[HeardReplica]:
        """List replicas without a heartbeat for longer than their timeout."""
        return self._silent(row for rows in self._groups.values() for row in rows.values())

    def remove_replica(self, key: ReplicaKey) -> None:
        """Remove a replica if it is in the table."""
        held = self.find_replica(key)
        if held is None:
            return
        self._detach(held)
        self._unwritten.discard(key)
        self._replica_count -= 1
        del self._groups[key[:2]][key[2]]
        if not self._groups[key[:2]]:
            del self._groups[key[:2]]

    def _rows(self) -> Iterator[HeardBroker[Any, Any]]:
        yield from self._registered.values()
        for rows in self._groups.values():
            yield from rows.values()

    def _silent(
        self, rows: Iterable[HeardBroker[KeyT, ReportT]]
    ) -> list[HeardBroker[KeyT, ReportT]]:
        now_ms = self._now_ms()
        return [row for row in rows if now_ms - row.heard_at_ms > row.report.timeout_ms]

    def _attach(self, row: HeardBroker[Any, Any]) -> None:
        self._connections.setdefault(row.connection, {})[row] = None

    def _detach(self, row: HeardBroker[Any, Any]) -> None:
        rows = self._connections.get(row.connection)
        if rows is None:
            return
        rows.pop(row, None)
        if not rows:
            del self._connections[row.connection]


def _report(row: HeardReplica, now_ms: float) -> ReplicaReport:
    """Return the report of a replica with its age."""
    return row.report.aged(max(0, int(now_ms - row.heard_at_ms)))


def _keep_position(report: ReplicaReport, before: ReplicaReport) -> ReplicaReport:
    """Keep the later report with the position of the higher one."""
    highest = (before.epoch, before.max_offset, before.confirm_offset)
    if (report.epoch, report.max_offset, report.confirm_offset) >= highest:
        return report
    return replace(
        report,
        epoch=before.epoch,
        max_offset=before.max_offset,
        confirm_offset=before.confirm_offset,
        confirm_epoch=before.confirm_epoch,
    )
