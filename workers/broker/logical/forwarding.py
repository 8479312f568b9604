"""Have the leader of a logical queue answer requests that clients sent here by an old route.

A client requests the route every 30 s, so after a move it may use the former leader for that time.
A sealed queue has no leader for a moment: its requests wait for the new one.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

from regent_engine import Command

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.remoting.command import answer
from backend.remoting.errors import RemotingError
from backend.remoting.headers.fencing import FENCE_FIELD
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import NotLeading, Refusal

FORWARDED_FIELD: Final = "lqFwd"
"""Marks a forwarded request; its receiver does not forward it again (logical-queues.md 18.3)."""

WAIT_S_MAX: Final = 2.5
"""Stock clients wait 3 s for the answer to a send."""

RETRY_S: Final = 0.05
"""The time after which a leader that does not know yet that it is one is asked again."""

SUSPEND_MS_MAX: Final = 1_000
"""The longest time that a forwarded pull waits for messages at the leader."""

SEND_CODES: Final = frozenset(
    {RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE}
)
PULL_CODES: Final = frozenset({RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE})


def may_forward(command: Command) -> bool:
    """Return whether a request may go to another broker group; a step of an operation may not."""
    return FORWARDED_FIELD not in command.ext and FENCE_FIELD not in command.ext


async def forward(broker: Broker, command: Command, refusal: NotLeading) -> bytes | None:
    """Return the answer of the leader; None once this broker group leads the queue again.

    Raises:
        Refusal: no broker group led the queue in time, or its master gave no answer.
    """
    name, global_id = refusal.topic_name, refusal.global_id
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(WAIT_S_MAX):
            while (topic := broker.static_topics.find(name)) is not None:
                if _is_served(topic, command, global_id):
                    return None
                queue = topic.mapping.queue(global_id)
                leader_name = None if queue is None else queue.leader_name
                if leader_name is None:
                    break
                if leader_name == topic.info.broker_group_name:
                    await broker.static_topics.await_change()
                    continue
                reply = await _ask(broker, leader_name, command)
                if reply is None:
                    return b""
                if reply.code != ResponseCode.NOT_LEADER_FOR_QUEUE:
                    return _answer(command, reply)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_S):
                        await broker.static_topics.await_change()
    raise refusal


def _answer(command: Command, reply: Command) -> bytes:
    return answer(command, code=reply.code, remark=reply.remark, ext=reply.ext, body=reply.body)


def _is_served(topic: BrokerTopic, command: Command, global_id: int) -> bool:
    """Return whether this broker group serves the request by now; a sealed queue takes no sends."""
    if command.code in SEND_CODES:
        return topic.admits_sends(global_id)
    return topic.mapping.leads(global_id)


async def _ask(broker: Broker, leader_name: str, command: Command) -> Command | None:
    try:
        return await broker.peers.pass_on(leader_name, command, _fields(command))
    except (OSError, RemotingError, InvalidJson) as error:
        reason = str(error) or "the connection was lost"
        remark = (
            f"broker group {leader_name} leads the queue and gave no answer, so it is unknown"
            f" whether it carried out the request: send it again ({reason})"
        )
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, remark) from error


def _fields(command: Command) -> Mapping[str, str]:
    """Return the fields that change: a pull must not hold its place among requests for long."""
    fields = {FORWARDED_FIELD: "1"}
    if command.code in PULL_CODES:
        wanted = command.ext.get("suspendTimeoutMillis", "0")
        wanted_ms = int(wanted) if wanted.isdecimal() else 0
        fields["suspendTimeoutMillis"] = str(min(wanted_ms, SUSPEND_MS_MAX))
    return fields
