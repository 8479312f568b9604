"""Have leaders lock and unlock logical queues that are led elsewhere (logical-queues.md 16).

An orderly consumer with an old route asks a former leader. A client without static topics asks one
broker group for the locks of all queues.
"""

import asyncio
import contextlib
from typing import Final

import msgspec
import structlog
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import LockBody, LockedBody, MessageQueue
from backend.remoting.java_json import InvalidJson
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import NotLeading, Refusal
from workers.broker.logical.forwarding import FORWARDED_FIELD, LeaderSearch, may_forward
from workers.broker.logical.led_queue import not_leading

TIMEOUT_S: Final = 0.8
"""Stock clients wait 1 s for the answer."""

log = structlog.get_logger()


def is_read_here(broker: Broker, queue: MessageQueue) -> bool:
    """Return whether a queue is read here: a logical queue only where it is led."""
    static = broker.static_topics.find(queue.topic)
    return static is None or static.mapping.leads(queue.queue_id)


async def forward_locks(
    broker: Broker, command: Command, wish: LockBody, queues: list[MessageQueue]
) -> list[MessageQueue]:
    """Pass on a request to the leaders of queues; return those that the client has locked.

    A leader that does not answer in time locks nothing: the client asks again.

    Raises:
        NotLeading: the request was forwarded here, and this broker group does not lead the queue.
    """
    locked: list[MessageQueue] = []

    async def ask(queue: MessageQueue) -> None:
        locked.extend(await _ask(broker, command, wish, queue))

    if queues and not may_forward(command):
        raise _not_leading(broker, queues[0])
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.gather(*map(ask, queues))
    return locked


def _not_leading(broker: Broker, queue: MessageQueue) -> NotLeading:
    static = broker.static_topics.find(queue.topic)
    assert static is not None, "other queues are read here"
    return not_leading(static, queue.queue_id)


async def _ask(
    broker: Broker, command: Command, wish: LockBody, queue: MessageQueue
) -> list[MessageQueue]:
    body = java_json.encode(msgspec.structs.replace(wish, queues=[queue]))
    refusal = _not_leading(broker, queue)
    search = LeaderSearch(broker, command, refusal, {FORWARDED_FIELD: "1"}, body)
    try:
        await search.run()
        reply = search.reply
        if reply is None or reply.code != ResponseCode.SUCCESS or not reply.body:
            return []
        return java_json.decode(reply.body, LockedBody).queues
    except (Refusal, InvalidJson) as error:
        log.warning("lock_not_forwarded", topic_name=queue.topic, reason=str(error))
        return []
