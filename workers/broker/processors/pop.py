"""Serve POP: any consumer of a group gets messages, each for a limited time (remoting.md 2.4).

The engine serves most POPs and acknowledgements itself. This module checks the first POP of each
kind, names its share queues, and serves the rare requests.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Final

import structlog
from regent_engine import (
    SHARE_WINDOW,
    Command,
    Finished,
    LeadingQueues,
    PullGrant,
    decode_records,
    parse_pop_handle,
)

from backend.remoting import java_json
from backend.remoting.bodies import SubscriptionGroupConfig, TopicConfig
from backend.remoting.bodies.pop import BatchAck, BatchAckBody
from backend.remoting.command import answer
from backend.remoting.headers import (
    ChangedInvisibleTimeHeader,
    ChangeInvisibleTimeHeader,
    NotificationHeader,
    PeekMessageHeader,
    PollingInfoHeader,
    PopHandleHeader,
    PopMessageHeader,
    PoppedHeader,
    decode_header,
    encode_header,
)
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import old_pop_retry_topic, pop_retry_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.attributes import MESSAGE_TYPE, PRIORITY_FACTOR, PRIORITY_TYPE
from backend.rules.broker import MASTER_ID
from workers.broker.broker import Broker
from workers.broker.commit_log.message_filters import MessageFilter, filter_of_expression
from workers.broker.errors import NotLeading, Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.forwarding import (
    FORWARDED_FIELD,
    WAIT_S_MAX,
    LeaderSearch,
    may_forward,
)
from workers.broker.logical.led_queue import find_led
from workers.broker.logical.positions import end_of
from workers.broker.logical.share_owning import (
    Owned,
    Wish,
    check_confirmed,
    fetch_next,
    next_of_group,
    own,
    own_queue,
    read_logical,
)
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import Outcome, serves
from workers.broker.shares.reading_ahead import read_ahead
from workers.broker.shares.shared_pops import FORWARDED_FIELD as SHARE_FORWARDED
from workers.broker.shares.shared_pops import ServeHere, nothing_answer
from workers.broker.tables.topics import READABLE, permitted

COUNT_MAX: Final = 32
SIZE_MAX_BYTES: Final = 256 << 10
ANY_QUEUE: Final = -1
BATCH_COUNT_MAX: Final = 16 * SHARE_WINDOW
"""The messages that one batch of acknowledgements finishes at most."""

MOVE_DELAY_MS: Final = 60_000
"""A message that is given back for longer moves to the retry topic."""

ORDERED_TAG: Final = 999
"""The number of the revive queue in handles of ordered groups (remoting.md 2.4)."""

NEW_RETRY: Final = 2
OLD_RETRY: Final = 1
"""What handles call the two forms of retry topics."""

log = structlog.get_logger()


@serves(
    RequestCode.POP_MESSAGE,
    role=RequiredRole.READABLE,
    passed_on=False,
    target=None,
    on_fast_port=False,
)
def on_pop(broker: Broker, caller: Caller, command: Command) -> Outcome:
    """Hand out messages of a topic, or wait for some; other members may own its share queues."""
    header = decode_header(PopMessageHeader, command.ext)
    _check_role(broker, header.topic)
    if broker.static_topics.find(header.topic) is not None:
        return _pop_logical(broker, caller, command, header)
    if broker.shared_pops.takes(header):
        pop_here = partial(_pop_here, broker, caller, command, header)
        return _share(broker, caller, command, header, pop_here)
    return _pop_here(broker, caller, command, header)


def _share(
    broker: Broker,
    caller: Caller,
    command: Command,
    header: PopMessageHeader,
    serve_here: ServeHere,
) -> Outcome:
    """Have the owners of share queues answer; the master names those that are new."""
    if broker.membership.role_id == MASTER_ID:
        check_pop(broker, header)
    is_forwarded = command.code == RequestCode.POP_MESSAGE and SHARE_FORWARDED not in command.ext
    if is_forwarded and broker.shared_pops.has_one_owner(header):
        # The engine forwards those after it (ADR 27).
        grant, _ = check_pop(broker, header)
        broker.hot.grant_pulls(grant)
    return broker.shared_pops.serve(caller, command, header, serve_here)


def _pop_here(
    broker: Broker, caller: Caller, command: Command, header: PopMessageHeader
) -> Awaitable[bytes] | None:
    """Hand out messages of the share queues that this broker owns, or wait for some."""
    grant, passing = check_pop(broker, header)
    if not broker.shared_pops.takes(header):
        # The engine alone would never look at the queues of other members.
        broker.hot.grant_pulls(grant)
    if caller.is_gone or command.is_oneway:
        # The client could not finish the messages.
        return None
    if caller.pop(command, grant, may_wait=False):
        return None
    return _pop_from_disk(broker, caller, command, header, passing)


def _check_role(broker: Broker, topic: str) -> None:
    """Check that this broker may hand out messages: the master, or a member of a SHARED topic.

    Raises:
        Refusal: only the master does, or its state is not known here yet.
    """
    shares = broker.member_shares
    if not (shares.is_shared(topic) and shares.follows):
        broker.membership.check(RequiredRole.MASTER_TAKES)


def _owns_any(broker: Broker, header: PopMessageHeader) -> bool:
    shares = broker.member_shares
    return not shares.is_shared(header.topic) or shares.serves(header)


async def _pop_from_disk(
    broker: Broker,
    caller: Caller,
    command: Command,
    header: PopMessageHeader,
    passing: MessageFilter,
) -> bytes:
    """Have threads read the next messages into memory, while others are served."""
    count = broker.find_topic(header.topic).read_queue_count
    queues = range(count) if header.queue_id == ANY_QUEUE else (header.queue_id,)
    read = partial(read_ahead, broker, count_max=header.message_count_max, bytes_max=SIZE_MAX_BYTES)
    for queue_id in queues:
        await read((header.topic, queue_id, header.consumer_group), passing=passing)
    # An orderly consumer gets no messages of retry topics.
    for name, _, queue_count in () if header.is_ordered else _retry_topics(broker, header):
        for queue_id in range(queue_count):
            await read((name, queue_id, header.consumer_group))
    if caller.is_gone:
        return b""
    # The facts may have changed meanwhile.
    _check_role(broker, header.topic)
    grant, _ = check_pop(broker, header)
    if not _owns_any(broker, header):
        return nothing_answer(command)
    if not caller.pop(command, grant, may_wait=True):
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, _NOT_MASTER)
    return b""


async def _pop_logical(
    broker: Broker, caller: Caller, command: Command, header: PopMessageHeader
) -> bytes:
    """Hand out messages of logical queues, once their share queues are owned here.

    Messages of older segments are read into memory before, and those on the disk.
    """
    group, topic = _check_permission(broker, header)
    wish = Wish(topic.name, group, header.init_mode, bool(header.is_ordered))
    named = None if header.queue_id == ANY_QUEUE else header.queue_id
    await _fetch(broker, await own(broker, wish), named)
    # The facts may have changed meanwhile, and with them what is led here.
    owned = await own(broker, wish)
    grant, _ = check_pop(broker, header, owned.leading)
    if command.code == RequestCode.POP_MESSAGE:
        broker.hot.grant_pulls(grant)
    if caller.is_gone or command.is_oneway:
        return b""
    if not caller.pop(command, grant, may_wait=True):
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, _NOT_MASTER)
    return b""


async def _fetch(broker: Broker, owned: Owned, named: int | None) -> None:
    """Read the next messages of each queue: an absent broker group holds up its segments only.

    Raises:
        Refusal: the named queue is not owned, or its next messages are at a broker group that does
            not answer.
    """
    if named is not None:
        owned.check(named)
    ids = owned.global_ids if named is None else [named]
    reads = (fetch_next(broker, owned.wish, one) for one in ids)
    outcomes = await asyncio.gather(*reads, return_exceptions=True)
    for global_id, outcome in zip(ids, outcomes, strict=True):
        if isinstance(outcome, Refusal) and named is None:
            log.warning("segment_not_read", queue_id=global_id, reason=str(outcome))
        elif outcome is not None:
            raise outcome


def check_pop(
    broker: Broker, header: PopMessageHeader, leading: LeadingQueues | None = None
) -> tuple[PullGrant, MessageFilter]:
    """Check a POP, and name its share queues; those of a static topic are named by the caller.

    Raises:
        Refusal: the POP is refused.
        StoreError: the store refused the names.
    """
    group, topic = _check_permission(broker, header)
    passing = filter_of_expression(broker.settings, header.expression_type, header.expression)
    retries = _retry_topics(broker, header)
    begin = partial(
        broker.shares.begin, init_mode=header.init_mode, is_ordered=bool(header.is_ordered)
    )
    if broker.static_topics.find(topic.name) is None:
        begin(topic.name, group, topic.read_queue_count)
    else:
        leading = leading or broker.leading.find(topic.name)
    for name, _, queue_count in retries:
        # A retry topic has no messages that a group wants to skip.
        broker.shares.begin(name, group, queue_count, init_mode=0)
    grant = PullGrant(
        RequestCode.POP_MESSAGE,
        group.name,
        topic.name,
        read_queue_count=topic.read_queue_count,
        tag_hashes=passing.tag_hashes,
        property_filter=passing.properties,
        count_max=COUNT_MAX,
        bytes_max=SIZE_MAX_BYTES,
        suggested_broker_id=0,
        parked_ms=None if broker.settings.long_polling else broker.settings.short_polling_ms,
        moves_consumers=False,
        facts_version=broker.hot.facts_version,
        expression=header.expression,
        expression_type=header.expression_type,
        leading=leading,
        retry_topics=retries,
        may_forward=broker.shared_pops.may_forward(topic.name),
        priority_percent=_priority_percent(group, topic),
    )
    return grant, passing


def _priority_percent(group: SubscriptionGroupConfig, topic: TopicConfig) -> int:
    """Return how many of a hundred POPs look at the last queue first (remoting.md 2.4)."""
    if topic.attributes.get(MESSAGE_TYPE) != PRIORITY_TYPE:
        return 0
    return int(group.attributes.get(PRIORITY_FACTOR, "100"))


def check_again(broker: Broker, command: Command) -> PullGrant | None:
    """Check a POP that has waited, since what it was granted by has changed.

    None if other members own some of its share queues now: its client asks again.

    Raises:
        Refusal: the POP would be refused if it came now.
    """
    is_question = command.code == RequestCode.NOTIFICATION
    header = (
        _pop_of_notification(command)
        if is_question
        else decode_header(PopMessageHeader, command.ext)
    )
    if broker.shared_pops.takes(header):
        return None
    grant, _ = check_pop(broker, header)
    if not is_question:
        broker.hot.grant_pulls(grant)
    return grant


def _check_permission(
    broker: Broker, header: PopMessageHeader
) -> tuple[SubscriptionGroupConfig, TopicConfig]:
    broker.shares.check()
    if not broker.settings.permissions & READABLE:
        raise Refusal(ResponseCode.NO_PERMISSION, "the broker pop message is forbidden")
    if not 1 <= header.message_count_max <= COUNT_MAX:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"maxMsgNums is {header.message_count_max}: allowed values are 1 to {COUNT_MAX}",
        )
    if header.invisible_ms <= 0:
        raise Refusal(ResponseCode.INVALID_PARAMETER, "invisibleTime is not positive")
    topic = broker.find_topic(header.topic)
    broker.local_log.check(topic.name)
    if not permitted(topic, broker.settings.permissions) & READABLE:
        raise Refusal(ResponseCode.NO_PERMISSION, f"the topic[{topic.name}] is not readable")
    if broker.static_topics.find(topic.name) is not None:
        _check_not_acting(broker)
        _check_logical(broker, topic.name, header.queue_id)
    elif not ANY_QUEUE <= header.queue_id < topic.read_queue_count:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"queueId[{header.queue_id}] is illegal, topic:[{topic.name}] "
            f"topicConfig.readQueueNums:[{topic.read_queue_count}]",
        )
    group = broker.find_group(header.consumer_group)
    if not group.consume_enabled:
        raise Refusal(ResponseCode.NO_PERMISSION, f"subscription group no permission, {group.name}")
    return group, topic


def _check_logical(broker: Broker, topic_name: str, global_id: int) -> None:
    check_confirmed(broker, topic_name)
    if global_id != ANY_QUEUE:
        find_led(broker, {}, topic_name, global_id)


def _retry_topics(broker: Broker, header: PopMessageHeader) -> list[tuple[str, int, int]]:
    """Return the retry topics that exist: name, what handles call it, and queues."""
    names = {
        pop_retry_topic(header.consumer_group, header.topic): NEW_RETRY,
        old_pop_retry_topic(header.consumer_group, header.topic): OLD_RETRY,
    }
    found = ((broker.topics.find(name), flag) for name, flag in names.items())
    return [
        (one.name, flag, one.read_queue_count)
        for one, flag in found
        if one is not None
        and broker.shares.serves(one.name, header.consumer_group, range(one.read_queue_count))
    ]


@serves(RequestCode.ACK_MESSAGE, role=RequiredRole.MASTER_TAKES, passed_on=True, target=None)
async def on_ack(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Finish one message, once the log is confirmed."""
    header = decode_header(PopHandleHeader, command.ext)
    await _check_queue(broker, header.topic, header.queue_id, header.consumer_group)
    name = header.topic, header.queue_id, header.consumer_group
    finished = _finish(broker, name, _delivery_of(header.handle), [_offset_of(header)])
    if finished is None or not all(finished.successes):
        return answer(command, code=ResponseCode.NO_MESSAGE, remark=_VOID)
    return await _completed(broker, caller, command, [finished])


@serves(RequestCode.BATCH_ACK_MESSAGE, role=RequiredRole.MASTER_TAKES, passed_on=True, target=None)
async def on_batch_ack(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Finish messages of several deliveries; the answer names those with void handles (O15)."""
    acks = java_json.decode(command.body or b"{}", BatchAckBody).acks
    _check_batch(acks)
    done: list[Finished] = []
    void: list[str] = []
    failures: list[Refusal] = []
    is_any_forwarded = False
    for ack in acks:
        try:
            offsets, finished = await _accept(broker, ack)
        except NotLeading as refusal:
            try:
                void += await _forward_ack(broker, command, ack, refusal)
                is_any_forwarded = True
            except Refusal as failure:
                failures.append(failure)
            continue
        except Refusal as failure:
            failures.append(failure)
            continue
        successes = [False] * len(offsets) if finished is None else finished.successes
        if finished is not None:
            done.append(finished)
        refused = [str(one) for one, ok in zip(offsets, successes, strict=True) if not ok]
        if refused:
            void.append(f"queue {ack.queue_id} of {ack.topic}: {', '.join(refused)}")
    is_any_done = any(any(one.successes) for one in done)
    if failures and not is_any_done:
        raise failures[0]
    if failures:
        why = "; ".join(map(str, failures))
        reply = answer(
            command,
            code=ResponseCode.SYSTEM_BUSY,
            remark=f"some messages are not finished, try again: {why}",
        )
        return await _completed(broker, caller, command, done, reply=reply)
    if not is_any_done and not (is_any_forwarded and not void):
        return answer(command, code=ResponseCode.NO_MESSAGE, remark="; ".join(void) or _VOID)
    remark = f"these messages have void handles: {'; '.join(void)}" if void else None
    return await _completed(broker, caller, command, done, remark=remark)


async def _forward_ack(
    broker: Broker, command: Command, ack: BatchAck, refusal: NotLeading
) -> list[str]:
    """Have the leader of a logical queue finish messages; return those with void handles.

    Raises:
        Refusal: it is not known whether they are finished: no leader answers.
    """
    name = f"queue {ack.queue_id} of {ack.topic}"
    if not may_forward(command):
        raise Refusal(ResponseCode.SYSTEM_BUSY, f"{name}: {refusal}")
    body = java_json.encode(BatchAckBody(acks=[ack]))
    search = LeaderSearch(broker, command, refusal, {FORWARDED_FIELD: "1"}, body)
    try:
        async with asyncio.timeout(WAIT_S_MAX):
            is_answered = await search.run()
    except TimeoutError as error:
        raise Refusal(ResponseCode.SYSTEM_BUSY, f"{name}: {refusal}") from error
    reply = search.reply
    if not is_answered or reply is None:
        raise Refusal(ResponseCode.SYSTEM_BUSY, f"{name}: {refusal}")
    if reply.code not in {ResponseCode.SUCCESS, ResponseCode.NO_MESSAGE}:
        raise Refusal(ResponseCode.SYSTEM_BUSY, f"{name}: {reply.remark or reply.code}")
    return [reply.remark] if reply.remark else []


def _check_batch(acks: Sequence[BatchAck]) -> None:
    """Check all entries of a batch, before the log has any of it.

    Raises:
        Refusal: an entry is malformed, or the batch is too large.
    """
    count = 0
    for ack in acks:
        try:
            count += max(1, ack.count())
        except InvalidJson as error:
            place = f"queue {ack.queue_id} of {ack.topic}"
            raise Refusal(ResponseCode.MESSAGE_ILLEGAL, f"{place}: {error}") from error
        if count > BATCH_COUNT_MAX:
            reason = f"a batch finishes {BATCH_COUNT_MAX} messages at most"
            raise Refusal(ResponseCode.MESSAGE_ILLEGAL, reason)


async def _accept(broker: Broker, ack: BatchAck) -> tuple[list[int], Finished | None]:
    """Finish the messages of one entry; return their offsets, and what came of it."""
    names = {
        str(NEW_RETRY): pop_retry_topic(ack.consumer_group, ack.topic),
        str(OLD_RETRY): old_pop_retry_topic(ack.consumer_group, ack.topic),
    }
    topic = names.get(ack.retry, ack.topic)
    await _check_queue(broker, topic, ack.queue_id, ack.consumer_group)
    offsets = ack.offsets()
    name = topic, ack.queue_id, ack.consumer_group
    return offsets, _finish(broker, name, (ack.pop_time_ms, ack.revive_queue_id), offsets)


def _finish(
    broker: Broker, name: tuple[str, int, str], delivery: tuple[int, int], offsets: Sequence[int]
) -> Finished | None:
    """Finish messages of a delivery; None if this broker does not know the share queue.

    The next batch of an ordered group waits for the end of this one (queue-ownership.md 4.5).
    Messages behind a full window wait until its front is finished.
    """
    pop_time_ms, tag = delivery
    was_full = broker.hot.is_share_full(*name)
    finished = broker.hot.accept_shares(*name, pop_time_ms=pop_time_ms, tag=tag, offsets=offsets)
    if finished is not None and (was_full or tag == ORDERED_TAG):
        broker.shares.wake(*name[:2])
    return finished


async def _completed(
    broker: Broker,
    caller: Caller,
    command: Command,
    finished: list[Finished],
    *,
    remark: str | None = None,
    reply: bytes | None = None,
) -> bytes:
    """Answer once all records are confirmed: then no later master delivers the messages again.

    No success is answered before (Q13, Q30). A replica that acts has no records: what is finished
    is in its file first, and its master takes it over (S130).
    """
    broker.membership.appended()
    for one in finished:
        broker.shares.note_progress(one, caller.address)
    if broker.shares.is_acting:
        await broker.shares.keep(finished)
        return reply or answer(command, remark=remark)
    position = max((one.position for one in finished), default=0)
    late = answer(command, code=ResponseCode.SYSTEM_ERROR, remark="FLUSH_DISK_TIMEOUT")
    reply = reply or answer(command, remark=remark)
    return await broker.membership.stored(position, reply, late)


@serves(
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
    role=RequiredRole.MASTER_TAKES,
    passed_on=True,
    target=None,
)
async def on_change_invisible_time(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Let a consumer keep a message longer, under a new handle, or give it back (Q10).

    With `release` the message is given back, and delivered after the time. A long delay would hold
    the window of the share queue, so the message moves to the retry topic. At a replica that acts
    it stays where it is, since such a replica appends nothing. So does a message of an ordered
    delivery: ordered consumers wait for it, and get no messages of retry topics.
    """
    header = decode_header(ChangeInvisibleTimeHeader, command.ext)
    await _check_queue(broker, header.topic, header.queue_id, header.consumer_group)
    hidden_ms = max(0, header.invisible_ms)
    gives_back = bool(header.release) or hidden_ms == 0
    name = header.topic, header.queue_id, header.consumer_group
    pop_time_ms, tag = _delivery_of(header.handle)
    renewed = broker.hot.change_share(
        *name,
        pop_time_ms=pop_time_ms,
        tag=tag,
        offset=_offset_of(header),
        hidden_ms=hidden_ms,
        gives_back=gives_back,
        elapsed_ms=broker.elapsed_ms(),
    )
    if renewed is None:
        return answer(command, code=ResponseCode.NO_MESSAGE, remark=_VOID)
    position = renewed[2]
    changed = ChangedInvisibleTimeHeader(
        pop_time_ms=renewed[0], invisible_ms=hidden_ms, revive_queue_id=renewed[1]
    )
    reply = answer(command, ext=encode_header(changed))
    is_ordered = tag == ORDERED_TAG
    if gives_back and hidden_ms and not is_ordered and _moves(broker, name, hidden_ms):
        moved = await _move(broker, caller, command, header, reply)
        if moved is not None:
            return moved
    # The message is due at another time now.
    broker.shares.wake(header.topic, header.queue_id)
    if position is None:
        return reply
    # Another member may own the share queue, and learns it from the log.
    broker.membership.appended()
    late = answer(command, code=ResponseCode.SYSTEM_ERROR, remark="FLUSH_DISK_TIMEOUT")
    return await broker.membership.stored(position, reply, late)


def _moves(broker: Broker, name: tuple[str, int, str], delay_ms: int) -> bool:
    if broker.shares.is_acting:
        return False
    return delay_ms > MOVE_DELAY_MS or broker.hot.is_share_full(*name)


async def _move(
    broker: Broker,
    caller: Caller,
    command: Command,
    header: ChangeInvisibleTimeHeader,
    reply: bytes,
) -> bytes | None:
    """Let the retry topic deliver a message that was given back for a long time.

    None if the message stays in its place.
    """
    finished = await broker.shares.move(
        header.topic,
        header.queue_id,
        header.consumer_group,
        header.offset,
        header.invisible_ms,
        given_back=_delivery_of(header.handle),
    )
    if finished is None:
        return None
    return await _completed(broker, caller, command, [finished], reply=reply)


@serves(
    RequestCode.NOTIFICATION,
    role=RequiredRole.READABLE,
    passed_on=False,
    target=None,
    on_fast_port=False,
)
def on_notification(broker: Broker, caller: Caller, command: Command) -> Outcome:
    """Say whether there are messages for a group, once there are, or after a wait."""
    header = _pop_of_notification(command)
    _check_role(broker, header.topic)
    if broker.static_topics.find(header.topic) is not None:
        return _pop_logical(broker, caller, command, header)
    if broker.shared_pops.takes(header):
        notify_here = partial(_notify_here, broker, caller, command, header)
        return _share(broker, caller, command, header, notify_here)
    _notify_here(broker, caller, command, header)
    return None


def _notify_here(
    broker: Broker, caller: Caller, command: Command, header: PopMessageHeader
) -> None:
    """Say whether share queues that this broker owns have messages."""
    grant, _ = check_pop(broker, header)
    if caller.is_gone or command.is_oneway:
        return
    if not caller.pop(command, grant, may_wait=False):
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, _NOT_MASTER)
    return


def _pop_of_notification(command: Command) -> PopMessageHeader:
    header = decode_header(NotificationHeader, command.ext)
    return PopMessageHeader(
        consumer_group=header.consumer_group,
        topic=header.topic,
        queue_id=header.queue_id,
        message_count_max=1,
        invisible_ms=1,
        poll_ms=header.poll_ms,
        is_ordered=header.is_ordered,
    )


@serves(
    RequestCode.PEEK_MESSAGE,
    role=RequiredRole.MASTER_TAKES,
    passed_on=False,
    target=None,
    on_fast_port=False,
)
async def on_peek(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the next messages of a group, and change nothing."""
    header = decode_header(PeekMessageHeader, command.ext)
    _, topic = _check_permission(
        broker,
        PopMessageHeader(
            consumer_group=header.consumer_group,
            topic=header.topic,
            queue_id=header.queue_id,
            message_count_max=header.message_count_max,
            invisible_ms=1,
            poll_ms=0,
        ),
    )
    static = broker.static_topics.find(topic.name)
    if static is not None:
        return await _peek_logical(broker, command, header)
    is_any = header.queue_id == ANY_QUEUE
    queues = range(topic.read_queue_count) if is_any else (header.queue_id,)
    pieces: list[bytes] = []
    left, rest = header.message_count_max, 0
    for queue_id in queues:
        offset = _peeked_offset(broker, header, queue_id)
        if left > 0:
            limits = offset, left, SIZE_MAX_BYTES
            read = partial(broker.store.read, topic.name, queue_id, *limits, None, None)
            result = await broker.read_threads.read(read)
            pieces.append(result.body)
            left, offset = left - result.count, offset + result.count
        _, end = broker.store.offsets(topic.name, queue_id) or (0, 0)
        rest += max(0, end - offset)
    return _peeked(command, pieces, rest)


def _peeked(command: Command, pieces: list[bytes], rest: int) -> bytes:
    code = ResponseCode.SUCCESS if any(pieces) else ResponseCode.PULL_NOT_FOUND
    found = PoppedHeader(rest_count=rest)
    return answer(command, code=code, ext=encode_header(found), body=b"".join(pieces))


async def _peek_logical(broker: Broker, command: Command, header: PeekMessageHeader) -> bytes:
    """Return the next messages of a group in logical queues, wherever they are stored."""
    static = broker.static_topics.find(header.topic)
    ids = sorted(static.mapping.hosted) if static is not None else []
    wanted = [one for one in ids if header.queue_id in {ANY_QUEUE, one}]
    pieces: list[bytes] = []
    left, rest = header.message_count_max, 0
    for global_id in wanted:
        if static is None or not static.mapping.leads(global_id):
            continue
        led = find_led(broker, {}, header.topic, global_id)
        if led is None:
            continue
        offset = await next_of_group(broker, led, header.consumer_group)
        if left > 0:
            read = await read_logical(broker, led, header.consumer_group, offset, left)
            pieces.append(read[1])
            left -= len(decode_records(read[1]))
            offset = max(offset, read[0])
        rest += max(0, end_of(broker, led) - offset)
    return _peeked(command, pieces, rest)


def _peeked_offset(broker: Broker, header: PeekMessageHeader, queue_id: int) -> int:
    group, topic = header.consumer_group, header.topic
    offset = broker.hot.next_of_share(topic, queue_id, group, broker.elapsed_ms())
    if offset is None:
        offset = broker.offsets.find(group, topic, queue_id) or 0
    low, _ = broker.store.offsets(topic, queue_id) or (0, 0)
    return max(low, offset)


@serves(RequestCode.POLLING_INFO, role=RequiredRole.ANY, passed_on=False, target=None)
def on_polling_info(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return how many POPs of a group wait at a queue."""
    header = decode_header(PollingInfoHeader, command.ext)
    broker.find_topic(header.topic)
    broker.check_group_exists(header.consumer_group)
    if header.queue_id != ANY_QUEUE:
        find_led(broker, command.ext, header.topic, header.queue_id)
    queue_id = broker.leading.stored_at(header.topic, header.queue_id)
    count = broker.hot.pop_count(header.topic, queue_id, header.consumer_group)
    return answer(command, ext={"pollingNum": str(count)})


_NOT_MASTER: Final = "this broker is not the master of its group now"
_VOID: Final = "the handle is of another delivery of the message, or the message is not there"


async def _check_queue(broker: Broker, topic_name: str, queue_id: int, group: str) -> None:
    """Check that a topic has a queue; own the share queue of a logical one.

    Raises:
        NotLeading: another broker group owns it.
        Refusal: there is no such queue, or the share queue can't be owned now.
    """
    topic = broker.find_topic(topic_name)
    if broker.static_topics.find(topic_name) is not None:
        _check_not_acting(broker)
        await own_queue(broker, topic_name, queue_id, group)
        return
    if not 0 <= queue_id < topic.read_queue_count:
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"queueId{queue_id} is illegal, topic:[{topic.name}] "
            f"topicConfig.readQueueNums:[{topic.read_queue_count}]",
        )


def _check_not_acting(broker: Broker) -> None:
    if broker.shares.is_acting:
        reason = "POP of static topics begins again once the master of this broker group is back"
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)


def _delivery_of(handle: str) -> tuple[int, int]:
    """Return the time and the tag of the delivery that a handle is of."""
    fields = parse_pop_handle(handle)
    if fields is None:
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            "extraInfo is malformed: send the handle that came with the message",
        )
    return fields[0], fields[1]


def _offset_of(header: PopHandleHeader) -> int:
    if header.offset < 0:
        raise Refusal(ResponseCode.NO_MESSAGE, f"the offset {header.offset} is not in the queue")
    return header.offset
