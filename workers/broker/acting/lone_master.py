"""The membership of a master whose settings name no other member; replicas may follow it.

As in RocketMQ, its replication port is always open. It waits for no replica, and serves at once.
"""

import asyncio
import socket
from typing import Final

from backend.remoting.bodies.controller import HaStatusBody
from workers.broker.acting.leading import Leading
from workers.broker.acting.passing_back import settle_own
from workers.broker.broker import Broker
from workers.broker.group.alone import Alone
from workers.broker.routing.registration import RegistrationSource

TICK_S: Final = 0.05


class LoneMaster(Alone):
    """A broker alone, until a replica follows it."""

    def __init__(
        self, broker: Broker, registration_source: RegistrationSource, *, ha_socket: socket.socket
    ) -> None:
        """Listen for replicas once the leading is started."""
        super().__init__(broker)
        self._ha_address = registration_source.ha_address
        self._own_address = registration_source.address
        self.leading = Leading(broker, ha_socket)

    @property
    def hears_appends(self) -> bool:
        """Return whether replicas wait for messages."""
        return self.leading.has_connections

    def appended(self) -> None:
        """Send new data of the log to the replicas."""
        self.leading.appended()

    @property
    def ha_address(self) -> str:
        """Return the address for replicas."""
        return self._ha_address

    def begin_topic(self, name: str) -> None:
        """Let the topic begin empty, unless replicas have its former messages."""
        if not self.leading.has_replicas:
            super().begin_topic(name)

    def describe_ha(self) -> HaStatusBody:
        """Describe the replication of the log of this broker (907)."""
        return self.leading.describe() if self.leading.has_replicas else super().describe_ha()

    async def run(self) -> None:
        """Do the periodic work, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(settle_own(self._broker, self._own_address))
            tasks.create_task(self._tick())

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TICK_S)
            self.leading.tick(loop.time())
