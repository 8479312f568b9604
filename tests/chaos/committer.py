"""Commit the offsets of a consumer group, as messages are acknowledged, and query them.

The committer asks the broker that serves the group, one request after the other. Each commit of a
queue is greater than the former ones. So an offset that goes back was never requested.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from backend.remoting.request_code import RequestCode
from tests.chaos.journal import NONE_COMMITTED, Commit, Journal, Look
from tests.chaos.workload import QUEUE_COUNT, TOPIC, Workload
from tests.integration.broker.client import Client

GROUP: Final = "chaos-readers"
INTERVAL_S: Final = 0.1
ANSWER_TIMEOUT_S: Final = 2.0
_NOT_FOUND: Final = 22


@dataclass
class Committer:
    """A consumer group, as far as its offsets go."""

    workload: Workload
    journal: Journal
    find_server: Callable[[], int]
    _ends: list[int] = field(default_factory=lambda: [0] * QUEUE_COUNT)
    _committed: list[int] = field(default_factory=lambda: [0] * QUEUE_COUNT)
    _seen_count: int = 0
    _greeted: Client | None = None
    _task: asyncio.Task[None] | None = None
    _is_over: bool = False

    def start(self) -> None:
        """Begin to commit and ask."""
        self._task = asyncio.create_task(self._run(), name="committer")

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
        while not self._is_over:
            agent = self.find_server()
            self._count_ends()
            await self._greet(agent)
            for queue in range(QUEUE_COUNT):
                if self._ends[queue] > self._committed[queue]:
                    await self._commit(agent, queue)
                await self._look(agent, queue)
            await asyncio.sleep(INTERVAL_S)

    async def _greet(self, agent: int) -> None:
        """Send a heartbeat, which creates the group: no broker takes commits of an unknown one."""
        client = self.workload.client_of(agent)
        if client is None or client is self._greeted:
            return
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                answer = await client.heartbeat(GROUP, TOPIC)
            self._greeted = client if answer.code == 0 else None

    def _count_ends(self) -> None:
        for told in self.journal.acknowledgements[self._seen_count :]:
            self._ends[told.queue] = max(self._ends[told.queue], told.offset + 1)
        self._seen_count = len(self.journal.acknowledgements)

    async def _commit(self, agent: int, queue: int) -> None:
        client = self.workload.client_of(agent)
        if client is None:
            return
        offset = self._committed[queue] = self._ends[queue]
        sent_at_s = self.journal.now_s()
        fields = _fields(queue) | {"commitOffset": offset}
        told = await _ask(client, RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        answered_at_s = None if told is None else self.journal.now_s()
        is_taken = told is not None and told[0] == 0
        if not is_taken:
            # The broker may not know the group yet.
            self._greeted = None
        self.journal.committed(Commit(agent, queue, offset, sent_at_s, answered_at_s, is_taken))

    async def _look(self, agent: int, queue: int) -> None:
        client = self.workload.client_of(agent)
        if client is None:
            return
        asked_at_s = self.journal.now_s()
        fields = _fields(queue) | {"setZeroIfNotFound": "false"}
        told = await _ask(client, RequestCode.QUERY_CONSUMER_OFFSET, fields)
        if told is None or told[0] not in {0, _NOT_FOUND}:
            return
        offset = int(told[1]) if told[0] == 0 else NONE_COMMITTED
        self.journal.looked(Look(agent, queue, offset, asked_at_s, self.journal.now_s()))


async def _ask(client: Client, code: int, fields: dict[str, object]) -> tuple[int, str] | None:
    """Return the code and the offset of the answer, or nothing."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            answer = await client.call(code, fields)
    except (OSError, TimeoutError):
        return None
    return answer.code, answer.ext.get("offset", "")


def _fields(queue: int) -> dict[str, object]:
    return {"consumerGroup": GROUP, "topic": TOPIC, "queueId": queue}
