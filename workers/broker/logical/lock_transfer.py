"""Move the locks of orderly consumers with a logical queue (logical-queues.md 16)."""

import asyncio
from collections.abc import Iterator
from typing import Final

import structlog

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.segment import QueueSegment
from backend.remoting import java_json
from backend.remoting.bodies import MessageQueue
from backend.remoting.bodies.locks import QueueLockBody, QueueLocksBody
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.logical.segments import ask_owner

TIMEOUT_S: Final = 1.0

log = structlog.get_logger()


async def former_locks(
    broker: Broker, former: BrokerTopic | None, present: BrokerTopic
) -> list[QueueLockBody]:
    """Return the locks of queues that this broker group is about to lead, from their last leaders.

    A broker group that does not answer has no locks: its clients can't renew them either.
    """
    name, wanted = present.info.topic_name, dict(_ended(former, present))
    locks: list[QueueLockBody] = []
    for segment in {one.broker_group_name: one for one in wanted.values()}.values():
        try:
            async with asyncio.timeout(TIMEOUT_S):
                reply = await ask_owner(broker, name, segment, RequestCode.GET_QUEUE_LOCKS, {})
            locks += java_json.decode(reply.body, QueueLocksBody).locks
        except (TimeoutError, Refusal, InvalidJson) as error:
            log.warning("queue_locks_not_moved", topic_name=name, reason=str(error) or "no answer")
    return [one for one in locks if one.topic == name and one.queue_id in wanted]


def adopt(broker: Broker, locks: list[QueueLockBody]) -> None:
    """Take over locks; their ages are those of a moment ago."""
    for one in locks:
        broker.locks.adopt(
            one.consumer_group,
            MessageQueue(broker_name=one.broker_name, queue_id=one.queue_id, topic=one.topic),
            client_id=one.client_id,
            expires_in_ms=one.expires_in_ms,
            now_ms=broker.elapsed_ms(),
        )


def gained_queues(former: BrokerTopic | None, present: BrokerTopic) -> list[int]:
    """Return the queues of older segments that are led from now on, and were not before."""
    return [
        global_id
        for global_id, segments in present.mapping.hosted.items()
        if present.mapping.leads(global_id)
        and not (former is not None and former.mapping.leads(global_id))
        and len(segments) > 1
    ]


def _ended(former: BrokerTopic | None, present: BrokerTopic) -> Iterator[tuple[int, QueueSegment]]:
    """Yield each queue that is led from now on, with the last segment of its former leader.

    After a forced move that one is not asked: it does not answer.
    """
    name = present.info.broker_group_name
    for global_id in gained_queues(former, present):
        former_leader = present.mapping.hosted[global_id][-2]
        if former_leader.broker_group_name != name and former_leader.is_ended:
            yield global_id, former_leader
