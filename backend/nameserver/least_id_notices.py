"""Notify brokers that the least id of their group has changed (905, control-plane.md 4.4).

RocketMQ does this only if a setting says so; here it is the default (D15), so that a replica acts
for its master within a moment. Brokers also poll, so a lost notice does no harm.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

import structlog

from backend.brokers.client import RemotingClient
from backend.brokers.errors import BrokerUnreachable
from backend.remoting.headers import encode_header
from backend.remoting.headers.replication import LeastIdHeader
from backend.remoting.request_code import RequestCode

PUSH_TIMEOUT_S: Final = 0.3
PUSHES_AT_ONCE_MAX: Final = 64
WAITING_COUNT_MAX: Final = 4096

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LeastIdChange:
    """Hold the new least id of a group, and the brokers that are notified."""

    broker_group_name: str
    broker_id: int
    address: str
    receivers: tuple[str, ...]
    offline_address: str | None = None
    ha_address: str | None = None


class LeastIdNotices:
    """Push changes to the brokers of their groups."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client
        self._waiting: asyncio.Queue[tuple[LeastIdChange, str]] = asyncio.Queue(WAITING_COUNT_MAX)

    def add(self, change: LeastIdChange) -> None:
        """Push a change soon; with too many waiting, brokers learn of it from their polls."""
        for address in change.receivers:
            try:
                self._waiting.put_nowait((change, address))
            except asyncio.QueueFull:
                log.warning("least_id_not_pushed", broker_name=change.broker_group_name)
                return

    async def push(self) -> None:
        """Push until cancelled; an unreachable broker delays no other one."""
        slots = asyncio.Semaphore(PUSHES_AT_ONCE_MAX)
        async with asyncio.TaskGroup() as pushes:
            while True:
                change, address = await self._waiting.get()
                await slots.acquire()
                pushes.create_task(self._push(change, address, slots))

    async def _push(self, change: LeastIdChange, address: str, slots: asyncio.Semaphore) -> None:
        header = LeastIdHeader(
            min_broker_id=change.broker_id,
            broker_name=change.broker_group_name,
            min_broker_addr=change.address,
            offline_broker_addr=change.offline_address,
            ha_broker_addr=change.ha_address,
        )
        code = RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE
        try:
            async with asyncio.timeout(PUSH_TIMEOUT_S):
                await self._client.notify(address, code, ext=encode_header(header), body=b"")
        except (BrokerUnreachable, TimeoutError) as error:
            reason = str(error) or "there is no connection in time"
            log.info("least_id_not_received", broker_address=address, reason=reason)
        finally:
            slots.release()
