"""Change and show the logical queues of static topics (logical-queues.md 9.4: 513, 7011-7016).

The epoch of a request fences it. A repeated request has the same answer.
"""

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Final

from regent_engine import Command

from backend.domain.logical_queue import broker_copy
from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.commit import Seal
from backend.domain.logical_queue.errors import (
    InvalidQueueMapping,
    QueueChangeRefused,
    QueueEpochFenced,
)
from backend.domain.logical_queue.mapping import BrokerMapping, QueueCounts, RetiredQueue
from backend.domain.logical_queue.segment import QueueBounds
from backend.domain.logical_queue.stock_json import decode_mapping
from backend.remoting import java_json
from backend.remoting.bodies import TopicConfig
from backend.remoting.command import answer
from backend.remoting.headers import FencedAnswer, decode_header, encode_header
from backend.remoting.headers.logical_queues import (
    MAPPING_VERSION,
    LogicalQueueHeader,
    LogicalQueuesHeader,
    PreparedQueueAnswer,
    PrepareLogicalQueueHeader,
    RetirePhysicalQueueHeader,
    SealedQueueAnswer,
    StaticTopicHeader,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.commit_log.local_log import check_replicate
from workers.broker.errors import Refusal, Unconfirmed
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.copies import find_copy, put_copy
from workers.broker.logical.lock_transfer import adopt, former_locks, gained_queues
from workers.broker.logical.share_owning import take_over
from workers.broker.processors.topics import check_topic_open, merged_attributes
from workers.broker.requests.caller import Caller
from workers.broker.requests.safe_answers import kept, published
from workers.broker.requests.serving import serves
from workers.broker.shares.share_mode import check_share_mode

SEAL_TIMEOUT_S: Final = 5.0
"""The limit of the wait for messages that were admitted before a seal (`lq.sealTimeoutMs`)."""


@serves(
    RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=None,
)
async def on_store_mapping(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Store mapping and layout of a static topic; name servers know both before the answer."""
    header = decode_header(StaticTopicHeader, command.ext)
    check_topic_open(broker, header.topic)
    mapping = _mapping_of(broker, header, command)
    _, static = _stored(broker, header, mapping)
    former = find_copy(broker, header.topic)
    locks = await former_locks(broker, former, static)
    # Another request may have changed the topic meanwhile, and this broker may have lost its role.
    broker.membership.check(RequiredRole.MASTER_CHANGES)
    topic, static = _stored(broker, header, mapping)
    put_copy(broker, topic, static)
    adopt(broker, locks)
    reply = await published(broker, answer(command))
    # A former leader may answer late, and the control plane waits for the answer.
    broker.share_moves.begin(take_over(broker, header.topic, gained_queues(former, static)))
    return reply


@serves(
    RequestCode.PREPARE_LOGICAL_QUEUE,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=None,
)
def on_prepare(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Reserve a physical queue; positions of groups on a queue used again are dropped (H-16)."""
    header = decode_header(PrepareLogicalQueueHeader, command.ext)
    broker.check_changeable()
    topic, held = _get(broker, header.topic)
    bounds = {queue_id: _held_bounds(broker, topic.name, queue_id) for queue_id in held.retired}
    try:
        changed, prepared = broker_copy.prepare(
            held,
            header.global_id,
            epoch=header.epoch,
            bounds=bounds,
            is_reuse_across_allowed=header.is_reuse_across_allowed,
        )
    except (QueueChangeRefused, QueueEpochFenced) as error:
        raise _refusal(error) from error
    if prepared.queue_id in held.retired:
        broker.forget_positions(topic.name, prepared.queue_id)
    put_copy(broker, topic, changed)
    ext = encode_header(
        PreparedQueueAnswer(queue_id=prepared.queue_id, start_offset=prepared.physical_start)
    )
    return kept(broker, answer(command, ext=ext))


@serves(
    RequestCode.SEAL_LOGICAL_QUEUE,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=None,
)
async def on_seal(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Refuse new messages of a logical queue, and return its end once all others are safe."""
    header = decode_header(LogicalQueueHeader, command.ext)
    broker.check_changeable()
    topic, held = _get(broker, header.topic)
    try:
        put_copy(broker, topic, broker_copy.seal(held, header.global_id, epoch=header.epoch))
    except (QueueChangeRefused, QueueEpochFenced) as error:
        raise _refusal(error) from error
    try:
        async with asyncio.timeout(SEAL_TIMEOUT_S):
            # The record of the seal comes after every admitted message.
            await broker.changes.confirmed()
            result = await _finish_seal(broker, header)
            await broker.changes.confirmed()
    except (TimeoutError, Unconfirmed) as error:
        reason = f"logical queue {header.global_id} of topic[{header.topic}] is not drained yet"
        raise Refusal(ResponseCode.SYSTEM_BUSY, f"{reason}: {error or 'it takes long'}") from error
    start = held.mapping.hosted[header.global_id][-1].physical_start
    ext = encode_header(
        SealedQueueAnswer(
            final_offset=result.physical_end,
            start_offset=start,
            first_stored_ms=result.first_stored_ms,
            last_stored_ms=result.last_stored_ms,
        )
    )
    return answer(command, ext=ext)


@serves(
    RequestCode.UNSEAL_LOGICAL_QUEUE,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=None,
)
def on_unseal(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Remove the seal of an older change."""
    header = decode_header(LogicalQueueHeader, command.ext)
    broker.check_changeable()
    topic, held = _get(broker, header.topic)
    try:
        put_copy(broker, topic, broker_copy.unseal(held, header.global_id, epoch=header.epoch))
    except QueueEpochFenced as error:
        raise _refusal(error) from error
    return kept(broker, answer(command))


@serves(
    RequestCode.DISCARD_LOGICAL_QUEUE,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=None,
)
def on_discard(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Drop a reserved physical queue; without one there is nothing to do."""
    header = decode_header(LogicalQueueHeader, command.ext)
    broker.check_changeable()
    topic, held = _get(broker, header.topic)
    try:
        put_copy(broker, topic, broker_copy.discard(held, header.global_id, epoch=header.epoch))
    except QueueEpochFenced as error:
        raise _refusal(error) from error
    return kept(broker, answer(command))


@serves(
    RequestCode.RETIRE_PHYSICAL_QUEUE,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=None,
)
def on_retire(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Remember a physical queue without data; positions of groups there are dropped (H-16)."""
    header = decode_header(RetirePhysicalQueueHeader, command.ext)
    broker.check_changeable()
    topic, held = _get(broker, header.topic)
    retired = RetiredQueue(
        broker.settings.broker_name,
        header.queue_id,
        header.global_id,
        header.generation,
        header.final_offset,
    )
    bounds = _held_bounds(broker, topic.name, header.queue_id)
    try:
        changed = broker_copy.retire(held, retired, epoch=header.epoch, bounds=bounds)
    except (QueueChangeRefused, QueueEpochFenced) as error:
        raise _refusal(error) from error
    broker.forget_positions(topic.name, header.queue_id)
    put_copy(broker, topic, changed)
    return kept(broker, answer(command))


@serves(RequestCode.GET_LOGICAL_QUEUES, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_logical_queues(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return all that this broker group keeps of its static topics, or of one of them."""
    name = decode_header(LogicalQueuesHeader, command.ext).topic
    names = list(broker.static_topics.all) if name is None else [name]
    found = {one: topic for one in names if (topic := find_copy(broker, one)) is not None}
    return answer(command, body=java_json.encode(found))


def _stored(
    broker: Broker, header: StaticTopicHeader, mapping: BrokerMapping
) -> tuple[TopicConfig, BrokerTopic]:
    """Return the topic with a new mapping, in which queue counts are those of the mapping.

    Raises:
        Refusal: the mapping is older than the present one, or contradicts it.
    """
    broker.check_changeable()
    former, held = broker.topics.find(header.topic), find_copy(broker, header.topic)
    if former is not None and held is None and header.mapping_version < MAPPING_VERSION:
        reason = f"the topic[{header.topic}] exists, and is not static"
        raise Refusal(ResponseCode.ILLEGAL_OPERATION, reason)
    try:
        static = broker_copy.store(
            held,
            mapping,
            QueueCounts(header.read_queue_count, header.write_queue_count),
            is_forced=header.force,
            is_final=header.is_final,
            allows_undecided=header.mapping_version < MAPPING_VERSION,
        )
    except (QueueChangeRefused, QueueEpochFenced) as error:
        raise _refusal(error) from error
    attributes = merged_attributes(former, header.attributes)
    check_share_mode(broker, header.topic, former, attributes, is_static=True)
    check_replicate(broker, header.topic, attributes, is_static=True)
    topic = TopicConfig(
        name=header.topic,
        permissions=header.permissions,
        filter_type=header.filter_type,
        topic_sys_flag=header.topic_sys_flag,
        is_ordered=header.is_ordered,
        attributes=attributes,
    )
    return topic, static


async def _finish_seal(broker: Broker, header: LogicalQueueHeader) -> Seal:
    """Record the end of a sealed queue whose messages are safe; a recorded end stays."""
    topic, held = _get(broker, header.topic)
    record = held.seals.get(header.global_id)
    if record is not None and record.result is not None:
        return record.result
    segment = held.mapping.hosted[header.global_id][-1]
    bounds = _held_bounds(broker, topic.name, segment.queue_id)
    start, end = max(bounds.min_offset, segment.physical_start), bounds.max_offset
    result = Seal(max(end, segment.physical_start))
    if start < end:
        find = partial(broker.store.store_timestamp, topic.name, segment.queue_id)
        first, last = await broker.read_threads.read_each(find, (start, end - 1))
        result = Seal(end, first, last)
    # While the disk was read, this broker may have lost its role, or the queue its seal.
    broker.membership.check(RequiredRole.MASTER_CHANGES)
    topic, held = _get(broker, header.topic)
    try:
        changed = broker_copy.finish_seal(held, header.global_id, result)
    except QueueChangeRefused as error:
        raise _refusal(error) from error
    put_copy(broker, topic, changed)
    recorded = changed.seals[header.global_id].result
    return result if recorded is None else recorded


def _mapping_of(broker: Broker, header: StaticTopicHeader, command: Command) -> BrokerMapping:
    try:
        mapping = decode_mapping(command.body.decode())
    except (InvalidQueueMapping, UnicodeDecodeError) as error:
        raise Refusal(ResponseCode.INVALID_PARAMETER, str(error)) from error
    info, own = mapping.info, broker.settings.broker_name
    if info.topic_name != header.topic or info.broker_group_name != own:
        reason = (
            f"the mapping is of topic {info.topic_name!r} on broker group"
            f" {info.broker_group_name!r}, not of {header.topic!r} on {own!r}"
        )
        raise Refusal(ResponseCode.INVALID_PARAMETER, reason)
    if info.is_dirty:
        reason = "the mapping is marked as dirty (INV-3)"
        raise Refusal(ResponseCode.INVALID_PARAMETER, reason)
    return mapping


def _get(broker: Broker, name: str) -> tuple[TopicConfig, BrokerTopic]:
    topic, static = broker.find_topic(name), find_copy(broker, name)
    if static is None:
        raise Refusal(ResponseCode.ILLEGAL_OPERATION, f"the topic[{name}] is not static")
    return topic, static


def _held_bounds(broker: Broker, topic_name: str, queue_id: int) -> QueueBounds:
    """Return the bounds of a physical queue, with messages that readers do not see yet."""
    low, high = broker.store.held_offsets(topic_name, queue_id) or (0, 0)
    return QueueBounds(low, high)


def _refusal(error: QueueChangeRefused | QueueEpochFenced) -> Refusal:
    if isinstance(error, QueueEpochFenced):
        ext = encode_header(FencedAnswer(held_fence=error.held))
        return Refusal(ResponseCode.OPERATION_FENCED, str(error), ext)
    return Refusal(ResponseCode.INVALID_PARAMETER, str(error))
