"""Ask brokers where groups are and where they could go on, and send them there."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from backend.clients.broker_answers import BrokerRefused, accepted
from backend.clients.broker_changes import Fence, Told, read_told
from backend.clients.remoting_client import RemotingClient
from backend.remoting.command import Command
from backend.remoting.headers import (
    Header,
    QueryConsumerOffsetHeader,
    ResetOffsetHeader,
    SearchOffsetHeader,
    UpdateConsumerOffsetHeader,
    encode_header,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

IN_FLIGHT_MAX: Final = 32

ValueT = TypeVar("ValueT")


class OffsetRequests:
    """Speak to brokers of committed offsets."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def committed_offsets(
        self, address: str, group: str, topic: str, queue_ids: list[int]
    ) -> dict[int, int | None]:
        """Ask a broker where a group goes on in queues (14); None is where it never committed.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is another error, or can't be read.
        """

        async def ask(queue_id: int) -> int | None:
            header = QueryConsumerOffsetHeader(
                consumer_group=group, topic=topic, queue_id=queue_id, set_zero_if_not_found=False
            )
            response = await self._send(address, RequestCode.QUERY_CONSUMER_OFFSET, header)
            if response.code == ResponseCode.QUERY_NOT_FOUND:
                return None
            return _offset(address, response)

        return await _for_each(queue_ids, ask)

    async def offsets_at(
        self, address: str, topic: str, queue_ids: list[int], timestamp_ms: int
    ) -> dict[int, int]:
        """Ask a broker for the first messages of queues at a moment or after it (29).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """

        async def ask(queue_id: int) -> int:
            header = SearchOffsetHeader(topic=topic, queue_id=queue_id, timestamp_ms=timestamp_ms)
            return _offset(
                address,
                await self._send(address, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header),
            )

        return await _for_each(queue_ids, ask)

    async def reset_offset(
        self, address: str, group: str, topic: str, queue_id: int, offset: int, fence: Fence
    ) -> Told | None:
        """Have a group and its connected consumers go on in a queue from an offset (222).

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it.
            OperationFenced: a later attempt has set the offsets already.
        """
        header = ResetOffsetHeader(
            group=group,
            topic=topic,
            timestamp_ms=-1,
            is_forced=True,
            queue_id=queue_id,
            offset=offset,
        )
        code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
        ext = {**encode_header(header), **fence}
        return read_told(address, await self._client.request(address, code, ext=ext), fence)

    async def commit_offset(
        self, address: str, group: str, topic: str, queue_id: int, offset: int, fence: Fence
    ) -> Told | None:
        """Commit an offset in the place of a group that has no consumer connected (15).

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it.
            OperationFenced: a later attempt has set the offsets already.
        """
        header = UpdateConsumerOffsetHeader(
            consumer_group=group, topic=topic, queue_id=queue_id, commit_offset=offset
        )
        code = RequestCode.UPDATE_CONSUMER_OFFSET
        ext = {**encode_header(header), **fence}
        return read_told(address, await self._client.request(address, code, ext=ext), fence)

    async def _send(self, address: str, code: RequestCode, header: Header) -> Command:
        return await self._client.request(address, code, ext=encode_header(header))


def _offset(address: str, response: Command) -> int:
    text = accepted(address, response).ext.get("offset", "")
    try:
        return int(text)
    except ValueError as error:
        raise BrokerRefused(address, f"{text[:30]!r} is no offset") from error


async def _for_each(
    queue_ids: list[int], ask: Callable[[int], Awaitable[ValueT]]
) -> dict[int, ValueT]:
    """Ask for many queues, some at a time."""
    places = asyncio.Semaphore(IN_FLIGHT_MAX)

    async def ask_one(queue_id: int) -> ValueT:
        async with places:
            return await ask(queue_id)

    found = await asyncio.gather(*(ask_one(queue_id) for queue_id in queue_ids))
    return dict(zip(queue_ids, found, strict=True))
