"""Complete the lists of members of consumer groups that this broker has known for a short time.

Each member asks one broker of its topic for the list of members (remoting.md 2.3: 38), and divides
the queues by that list. A member asks for routes every 30 s, and sends heartbeats every 30 s to the
brokers that they name. So a broker that members did not know before hears of the last of them up to
a minute after the first. Until then, members that get its list would divide the queues among too
few. So the broker adds the members that other broker groups know.
"""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog

from backend.remoting import java_json
from backend.remoting.bodies import ConsumerIds
from backend.remoting.headers import ConsumerGroupHeader, encode_header
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import retry_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.requests.caller import Caller
from workers.broker.routing.peers import Peers
from workers.broker.routing.topic_routes import RouteUnknown
from workers.broker.tables.clients import ConsumerGroup, Consumers

COMPLETE_MS: Final = 75_000
"""All members have sent a heartbeat by this time after the first one: a member asks for its routes
within 30 s, and sends its next heartbeat within another 30 s."""

WAIT_S: Final = 2.0
"""An answer waits for other broker groups for this time only: clients wait for 3 s."""

FRESH_MS: Final = 1_000
"""The lifetime of the lists of others: all members of a group ask at the same time."""

ASKED_COUNT_MAX: Final = 8
"""So many broker groups are asked. One that all members know is enough."""

TOPIC_COUNT_MAX: Final = 4
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
        peers: Peers,
        find_neighbours: Callable[[str], Awaitable[frozenset[str]]],
        *,
        clock: Callable[[], int],
        source: random.Random,
    ) -> None:
        """Take the function for the other broker groups in the route of a topic.

        It may raise `RouteUnknown`. The clock is the one that is never set.
        """
        self._consumers, self._peers, self._find_neighbours = consumers, peers, find_neighbours
        self._clock, self._source = clock, source
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
        names = await self._neighbours(consumer_group_name, group)
        asked = (
            names if len(names) <= ASKED_COUNT_MAX else self._source.sample(names, ASKED_COUNT_MAX)
        )
        async with asyncio.TaskGroup() as tasks:
            for name in asked:
                tasks.create_task(self._add_members(name, consumer_group_name, client_ids))
        own = set(_client_ids(group))
        if not client_ids <= own:
            log.info(
                "member_list_completed",
                consumer_group_name=consumer_group_name,
                own_count=len(own),
                added_count=len(client_ids - own),
            )

    async def _neighbours(
        self, consumer_group_name: str, group: ConsumerGroup[Caller]
    ) -> list[str]:
        """Return the broker groups to which members send heartbeats.

        Each of them creates the retry topic of the group at the first heartbeat.
        """
        retry = retry_topic(consumer_group_name)
        topics = [retry, *sorted(group.subscriptions.keys() - {retry})][:TOPIC_COUNT_MAX]
        names: set[str] = set()
        for topic in topics:
            with contextlib.suppress(RouteUnknown):
                names |= await self._find_neighbours(topic)
        return sorted(names)

    async def _add_members(
        self, broker_group_name: str, consumer_group_name: str, client_ids: set[str]
    ) -> None:
        """Add the members that one broker group knows.

        The request is one that brokers answer from their own table, so they ask no one in turn.
        """
        ext = encode_header(ConsumerGroupHeader(consumer_group=consumer_group_name))
        place = f"members of {consumer_group_name}"
        code = RequestCode.GET_CONSUMER_LIST_BY_GROUP
        try:
            reply = await self._peers.ask(broker_group_name, code, ext, place=place)
            # Other codes: the broker group knows no member.
            if reply.code == ResponseCode.SUCCESS:
                client_ids.update(java_json.decode(reply.body, ConsumerIds).ids)
        except (Refusal, InvalidJson) as error:
            log.warning(
                "member_list_unanswered",
                consumer_group_name=consumer_group_name,
                broker_group_name=broker_group_name,
                reason=str(error),
            )


def _end(question: _Question, task: asyncio.Task[None]) -> None:
    question.task = None
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("member_list_failed", exc_info=error)


def _client_ids(group: ConsumerGroup[Caller]) -> list[str]:
    return [client.client_id for client in group.members.values()]
