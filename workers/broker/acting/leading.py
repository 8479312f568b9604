"""Serve as the master of a group with fixed roles: send the log, and count who has it."""

import asyncio
import socket
from functools import partial
from typing import Final

from backend.remoting.bodies.controller import HaStatusBody
from workers.broker.acting.acknowledgements import NONE_NEEDED, Needs, ReplicaAcknowledgements
from workers.broker.broker import Broker
from workers.broker.commit_log.elapsed import elapsed_ms
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.group.own_disk import when_on_disk
from workers.broker.replication.acknowledgement import Outcome, Release, outcome_of
from workers.broker.replication.ha_listener import HaListener

LEAVE_TIMEOUT_S: Final = 3.0
LEAVE_CHECK_S: Final = 0.01


class Leading:
    """The work of a master; it is the watcher of its replicas."""

    def __init__(self, broker: Broker, ha_socket: socket.socket) -> None:
        """Listen for replicas once `start` is called."""
        settings = broker.settings
        self._broker, self._store = broker, broker.store
        self._needs = Needs(
            settings.in_sync_count, settings.in_sync_count_min, settings.in_sync_count_is_lowered
        )
        needed_count = max(settings.in_sync_count, settings.in_sync_count_min)
        is_synced = settings.has_fixed_role and settings.role == "sync_master"
        self.waits_for_replicas = is_synced and needed_count > NONE_NEEDED
        self._acks = ReplicaAcknowledgements(
            timeout_ms=settings.replica_timeout_ms, now_ms=elapsed_ms
        )
        self.listener = HaListener(broker.store, settings, ha_socket, is_plain=True)
        broker.cleaner.keep_from(self.listener.needed_from)
        self._held: dict[int, int] = {}
        self._reported: set[int] = set()
        self.alive_count = settings.replica_count
        """The living members of an acting group, by the last poll of a name server."""

    async def start(self) -> None:
        """Accept replicas from now on."""
        if self.waits_for_replicas:
            self._broker.hot.set_deferring(True)
        await self.listener.start()
        self.listener.serve(self)

    async def leave(self) -> None:
        """Wait for a moment until the connected replicas have all of the log, then stop."""
        end = self._store.max_position
        try:
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
                while any(held < end for held in self._held.values()):
                    self.listener.appended()
                    await asyncio.sleep(LEAVE_CHECK_S)
        except TimeoutError:
            pass
        self._acks.end(Outcome.LATE)
        self.listener.stop()

    # The functions of a watcher of replicas.

    @property
    def published_position(self) -> int:
        """Return the end of the log: readers see it before replicas have it."""
        return self._store.max_position

    def connected(self, broker_id: int, *, is_learner: bool) -> None:
        """Called when a replica connects; in this protocol no replica is a learner."""
        del is_learner
        self._held[broker_id] = 0

    def sent(self, broker_id: int) -> None:
        """Called when data was sent: its report will say what the replica has."""

    def held(self, broker_id: int, position: int) -> None:
        """Called when a replica reports the end of its log."""
        self._held[broker_id] = position
        self._reported.add(broker_id)
        self._advance()

    def disconnected(self, broker_id: int) -> None:
        """Called when a replica is lost."""
        self._held.pop(broker_id, None)
        self._reported.discard(broker_id)

    @property
    def copying_hosts(self) -> list[str]:
        """Return the host of each replica that has reported the end of its log."""
        addresses = self.listener.addresses
        return [addresses[one].rpartition(":")[0] for one in self._reported & addresses.keys()]

    @property
    def has_connections(self) -> bool:
        """Return whether any replica is connected, also before its first report."""
        return self.listener.has_connections

    @property
    def has_replicas(self) -> bool:
        """Return whether any replica is connected."""
        return bool(self._held)

    def describe(self) -> HaStatusBody:
        """Describe the progress of the replicas (907)."""
        end, in_sync = self._store.max_position, self.in_sync_ids
        return HaStatusBody(
            is_master=True,
            max_position=end,
            in_sync_count=len(in_sync),
            connections=self.listener.describe(end, in_sync),
        )

    # Acknowledgements.

    @property
    def in_sync_ids(self) -> frozenset[int]:
        """Return the connections of replicas that are near the end of the log."""
        least = self._store.max_position - self._broker.settings.in_sync_lag_bytes_max
        return frozenset(number for number, held in self._held.items() if held > least)

    def appended(self) -> None:
        """Send new data of the log."""
        if self.waits_for_replicas:
            self.listener.appended()
        else:
            self.listener.send_later()

    def when_safe(self, position: int, release: Release) -> None:
        """Call back once the log up to a position is as safe as the settings require."""
        if not self.waits_for_replicas:
            when_on_disk(self._broker, position, release)
            return
        self._acks.wait(position, release)
        if self._is_synced:
            self._broker.flusher.when_durable(position, self._on_flushed)
        else:
            self._advance()

    async def outcome(self, position: int) -> Outcome:
        """Return the outcome of the replication of the log up to a position."""
        if not self.waits_for_replicas:
            return Outcome.CONFIRMED
        return await outcome_of(partial(self.when_safe, position))

    def flush_failed(self) -> None:
        """End all waits: the content of the disk is unknown."""
        self._acks.end(Outcome.FLUSH_FAILED)

    def tick(self, now_s: float) -> None:
        """Do the periodic work."""
        self.listener.appended()
        self.listener.tick(now_s)
        self._acks.expire()
        self._advance()
        if self.waits_for_replicas and self._broker.settings.acts_as_master:
            self._block_if_few()

    def _block_if_few(self) -> None:
        """Refuse messages while too few brokers are in sync (control-plane.md 5.10)."""
        in_sync_count = self._in_sync_count
        if self._needs.needed(in_sync_count) > in_sync_count:
            self._broker.block_writes(WriteBlock.TOO_FEW_REPLICAS)
        else:
            self._broker.unblock_writes(WriteBlock.TOO_FEW_REPLICAS)

    @property
    def _in_sync_count(self) -> int:
        return min(self.alive_count, 1 + len(self.in_sync_ids))

    @property
    def _is_synced(self) -> bool:
        return self._broker.settings.flush_mode == "sync"

    def _advance(self) -> None:
        own = self._store.flushed_position if self._is_synced else self._store.max_position
        self._acks.advance(own, self._held.values(), self._needs.needed(self._in_sync_count))

    def _on_flushed(self, _is_durable: bool) -> None:  # noqa: FBT001 - as the flusher calls
        self._advance()
