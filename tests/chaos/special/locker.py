"""Two rivals for the lock of one queue, who ask the broker that serves in turn.

One of them holds the lock and renews it, the other one tries. From time to time the holder releases
the lock. Each hold has a new client id, so that an old request, which arrives late, ends no other
hold.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.chaos.cluster import GROUP
from tests.chaos.journal import Journal, LockEvent
from tests.chaos.workload import TOPIC, Workload

READERS: Final = "chaos-rivals"
INTERVAL_S: Final = 0.1
HOLD_ROUNDS: Final = 40
"""After so many rounds the holder releases the lock."""

ANSWER_TIMEOUT_S: Final = 3.0
"""Longer than a quorum needs."""


@dataclass
class Locker:
    """The rivals."""

    workload: Workload
    journal: Journal
    find_server: Callable[[], int]
    _names: Iterator[int] = field(default_factory=itertools.count)
    _holder: str | None = None
    _in_doubt: list[str] = field(default_factory=list)
    _task: asyncio.Task[None] | None = None
    _is_over: bool = False

    def start(self) -> None:
        """Begin to lock."""
        self._task = asyncio.create_task(self._run(), name="locker")

    async def close(self) -> None:
        """End after the open request; a second call is no error."""
        self._is_over = True
        if self._task is not None:
            await asyncio.wait([self._task])

    def check_alive(self) -> None:
        """Raise the error that ended it."""
        if self._task is not None and self._task.done() and not self._is_over:
            self._task.result()

    async def _run(self) -> None:
        for turn in itertools.count():
            if self._is_over:
                return
            await self._release_doubtful()
            if self._holder is not None:
                await self._lock(self._holder)
                if turn % HOLD_ROUNDS == 0:
                    await self._release(self._holder)
                    self._holder = None
            await self._try_rival()
            await asyncio.sleep(INTERVAL_S)

    async def _try_rival(self) -> None:
        rival = f"rival-{next(self._names)}"
        if await self._lock(rival):
            # If the former holder still has the lock too, the checker finds that.
            self._holder = rival

    async def _release_doubtful(self) -> None:
        """Release what a request without an answer may have taken."""
        for client in self._in_doubt[:]:
            if await self._release(client):
                self._in_doubt.remove(client)

    async def _lock(self, client: str) -> bool:
        agent, asked_at_s = self.find_server(), self.journal.now_s()
        if self.workload.client_of(agent) is None:
            # What is not sent takes no lock, and leaves no doubt.
            return False
        body = await self._ask(agent, RequestCode.LOCK_BATCH_MQ, client)
        if body is None:
            if client != self._holder:
                self._in_doubt.append(client)
            return False
        is_given = bool(java_json.loads(body).get("lockOKMQSet"))
        answered_at_s = self.journal.now_s()
        self.journal.locked(LockEvent(agent, client, asked_at_s, answered_at_s, is_given=is_given))
        return is_given

    async def _release(self, client: str) -> bool:
        agent, asked_at_s = self.find_server(), self.journal.now_s()
        self.journal.locked(LockEvent(agent, client, asked_at_s, asked_at_s, is_release=True))
        return await self._ask(agent, RequestCode.UNLOCK_BATCH_MQ, client) is not None

    async def _ask(self, agent: int, code: int, client_id: str) -> bytes | None:
        """Return the body of a successful answer, or nothing."""
        client = self.workload.client_of(agent)
        if client is None:
            return None
        queue = {"topic": TOPIC, "brokerName": GROUP, "queueId": 0}
        body = {"clientId": client_id, "consumerGroup": READERS, "mqSet": [queue]}
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                answer = await client.call(code, body=java_json.encode(body))
        except (OSError, TimeoutError):
            return None
        return None if answer.code else answer.body
