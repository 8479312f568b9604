"""Ask the other broker groups to which members of a consumer group send heartbeats."""

import random
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Final

import structlog
from regent_engine import Command

from backend.remoting.headers import ConsumerGroupHeader, encode_header
from backend.remoting.names import retry_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.routing.peers import Peers
from workers.broker.routing.topic_routes import RouteUnknown

ASKED_COUNT_MAX: Final = 8
"""So many broker groups are asked. One that all members know is enough."""

TOPIC_COUNT_MAX: Final = 4

log = structlog.get_logger()


class Neighbours:
    """Finds and asks other broker groups; belongs to the loop's thread."""

    def __init__(
        self,
        peers: Peers,
        find_in_route: Callable[[str], Awaitable[frozenset[str]]],
        source: random.Random,
    ) -> None:
        """Take the function for the other broker groups in the route of a topic.

        It may raise `RouteUnknown`.
        """
        self._peers, self._find_in_route, self._source = peers, find_in_route, source

    async def find(self, consumer_group_name: str, topics: Collection[str]) -> list[str]:
        """Return some of the broker groups that the routes of these topics name.

        Each broker group that gets a heartbeat of the group creates its retry topic.
        """
        retry = retry_topic(consumer_group_name)
        names: set[str] = set()
        for topic in [retry, *sorted(set(topics) - {retry})][:TOPIC_COUNT_MAX]:
            with suppress(RouteUnknown):
                names |= await self._find_in_route(topic)
        if len(names) <= ASKED_COUNT_MAX:
            return sorted(names)
        return self._source.sample(sorted(names), ASKED_COUNT_MAX)

    async def ask(
        self, broker_group_name: str, code: RequestCode, consumer_group_name: str
    ) -> Command | None:
        """Return the answer of a broker group; None if it gives none, or knows no member.

        The request is one that brokers answer from their own table, so they ask no one in turn.
        """
        ext = encode_header(ConsumerGroupHeader(consumer_group=consumer_group_name))
        place = f"members of {consumer_group_name}"
        try:
            reply = await self._peers.ask(broker_group_name, code, ext, place=place)
        except Refusal as error:
            log.warning(
                "neighbour_unanswered",
                consumer_group_name=consumer_group_name,
                broker_group_name=broker_group_name,
                reason=str(error),
            )
            return None
        return reply if reply.code == ResponseCode.SUCCESS else None
