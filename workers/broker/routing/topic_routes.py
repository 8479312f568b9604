"""Provide the readable queues of topics on all brokers, from the name servers.

A broker that allocates queues must see the same queues as its clients and as the other brokers.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

import structlog
from regent_engine import Command

from backend.domain.logical_queue.errors import InvalidQueueMapping
from backend.domain.logical_queue.route import client_endpoints
from backend.domain.logical_queue.stock_json import decode_info
from backend.remoting import java_json
from backend.remoting.bodies import TopicRouteData
from backend.remoting.errors import RemotingError
from backend.remoting.headers import RouteHeader, encode_header
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.tables.topics import READABLE

FRESH_MS: Final = 2_000
"""The lifetime of a cached route: all clients of a group ask at the same time."""
ROUTE_COUNT_MAX: Final = 4_096

log = structlog.get_logger()

BrokerQueue = tuple[str, int]
"""Name of a broker group, and number of a queue on it."""

Endpoints = Mapping[BrokerQueue, str]
"""The broker group of each logical queue, which clients name by the broker name of its scope."""


class RouteSource(Protocol):
    """The source of routes."""

    async def ask(self, code: int, ext: dict[str, str]) -> Command:
        """Return the answer of a name server.

        Raises:
            OSError: no name server answers.
        """


class RouteUnknown(Exception):
    """No name server answers with the route of a topic, and none has before."""


@dataclass(frozen=True, slots=True)
class _Route:
    queues: tuple[BrokerQueue, ...]
    endpoints: Endpoints
    broker_groups: frozenset[tuple[str, str]]
    answered_at_ms: int


class TopicRoutes:
    """Requests routes from name servers, and keeps their last answers."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._routes: dict[str, _Route] = {}
        self._questions: dict[str, asyncio.Task[_Route | None]] = {}

    async def readable_queues(
        self, topic: str, source: RouteSource
    ) -> tuple[BrokerQueue, ...] | None:
        """Return the queues that consumers read; None for a topic that no name server knows.

        While no name server answers, the last answer is used.

        Raises:
            RouteUnknown: no name server answers, and none has before.
        """
        route = await self._find(topic, source)
        return None if route is None else route.queues

    async def endpoints(self, topic: str, source: RouteSource) -> Endpoints:
        """Return the leaders of the queues of a static topic; none of another topic.

        While no name server answers, the last answer is used.

        Raises:
            RouteUnknown: no name server answers, and none has before.
        """
        route = await self._find(topic, source)
        return {} if route is None else route.endpoints

    async def broker_group_names(
        self, topic: str, source: RouteSource, *, cluster_name: str
    ) -> frozenset[str]:
        """Return the broker groups of a cluster that the route names.

        While no name server answers, the last answer is used.

        Raises:
            RouteUnknown: no name server answers, and none has before.
        """
        route = await self._find(topic, source)
        known = frozenset() if route is None else route.broker_groups
        return frozenset(name for cluster, name in known if cluster == cluster_name)

    async def _find(self, topic: str, source: RouteSource) -> _Route | None:
        known = self._routes.get(topic)
        if known is not None and self._clock() - known.answered_at_ms < FRESH_MS:
            return known
        question = self._questions.get(topic)
        if question is None:
            question = asyncio.create_task(self._ask(topic, source), name=f"route of {topic}")
            self._questions[topic] = question
            question.add_done_callback(partial(self._answered, topic))
        # The first caller may give up; the others still wait.
        return await asyncio.shield(question)

    def _answered(self, topic: str, question: asyncio.Task[_Route | None]) -> None:
        del self._questions[topic]
        if not question.cancelled():
            # Retrieved even if all callers are gone: asyncio would report an unretrieved error.
            question.exception()

    async def _ask(self, topic: str, source: RouteSource) -> _Route | None:
        try:
            route = await _fetch(topic, source)
        except RouteUnknown as error:
            known = self._routes.get(topic)
            log.warning("route_unknown", topic=topic, reason=str(error), has_last=known is not None)
            if known is None:
                raise
            return known
        if route is None:
            self._routes.pop(topic, None)
            return None
        endpoints = _static(route)
        queues = tuple(sorted(endpoints)) or _readable(route)
        if len(self._routes) >= ROUTE_COUNT_MAX:
            self._routes.clear()
        groups = frozenset((one.cluster, one.broker_name) for one in route.brokers)
        found = self._routes[topic] = _Route(queues, endpoints, groups, self._clock())
        return found


async def _fetch(topic: str, source: RouteSource) -> TopicRouteData | None:
    header = RouteHeader(topic=topic, accept_standard_json_only=True)
    try:
        answer = await source.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, encode_header(header))
        if answer.code == ResponseCode.SUCCESS:
            return java_json.decode(answer.body, TopicRouteData)
    except (OSError, TimeoutError, RemotingError, InvalidJson) as error:
        raise RouteUnknown(str(error)) from error
    if answer.code == ResponseCode.TOPIC_NOT_EXIST:
        return None
    raise RouteUnknown(f"code {answer.code}: {answer.remark}")


def _static(route: TopicRouteData) -> Endpoints:
    """Return the leaders of a static topic as its clients compute them; else nothing (H-29)."""
    try:
        infos = {
            name: decode_info(java_json.encode(info).decode())
            for name, info in (route.topic_queue_mapping_by_broker or {}).items()
        }
    except InvalidQueueMapping as error:
        raise RouteUnknown(str(error)) from error
    return client_endpoints(infos)


def _readable(route: TopicRouteData) -> tuple[BrokerQueue, ...]:
    return tuple(
        (queue.broker_name, queue_id)
        for queue in route.queues
        if queue.permissions & READABLE
        for queue_id in range(queue.read_queue_count)
    )
