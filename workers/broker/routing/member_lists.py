"""Complete the lists of members of consumer groups that this broker has known for a short time.

Each member asks one broker of its topic for the list of members (remoting.md 2.3: 38), and divides
the queues by that list. A member asks for routes every 30 s, and sends heartbeats every 30 s to the
brokers that they name. So a broker that members did not know before hears of the last of them up to
a minute after the first. Until then, members that get its list would divide the queues among too
few. So the broker adds the members that other broker groups know.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog

from backend.remoting import java_json
from backend.remoting.bodies import ConsumerIds
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from workers.broker.requests.caller import Caller
from workers.broker.routing.neighbours import Neighbours
from workers.broker.tables.clients import ConsumerGroup, Consumers

COMPLETE_MS: Final = 75_000
"""By this time after the first heartbeat all members have sent one.

A member asks for its routes within 30 s, and sends its next heartbeat within another 30 s.
"""

WAIT_S: Final = 2.0
"""An answer waits for other broker groups for this time only: clients wait for 3 s."""

FRESH_MS: Final = 1_000
"""The lifetime of the lists of others: all members of a group ask at the same time."""

GROUP_COUNT_MAX: Final = 4_096

log = structlog.get_logger()


@dataclass(slots=True)
class _Question:
    """One round of questions to other broker groups, and the members that they named so far."""

    asked_at_ms: int
    client_ids: set[str] = field(default_factory=set)
    task: asyncio.Task[None] | None = None


class MemberLists:
    """Provides the members of consumer groups; belongs to the loop's thread."""

    def __init__(
        self,
        consumers: Consumers[Caller],
        neighbours: Neighbours,
        clock: Callable[[], int],
    ) -> None:
        """Take the clock that is never set."""
        self._consumers, self._neighbours, self._clock = consumers, neighbours, clock
        self._questions: dict[str, _Question] = {}

    async def find(self, consumer_group_name: str) -> list[str] | None:
        """Return the client ids of the members of a group; None if this broker knows no member.

        If the group has been known for a short time only, the members that other broker groups
        name within `WAIT_S` are added. Those that have left this broker are not.
        """
        group = self._consumers.find(consumer_group_name)
        if group is None or self._clock() - group.known_since_ms >= COMPLETE_MS:
            return self.find_own(consumer_group_name)
        named = await self._ask_others(consumer_group_name, group)
        group = self._consumers.find(consumer_group_name)
        if group is None:
            return None
        own = _client_ids(group)
        return own + sorted(named - set(own) - group.departed)

    def find_own(self, consumer_group_name: str) -> list[str] | None:
        """Return the members whose heartbeats this broker gets; None without any."""
        group = self._consumers.find(consumer_group_name)
        return None if group is None else _client_ids(group)

    async def _ask_others(self, consumer_group_name: str, group: ConsumerGroup[Caller]) -> set[str]:
        question = self._questions.get(consumer_group_name)
        if question is None or self._clock() - question.asked_at_ms >= FRESH_MS:
            question = self._begin(consumer_group_name, group, question)
        if question.task is not None:
            # Not cancelled at the limit: others may wait for it, and failures are noted.
            await asyncio.wait({question.task}, timeout=WAIT_S)
        return question.client_ids

    def _begin(
        self,
        consumer_group_name: str,
        group: ConsumerGroup[Caller],
        former: _Question | None,
    ) -> _Question:
        """Ask the other broker groups again, unless the former questions are still open."""
        if former is not None and former.task is not None:
            return former
        if len(self._questions) >= GROUP_COUNT_MAX:
            self._forget_answers()
        question = self._questions[consumer_group_name] = _Question(self._clock())
        question.task = asyncio.create_task(
            self._collect(consumer_group_name, group, question.client_ids),
            name=f"members of {consumer_group_name}",
        )
        question.task.add_done_callback(partial(_end, question))
        return question

    def _forget_answers(self) -> None:
        open_ones = {name: one for name, one in self._questions.items() if one.task is not None}
        self._questions = open_ones

    async def _collect(
        self, consumer_group_name: str, group: ConsumerGroup[Caller], client_ids: set[str]
    ) -> None:
        names = await self._neighbours.find(consumer_group_name, group.subscriptions.keys())
        async with asyncio.TaskGroup() as tasks:
            for name in names:
                tasks.create_task(self._add_members(name, consumer_group_name, client_ids))
        own = set(_client_ids(group))
        if not client_ids <= own:
            log.info(
                "member_list_completed",
                consumer_group_name=consumer_group_name,
                own_count=len(own),
                added_count=len(client_ids - own),
            )

    async def _add_members(
        self, broker_group_name: str, consumer_group_name: str, client_ids: set[str]
    ) -> None:
        code = RequestCode.GET_CONSUMER_LIST_BY_GROUP
        reply = await self._neighbours.ask(broker_group_name, code, consumer_group_name)
        if reply is not None:
            with contextlib.suppress(InvalidJson):
                client_ids.update(java_json.decode(reply.body, ConsumerIds).ids)


def _end(question: _Question, task: asyncio.Task[None]) -> None:
    question.task = None
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("member_list_failed", exc_info=error)


def _client_ids(group: ConsumerGroup[Caller]) -> list[str]:
    """List each client once: one that leaves an old connection open would get two shares.

    After a timeout a stock client may open another connection without closing the former one.
    """
    return list(dict.fromkeys(client.client_id for client in group.members.values()))
