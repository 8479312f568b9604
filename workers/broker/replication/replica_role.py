"""Serve as a replica: copy the master's log, and pass requests on (control-plane.md 3.6)."""

import asyncio
from collections.abc import Callable

from workers.broker.broker import Broker
from workers.broker.replication.backfill import Backfill
from workers.broker.replication.controller_client import ReplicaGroupState
from workers.broker.replication.copy_damage import forget_damage
from workers.broker.replication.follower import Follower
from workers.broker.replication.handover import Handover
from workers.broker.replication.passing_on import PassingOn
from workers.broker.replication.stock_metadata import StockMetadata
from workers.broker.replication.verification import Verification


class ReplicaRole:
    """The work of this broker as replica; its tasks run only in this role."""

    def __init__(
        self,
        broker: Broker,
        handover: Handover,
        verification: Verification,
        *,
        on_confirmed: Callable[[int], None],
    ) -> None:
        self._broker, self._journal, self._handover = broker, broker.journal, handover
        self._verification, self._on_confirmed = verification, on_confirmed
        self.backfill = Backfill(
            broker.store,
            broker.settings.root_dir,
            verification,
            segment_size=broker.settings.commit_log_file_size_bytes,
            on_whole=broker.journal.cut,
        )
        self.passing = PassingOn(
            broker.hot,
            broker.meters,
            lambda: broker.settings.passes_on,
            on_change=broker.engine_links.follow,
        )
        self._tasks: list[asyncio.Task[None]] = []
        self.follower: Follower | None = None
        self._obstacle = ""

    @property
    def confirmed_term(self) -> int | None:
        """Return the epoch whose master reports the confirmed position; None without one.

        A master of stock reports data as confirmed that a member of its set may lack.
        """
        follower = self.follower
        return None if follower is None or not follower.hears_confirmed else follower.epoch

    @property
    def refused_cut(self) -> int | None:
        """Return where this log would have to be truncated to follow, and is not (D27)."""
        return None if self.follower is None else self.follower.refused_cut

    @property
    def obstacle(self) -> str:
        """Return why this broker does not try to follow: its log is damaged; else None."""
        damage = self._broker.damage
        if damage is None:
            return ""
        return f"damaged at log position {damage.position}: {self._obstacle or 'not mended yet'}"

    def note_obstacle(self, reason: str) -> None:
        """Record why a damaged log is not repaired yet."""
        self._obstacle = reason

    async def begin(self, own_id: int, master: ReplicaGroupState) -> None:
        """Follow a master, and stop following the former one."""
        assert master.master_address is not None, "a master that is followed has an address"
        await self.stop()
        self._verification.confirmed.accept_loss(master.loss_epoch)
        self._journal.follow(master.epoch)
        self.passing.follow(master.master_address)
        follower = self.follower = self._follower_of(own_id, master)
        copy = StockMetadata(self._broker, self._journal, follower.master_address)
        self._tasks = [
            asyncio.create_task(follower.run(), name="follow"),
            asyncio.create_task(copy.run(), name="copy-metadata"),
            asyncio.create_task(self._handover.let_clients_go(), name="let-clients-go"),
        ]

    async def mend(self, own_id: int, master: ReplicaGroupState) -> None:
        """Prepare a damaged log to follow a master, or raise why it can't (ADR 17).

        Raises:
            Obstacle: the master can't replace the data that would be truncated.
            OSError, TimeoutError, ProtocolError, StoreError, RemotingError: this attempt failed.
        """
        self._verification.confirmed.accept_loss(master.loss_epoch)
        await self._follower_of(own_id, master).mend()
        self._broker.damage = self._broker.store.damage
        await asyncio.to_thread(forget_damage, self._broker.settings.root_dir)

    def check(self) -> None:
        """Raise the error that ended a task."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def stop(self) -> None:
        """End the role of replica; nothing is appended afterwards."""
        self.follower = None
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _follower_of(self, own_id: int, master: ReplicaGroupState) -> Follower:
        assert master.master_address is not None, "a replica needs its master's address"
        return Follower(
            self._broker.store,
            self._broker.settings,
            broker_id=own_id,
            epoch=master.epoch,
            master_address=master.master_address,
            verification=self._verification,
            flusher=self._broker.flusher,
            on_confirmed=self._on_confirmed,
            on_cut=self._journal.cut,
            backfill=self.backfill,
            damaged_at=None if self._broker.damage is None else self._broker.damage.position,
        )
