"""Be a replica: copy the log of the master, and pass requests on to it (control-plane.md 3.6)."""

import asyncio
from collections.abc import Callable

from workers.broker.broker import Broker
from workers.broker.replication.controller_client import ReplicaGroupState
from workers.broker.replication.follower import Follower
from workers.broker.replication.handover import Handover
from workers.broker.replication.passing_on import PassingOn
from workers.broker.replication.stock_metadata import StockMetadata
from workers.broker.replication.verification import Verification


class ReplicaRole:
    """What this broker does as replica; its tasks run only while it is one."""

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
        self.passing = PassingOn(broker.hot, broker.meters, lambda: broker.settings.passes_on)
        self._tasks: list[asyncio.Task[None]] = []
        self.follower: Follower | None = None
        self._obstacle = ""

    @property
    def confirmed_term(self) -> int | None:
        """Give the epoch whose master tells this replica what is confirmed; None without one.

        A master of stock calls confirmed what a member of its set may lack.
        """
        follower = self.follower
        return None if follower is None or not follower.hears_confirmed else follower.epoch

    @property
    def refused_cut(self) -> int | None:
        """Give where this log would have to be cut to follow, and is not (D27)."""
        return None if self.follower is None else self.follower.refused_cut

    @property
    def obstacle(self) -> str:
        """Give why this broker does not even try to follow: its log is damaged; else nothing."""
        damage = self._broker.damage
        if damage is None:
            return ""
        return f"damaged at log position {damage.position}: {self._obstacle or 'not mended yet'}"

    def note_obstacle(self, reason: str) -> None:
        """Remember why a damaged log is not whole again yet."""
        self._obstacle = reason

    async def begin(self, own_id: int, master: ReplicaGroupState) -> None:
        """Follow a master, and none before."""
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
        """Have a damaged log ready to follow a master, or raise why it is not (ADR 17).

        Raises:
            Obstacle: the master can't make good what would be cut.
            OSError, TimeoutError, ProtocolError, StoreError, RemotingError: it failed this time.
        """
        self._verification.confirmed.accept_loss(master.loss_epoch)
        await self._follower_of(own_id, master).mend()
        self._broker.damage = self._broker.store.damage

    def check(self) -> None:
        """Raise what a task has died of."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def stop(self) -> None:
        """Be no replica any more; nothing is appended afterwards."""
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
        )
