"""Ask brokers which consumer groups they serve, and how long messages wait for them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from backend.clients.broker_answers import BrokerRefused, accepted
from backend.clients.remoting_client import RemotingClient
from backend.remoting import bodies, java_json
from backend.remoting.bodies.base import Body
from backend.remoting.headers import (
    ConsumerRunningInfoHeader,
    ConsumeTimeSpanHeader,
    encode_header,
)
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode

# Stock tells the age of a message that has expired as if it were of 1970.
EXPIRED_MS_MIN: Final = 20 * 365 * 24 * 60 * 60 * 1_000

QueueKey = tuple[str, str, int]


class _PassedOver(Body, frozen=True):
    """Hold nothing of an object: what is not looked at costs no time."""


class _GroupTable(Body, frozen=True, kw_only=True):
    groups: dict[str, _PassedOver] = msgspec.field(
        name="subscriptionGroupTable", default_factory=dict
    )


class GroupRequests:
    """Speak to brokers of consumer groups."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def group_names(self, address: str) -> frozenset[str]:
        """Ask a broker which consumer groups it serves (201).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        response = await self._client.request(address, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
        try:
            table = java_json.decode(accepted(address, response).body, _GroupTable)
        except InvalidJson as error:
            raise BrokerRefused(address, f"its answer can't be read: {error}") from error
        return frozenset(table.groups)

    async def waiting_times(
        self, address: str, group: str, topic: str, *, now_ms: int
    ) -> dict[int, int | None]:
        """Ask a broker how long the oldest message waits for a group, by queue, in ms (303).

        0 is where none waits, `None` where the broker does not know. The age of a message that was
        deleted before the group came is that of the oldest that is left, by our clock.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        header = ConsumeTimeSpanHeader(topic=topic, group=group)
        code = RequestCode.QUERY_CONSUME_TIME_SPAN
        response = await self._client.request(address, code, ext=encode_header(header))
        try:
            told = java_json.decode(accepted(address, response).body, bodies.QueueTimeSpans)
        except InvalidJson as error:
            raise BrokerRefused(address, f"its answer can't be read: {error}") from error
        return {one.queue.queue_id: _waiting_ms(one, now_ms) for one in told.spans}

    async def queues_of_client(self, address: str, group: str, client_id: str) -> set[QueueKey]:
        """Have a broker ask a member which queues it reads: topic, broker name and number (307).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the client does not tell, or the answer can't be read.
        """
        header = ConsumerRunningInfoHeader(consumer_group=group, client_id=client_id)
        code = RequestCode.GET_CONSUMER_RUNNING_INFO
        response = await self._client.request(address, code, ext=encode_header(header))
        try:
            content = java_json.loads(accepted(address, response).body)
            tables = [content.get(name) or {} for name in ("mqTable", "mqPopTable")]
            queues = [
                java_json.decode(key.encode(), bodies.MessageQueue)
                for table in tables
                for key in _keys(table)
            ]
        except (InvalidJson, AttributeError) as error:
            raise BrokerRefused(address, f"its answer can't be read: {error}") from error
        return {(one.topic, one.broker_name, one.queue_id) for one in queues}


def _keys(table: Any) -> list[str]:
    return list(table) if isinstance(table, Mapping) else []


def _waiting_ms(span: bodies.QueueTimeSpan, now_ms: int) -> int | None:
    if 0 <= span.delay_ms < EXPIRED_MS_MIN:
        return span.delay_ms
    return max(0, now_ms - span.min_timestamp_ms) if span.min_timestamp_ms > 0 else None
