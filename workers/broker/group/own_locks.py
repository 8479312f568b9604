"""Give locks without asking other members: this broker alone decides."""

from typing import TYPE_CHECKING

from backend.remoting.bodies import LockBody, MessageQueue

if TYPE_CHECKING:
    from workers.broker.broker import Broker


class OwnLocks:
    """The part of a membership about locks, where other members have no vote."""

    _broker: "Broker"

    async def lock(self, wish: LockBody, queues: list[MessageQueue]) -> list[MessageQueue]:
        """Lock queues for a client, and return those that it has now."""
        broker = self._broker
        return broker.locks.lock(
            wish.consumer_group, client_id=wish.client_id, queues=queues, now_ms=broker.elapsed_ms()
        )

    async def unlock(self, wish: LockBody) -> None:
        """Unlock those of the queues that the client holds."""
        self._broker.locks.unlock(wish.consumer_group, client_id=wish.client_id, queues=wish.queues)
