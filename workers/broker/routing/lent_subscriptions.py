"""Use the subscriptions of consumer groups whose members have not sent a heartbeat here yet.

A logical queue that moves changes no queue of a consumer. So the consumer may pull from the new
leader before it sends a heartbeat there, which takes up to 30 s. The leader would refuse the pull
(remoting.md 2.3: 11, code 24). Other broker groups know the subscription and lend it.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from backend.remoting import java_json
from backend.remoting.bodies import ConsumerConnection
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from workers.broker.requests.caller import Caller
from workers.broker.routing.neighbours import Neighbours
from workers.broker.tables.clients import ConsumerGroup

LENT_MS: Final = 75_000
"""A member sends a heartbeat within 30 s after it has the route, which it asks for every 30 s."""

WAIT_S: Final = 5.0
"""A pull waits for other broker groups for this time only. Then its consumer asks again."""

REPEAT_MS: Final = 1_000
"""Other broker groups are not asked for the same consumer group again within this time."""

GROUP_COUNT_MAX: Final = 4_096

log = structlog.get_logger()


class LentSubscriptions:
    """Consumer groups as other broker groups know them; belongs to the loop's thread."""

    def __init__(self, neighbours: Neighbours, clock: Callable[[], int]) -> None:
        """Take the clock that is never set."""
        self._neighbours, self._clock = neighbours, clock
        self._groups: dict[str, ConsumerGroup[Caller]] = {}
        self._asked_at_ms: dict[str, int] = {}
        self._questions: dict[str, asyncio.Task[None]] = {}

    def find(self, consumer_group_name: str) -> ConsumerGroup[Caller] | None:
        """Return a group that was lent; it has subscriptions and no members."""
        group = self._groups.get(consumer_group_name)
        if group is not None and self._clock() - group.known_since_ms >= LENT_MS:
            del self._groups[consumer_group_name]
            return None
        return group

    async def ask_for(self, consumer_group_name: str, topic_name: str) -> bool:
        """Ask other broker groups for a group; return whether it is lent now."""
        question = self._questions.get(consumer_group_name)
        if question is None and self._may_ask(consumer_group_name):
            question = asyncio.create_task(
                self._collect(consumer_group_name, topic_name),
                name=f"subscriptions of {consumer_group_name}",
            )
            self._questions[consumer_group_name] = question
            question.add_done_callback(partial(self._end, consumer_group_name))
        if question is not None:
            # Not cancelled at the limit: other consumers may wait for it, and failures are noted.
            await asyncio.wait({question}, timeout=WAIT_S)
        return self.find(consumer_group_name) is not None

    def _may_ask(self, consumer_group_name: str) -> bool:
        now_ms = self._clock()
        if now_ms - self._asked_at_ms.get(consumer_group_name, -REPEAT_MS) < REPEAT_MS:
            return False
        for table in (self._asked_at_ms, self._groups):
            if len(table) >= GROUP_COUNT_MAX:
                table.clear()
        self._asked_at_ms[consumer_group_name] = now_ms
        return True

    async def _collect(self, consumer_group_name: str, topic_name: str) -> None:
        names = await self._neighbours.find(consumer_group_name, [topic_name])
        found = await asyncio.gather(*(self._ask(name, consumer_group_name) for name in names))
        known = [one for one in found if one is not None]
        if not known:
            return
        group = ConsumerGroup[Caller](
            consume_type=known[0].consume_type,
            message_model=known[0].message_model,
            consume_from_where=known[0].consume_from_where,
            known_since_ms=self._clock(),
        )
        for one in known:
            for topic, sent in one.subscriptions.items():
                present = group.subscriptions.get(topic)
                if present is None or present.version < sent.version:
                    group.subscriptions[topic] = sent
        self._groups[consumer_group_name] = group
        log.info("subscriptions_lent", consumer_group_name=consumer_group_name)

    async def _ask(
        self, broker_group_name: str, consumer_group_name: str
    ) -> ConsumerConnection | None:
        code = RequestCode.GET_CONSUMER_CONNECTION_LIST
        reply = await self._neighbours.ask(broker_group_name, code, consumer_group_name)
        try:
            return None if reply is None else java_json.decode(reply.body, ConsumerConnection)
        except InvalidJson:
            return None

    def _end(self, consumer_group_name: str, question: asyncio.Task[None]) -> None:
        del self._questions[consumer_group_name]
        if not question.cancelled() and (error := question.exception()) is not None:
            log.error("subscriptions_not_lent", exc_info=error)
