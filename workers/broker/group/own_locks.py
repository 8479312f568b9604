"""Give locks without asking other members: this broker alone decides."""

from typing import TYPE_CHECKING

from regent_engine import StoreError

from backend.remoting.bodies import LockBody, MessageQueue
from workers.broker.errors import Unconfirmed

if TYPE_CHECKING:
    from workers.broker.broker import Broker


class OwnLocks:
    """The part of a membership about locks, where other members have no vote."""

    _broker: "Broker"

    async def lock(self, wish: LockBody, queues: list[MessageQueue]) -> list[MessageQueue]:
        """Lock queues for a client, and return those that it has now.

        In a group with a controller, every possible next master knows the holder then (I11).

        Raises:
            Unconfirmed: a failover may forget the holder, so the lock is released.
            StoreError: the log takes no record now, so the lock is released.
        """
        broker, group, client_id = self._broker, wish.consumer_group, wish.client_id
        locks = broker.locks
        held = locks.lock(group, client_id=client_id, queues=queues, now_ms=broker.elapsed_ms())
        unkept = locks.unkept(group, client_id=client_id, queues=held)
        if not unkept:
            return held
        try:
            await broker.changes.confirmed()
        except (Unconfirmed, StoreError):
            locks.end_unkept(group, unkept)
            raise
        ended = locks.keep(group, unkept)
        return [one for one in held if one not in ended]

    async def unlock(self, wish: LockBody) -> None:
        """Unlock those of the queues that the client holds."""
        broker = self._broker
        broker.locks.unlock(wish.consumer_group, client_id=wish.client_id, queues=wish.queues)
        if broker.locks.has_changes:
            broker.changes.append()
