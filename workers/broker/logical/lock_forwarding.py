"""Have leaders lock and unlock logical queues that are led elsewhere (logical-queues.md 16).

An orderly consumer with an old route asks a former leader. A client without static topics asks one
broker group for the locks of all queues.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
import structlog
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import LockBody, LockedBody, MessageQueue
from backend.remoting.errors import RemotingError
from backend.remoting.java_json import InvalidJson
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.logical.forwarding import FORWARDED_FIELD, find_routed_leader, may_forward

TIMEOUT_S: Final = 0.8
"""Stock clients wait 1 s for the answer."""

log = structlog.get_logger()


def is_read_here(broker: Broker, queue: MessageQueue) -> bool:
    """Return whether a queue is read here: a logical queue only where it is led."""
    static = broker.static_topics.find(queue.topic)
    return static is None or static.mapping.leads(queue.queue_id)


async def forward_locks(
    broker: Broker, command: Command, wish: LockBody, queues: Iterable[MessageQueue]
) -> list[MessageQueue]:
    """Pass on a request to the leaders of queues; return those that the client has locked.

    A broker group that does not answer in time locks nothing: the client asks again.
    """
    locked: list[MessageQueue] = []
    wanted = list(queues)
    if not wanted or not may_forward(command):
        return locked
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(TIMEOUT_S):
            known = {one: name for one in wanted if (name := _successor(broker, one))}
            locked += await _ask_all(broker, command, wish, known)
            # That broker group may have lost the queue, too.
            left = [one for one in wanted if one not in locked]
            others: dict[MessageQueue, str] = {}
            for one in left:
                name = await find_routed_leader(broker, one.topic, one.queue_id)
                if name is not None and name != known.get(one):
                    others[one] = name
            locked += await _ask_all(broker, command, wish, others)
    return locked


def _successor(broker: Broker, queue: MessageQueue) -> str | None:
    """Return the broker group that took a queue over from this one."""
    static = broker.static_topics.find(queue.topic)
    held = None if static is None else static.mapping.queue(queue.queue_id)
    return None if held is None else held.leader_name


async def _ask_all(
    broker: Broker, command: Command, wish: LockBody, leaders: Mapping[MessageQueue, str]
) -> list[MessageQueue]:
    names = sorted(set(leaders.values()) - {broker.settings.broker_name})
    asked = [
        _ask(broker, command, name, [one for one in leaders if leaders[one] == name], wish)
        for name in names
    ]
    return [one for locked in await asyncio.gather(*asked) for one in locked]


async def _ask(
    broker: Broker, command: Command, name: str, queues: list[MessageQueue], wish: LockBody
) -> list[MessageQueue]:
    body = java_json.encode(msgspec.structs.replace(wish, queues=queues))
    try:
        reply = await broker.peers.pass_on(name, command, {FORWARDED_FIELD: "1"}, body)
        if reply is None or reply.code != ResponseCode.SUCCESS or not reply.body:
            return []
        return java_json.decode(reply.body, LockedBody).queues
    except (OSError, RemotingError, InvalidJson) as error:
        log.warning("locks_not_forwarded", broker_group_name=name, reason=str(error))
        return []
