"""Answer pulls, and park those that find nothing (remoting.md 2.3: 11, 361)."""

import contextlib
from collections.abc import Awaitable
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec
from regent_engine import (
    PARKED_MS_MAX,
    Command,
    PropertyFilter,
    PullGrant,
    ReadResult,
    encode_pull_answer,
)

from backend.domain.logical_queue.lookup import Located
from backend.domain.logical_queue.reading import decide_pull
from backend.domain.logical_queue.segment import QueueBounds
from backend.remoting.bodies import SubscriptionData, TopicConfig
from backend.remoting.headers import PullMessageHeader, decode_header
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.broker import MASTER_ID
from workers.broker.broker import Broker
from workers.broker.commit_log.message_filters import (
    MessageFilter,
    filter_of_pull,
    filter_of_subscription,
)
from workers.broker.errors import GroupOffline, Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.led_queue import LedQueue, find_led, is_logical
from workers.broker.logical.old_clients import adds_delta, with_logical_places
from workers.broker.logical.older_segments import (
    CARRIES_SUBSCRIPTION,
    PULL_CODES,
    OlderPull,
    SegmentReader,
    filter_fields,
)
from workers.broker.logical.positions import commit
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves
from workers.broker.tables.topics import READABLE

COUNT_MAX: Final = 32
SIZE_MAX_BYTES: Final = 256 << 10

_COMMIT_FLAG: Final = 1
_SUSPEND_FLAG: Final = 2

_CODES: Final = {
    "FOUND": ResponseCode.SUCCESS,
    "NO_MATCHED_MESSAGE": ResponseCode.PULL_RETRY_IMMEDIATELY,
    "MESSAGE_WAS_REMOVING": ResponseCode.PULL_RETRY_IMMEDIATELY,
    "OFFSET_OVERFLOW_ONE": ResponseCode.PULL_NOT_FOUND,
    "OFFSET_FOUND_NULL": ResponseCode.PULL_NOT_FOUND,
    "OFFSET_OVERFLOW_BADLY": ResponseCode.PULL_OFFSET_MOVED,
    "OFFSET_TOO_SMALL": ResponseCode.PULL_OFFSET_MOVED,
}


# Not frozen: there is one for each pull, and a frozen one takes twice as long to create.
@dataclass(slots=True, eq=False)
class Pull:
    """One pull that passed every check; ids and offsets in its header are physical."""

    broker: Broker
    caller: Caller
    command: Command
    header: PullMessageHeader
    filter: MessageFilter
    grant: PullGrant
    led: LedQueue | None = None
    """In a static topic the logical queue, whose last segment is read."""

    def read(self, offset: int) -> ReadResult | None:
        """Read messages in memory, as much as fits an answer; None if the data is on the disk."""
        return self.broker.store.read_resident(*self._wanted(offset))

    def run(self) -> Awaitable[bytes] | None:
        """Answer at once, or park the pull if there is no message and the client accepts a wait."""
        offset = self.header.queue_offset
        wake_count = self.broker.hot.wake_count
        result = self.read(offset)
        if result is None:
            return self._run_cold(offset)
        may_hold = bool(self.header.sys_flag & _SUSPEND_FLAG)
        code, start = self._judge(result, offset)
        if may_hold and code == ResponseCode.PULL_NOT_FOUND:
            # At a missing index entry the reader skips; in all other cases it waits there.
            self._park(start, wake_count)
        else:
            self._send(result, offset)
        return None

    async def _run_cold(self, offset: int) -> bytes:
        """Read the disk while others are served. There are messages, so the pull never waits."""
        read = partial(self.broker.store.read, *self._wanted(offset))
        self._send(await self.broker.read_threads.read(read), offset)
        return b""

    def _send(self, result: ReadResult, offset: int) -> None:
        """Answer with the messages of a read; the records are not copied into the frame."""
        code, next_offset = self._judge(result, offset)
        body = result.body if code == ResponseCode.SUCCESS else b""
        if body and self.led is not None and not adds_delta(self.command):
            led = self.led
            body = with_logical_places(body, led.queue.global_id, led.leader.delta)
        self.broker.readers.note_next(self.header.consumer_group, *self._queue, next_offset)
        self.broker.meters.pulled(
            self.header.consumer_group,
            self.header.topic,
            messages=result.count if body else 0,
            size_bytes=len(body),
            pulls=1 if body else 0,
            missed=0 if body else 1,
        )
        if self.command.is_oneway:
            return
        head = encode_pull_answer(
            self.command,
            code,
            suggested_broker_id=MASTER_ID,
            next_offset=self._shown(next_offset),
            min_offset=self._shown(result.min_offset),
            max_offset=self._shown(result.max_offset),
            offset_delta=None if self.led is None else self.led.leader.delta,
            body_size=len(body),
            remark=result.status,
        )
        self.caller.send(head, body)

    def _judge(self, result: ReadResult, offset: int) -> tuple[ResponseCode, int]:
        """Return the result of a read, and the next offset of the client."""
        code = _code_of(result, offset)
        if code != ResponseCode.PULL_OFFSET_MOVED:
            return code, max(offset, result.next_offset)
        if self.broker.topics.is_following:
            # A replica may lack data of its master, at either end: it moves no consumer.
            return ResponseCode.PULL_NOT_FOUND, max(offset, 0)
        if self.led is not None:
            return self._judge_outside(self.led, result, offset)
        return code, result.next_offset

    def _judge_outside(
        self, led: LedQueue, result: ReadResult, offset: int
    ) -> tuple[ResponseCode, int]:
        """Return the result of a read outside of the last segment of a logical queue."""
        bounds = QueueBounds(result.min_offset, result.max_offset)
        decision = decide_pull(led.queue, Located(led.leader, offset), bounds)
        code = PULL_CODES.get(decision.code, ResponseCode.PULL_RETRY_IMMEDIATELY)
        return code, led.leader.to_physical(decision.next_offset)

    def _shown(self, offset: int) -> int:
        return offset if self.led is None else self.led.leader.to_logical_strict(offset)

    def _wanted(
        self, offset: int
    ) -> tuple[str, int, int, int, int, list[int] | None, PropertyFilter | None]:
        passing = self.filter
        limits = offset, self._count_max, SIZE_MAX_BYTES
        return *self._queue, *limits, passing.tag_hashes, passing.properties

    @property
    def _queue(self) -> tuple[str, int]:
        return self.header.topic, self.header.queue_id

    def _park(self, offset: int, wake_count: int) -> None:
        """Have the pull wait for messages, unless no answer is wanted."""
        if self.command.is_oneway:
            return
        is_parked = self.caller.park(
            self.command,
            self.grant,
            queue_id=self.header.queue_id,
            offset=offset,
            count_max=self._count_max,
            deadline_ms=self.broker.elapsed_ms() + self._parked_ms(),
            wake_count=wake_count,
            global_id=None if self.led is None else self.led.queue.global_id,
            adds_delta=adds_delta(self.command),
        )
        if not is_parked:
            raise Refusal(ResponseCode.SYSTEM_BUSY, "[OVERLOAD] too many pulls are held")

    def _parked_ms(self) -> int:
        fixed_ms = _fixed_wait_ms(self.broker)
        wait_ms = self.header.suspend_timeout_ms if fixed_ms is None else fixed_ms
        return max(0, min(wait_ms, PARKED_MS_MAX))

    @property
    def _count_max(self) -> int:
        return max(1, min(self.header.message_count_max, COUNT_MAX))


@serves(
    RequestCode.PULL_MESSAGE,
    RequestCode.LITE_PULL_MESSAGE,
    role=RequiredRole.READABLE,
    passed_on=False,
    target=None,
    on_fast_port=False,
)
def on_pull(broker: Broker, caller: Caller, command: Command) -> Awaitable[bytes] | None:
    """Read messages of one queue for a consumer."""
    header = decode_header(PullMessageHeader, command.ext)
    led = find_led(broker, command.ext, header.topic, header.queue_id)
    if led is not None:
        try:
            return _pull_logical(broker, caller, command, header, led)
        except GroupOffline as refusal:
            return _pull_with_lent(broker, caller, command, header, refusal)
    grant, passing = _check(broker, caller, command, header)
    queue = (header.consumer_group, header.topic, header.queue_id)
    broker.readers.note_pull(
        *queue,
        address=caller.address,
        now_ms=broker.elapsed_ms(),
        next_offset=max(0, header.queue_offset),
    )
    if (offset := broker.resets.take(*queue)) is not None:
        caller.send(_reset_answer(broker, command, header, offset))
        return None
    _share(broker, command, header, grant)
    if header.sys_flag & _COMMIT_FLAG:
        broker.commit(*queue, offset=header.commit_offset, address=caller.address)
    if caller.is_gone:
        # Only the commit of its last pull has an effect; the client has gone, so no message is
        # sent.
        return None
    return Pull(broker, caller, command, header, passing, grant).run()


async def _pull_with_lent(
    broker: Broker,
    caller: Caller,
    command: Command,
    header: PullMessageHeader,
    refusal: GroupOffline,
) -> bytes:
    """Read a logical queue with the subscription that other broker groups know."""
    if not await broker.lent_subscriptions.ask_for(header.consumer_group, header.topic):
        raise refusal
    # The queue may have moved meanwhile.
    led = find_led(broker, command.ext, header.topic, header.queue_id)
    if led is None:
        raise refusal
    outcome = _pull_logical(broker, caller, command, header, led)
    return b"" if outcome is None else await outcome


def _pull_logical(
    broker: Broker, caller: Caller, command: Command, header: PullMessageHeader, led: LedQueue
) -> Awaitable[bytes] | None:
    """Read a logical queue: its last segment as any queue, an older one where it is stored."""
    _check(broker, caller, command, header)
    last = (header.consumer_group, header.topic, led.leader.queue_id)
    if (offset := broker.resets.take(*last)) is not None:
        caller.send(_reset_answer(broker, command, header, offset, led))
        return None
    if header.sys_flag & _COMMIT_FLAG:
        return _commit_and_read(broker, caller, command, header, led)
    return _read_logical(broker, caller, command, header, led)


async def _commit_and_read(
    broker: Broker, caller: Caller, command: Command, header: PullMessageHeader, led: LedQueue
) -> bytes:
    """Commit the offset of a pull at its segment, which may be stored elsewhere, then read."""
    group, address = header.consumer_group, caller.address
    with contextlib.suppress(Refusal):
        # The offset is committed again with the next pull.
        await commit(broker, led, group, header.commit_offset, address=address)
    # The queue may have moved meanwhile.
    present = find_led(broker, command.ext, header.topic, header.queue_id)
    if present is None:
        return b""
    outcome = _read_logical(broker, caller, command, header, present)
    return b"" if outcome is None else await outcome


def _read_logical(
    broker: Broker, caller: Caller, command: Command, header: PullMessageHeader, led: LedQueue
) -> Awaitable[bytes] | None:
    grant, passing = _check(broker, caller, command, header)
    _share(broker, command, header, grant)
    if caller.is_gone:
        # Only the commit of its last pull has an effect.
        return None
    located = led.locate(header.queue_offset)
    if located.segment == led.leader:
        physical = msgspec.structs.replace(
            header, queue_id=led.leader.queue_id, queue_offset=located.physical_offset
        )
        broker.readers.note_pull(
            header.consumer_group,
            header.topic,
            physical.queue_id,
            address=caller.address,
            now_ms=broker.elapsed_ms(),
            next_offset=max(0, physical.queue_offset),
        )
        return Pull(broker, caller, command, physical, passing, grant, led).run()
    reader = SegmentReader(
        broker,
        led,
        located,
        header.consumer_group,
        passing,
        filter_fields(header, _subscription_of(broker, caller, header)),
        count_max=max(1, min(header.message_count_max, COUNT_MAX)),
        bytes_max=SIZE_MAX_BYTES,
    )
    older = OlderPull(command, reader, may_wait=bool(header.sys_flag & _SUSPEND_FLAG))
    return _send_older(caller, older)


async def _send_older(caller: Caller, pull: OlderPull) -> bytes:
    head, body = await pull.answer()
    if not pull.command.is_oneway:
        caller.send(head, body)
    return b""


def check_pull(broker: Broker, caller: Caller, command: Command) -> PullGrant:
    """Check a pull that has waited, since what it was granted by has changed; return its new grant.

    Raises:
        Refusal: the pull would be refused if it came now.
    """
    header = decode_header(PullMessageHeader, command.ext)
    find_led(broker, command.ext, header.topic, header.queue_id)
    grant, _ = _check(broker, caller, command, header)
    _share(broker, command, header, grant)
    return grant


def retry_answer(command: Command) -> bytes:
    """Answer that the consumer pulls again from the same offset at once."""
    offset = decode_header(PullMessageHeader, command.ext).queue_offset
    return encode_pull_answer(
        command,
        ResponseCode.PULL_RETRY_IMMEDIATELY,
        suggested_broker_id=0,
        next_offset=offset,
        min_offset=0,
        max_offset=offset,
    )


def _check(
    broker: Broker, caller: Caller, command: Command, header: PullMessageHeader
) -> tuple[PullGrant, MessageFilter]:
    topic = _check_permission(broker, command, header)
    # The check before may have created a group.
    facts_version = broker.hot.facts_version
    subscription = _subscription_of(broker, caller, header)
    passing = _filter_of(broker, header, subscription)
    return _grant(broker, command, header, topic, passing, facts_version), passing


def _reset_answer(
    broker: Broker,
    command: Command,
    header: PullMessageHeader,
    offset: int,
    led: LedQueue | None = None,
) -> bytes:
    """Answer a consumer with a new offset; the commit in this pull is outdated."""
    queue_id = header.queue_id if led is None else led.leader.queue_id
    low, high = broker.store.offsets(header.topic, queue_id) or (0, 0)
    if led is not None:
        offset, low, high = map(led.leader.to_logical_strict, (offset, low, high))
    return encode_pull_answer(
        command,
        ResponseCode.PULL_OFFSET_MOVED,
        suggested_broker_id=MASTER_ID,
        next_offset=offset,
        min_offset=low,
        max_offset=high,
        remark="OFFSET_RESET",
    )


def _grant(
    broker: Broker,
    command: Command,
    header: PullMessageHeader,
    topic: TopicConfig,
    passing: MessageFilter,
    facts_version: int,
) -> PullGrant:
    """Describe what pulls like this one, which passed every check, may read.

    The grant contains the version of all data of the checks: topics, consumer groups, their
    members, settings and resets of offsets. A change raises the version in the same turn of the
    event loop, so the engine rejects outdated grants by one comparison of two integers.
    """
    return PullGrant(
        command.code,
        header.consumer_group,
        header.topic,
        read_queue_count=topic.read_queue_count,
        tag_hashes=passing.tag_hashes,
        property_filter=passing.properties,
        count_max=COUNT_MAX,
        bytes_max=SIZE_MAX_BYTES,
        suggested_broker_id=MASTER_ID,
        parked_ms=_fixed_wait_ms(broker),
        moves_consumers=not broker.topics.is_following,
        facts_version=facts_version,
        version=None if _carries_filter(header) else header.subscription_version,
        expression=header.subscription,
        expression_type=header.expression_type,
        leading=broker.leading.find(header.topic) if is_logical(command.ext) else None,
    )


def _share(broker: Broker, command: Command, header: PullMessageHeader, grant: PullGrant) -> None:
    """Let the engine answer other pulls of this kind.

    The engine knows groups, but not the client of a pull: the members must agree. None of them may
    wait for a new offset. Pulls with physical ids of a static topic look alike, and are not shared.
    """
    if not is_logical(command.ext) and broker.static_topics.find(header.topic) is not None:
        return
    if broker.resets.is_pending(header.consumer_group, header.topic):
        return
    if _carries_filter(header) or broker.consumers.agree_on(header.consumer_group, header.topic):
        broker.hot.grant_pulls(grant)


def _carries_filter(header: PullMessageHeader) -> bool:
    return bool(header.sys_flag & CARRIES_SUBSCRIPTION)


def _fixed_wait_ms(broker: Broker) -> int | None:
    """Return how long pulls wait for messages; None for as long as they ask for."""
    settings = broker.settings
    return None if settings.long_polling else settings.short_polling_ms


def _check_permission(broker: Broker, command: Command, header: PullMessageHeader) -> TopicConfig:
    if not broker.settings.permissions & READABLE:
        raise Refusal(ResponseCode.NO_PERMISSION, "the broker pulling message is forbidden")
    if command.code == RequestCode.LITE_PULL_MESSAGE and not broker.settings.lite_pull:
        raise Refusal(ResponseCode.NO_PERMISSION, "lite pull is forbidden on this broker")
    group = broker.find_group(header.consumer_group)
    if not group.consume_enabled:
        raise Refusal(ResponseCode.NO_PERMISSION, f"subscription group no permission, {group.name}")
    topic = broker.find_topic(header.topic)
    broker.local_log.check(topic.name)
    if not topic.permissions & READABLE:
        raise Refusal(ResponseCode.NO_PERMISSION, f"the topic[{topic.name}] is not readable")
    is_static = broker.static_topics.find(topic.name) is not None
    if not (is_static and is_logical(command.ext)):
        _check_queue(topic, header.queue_id)
    return topic


def _check_queue(topic: TopicConfig, queue_id: int) -> None:
    if not 0 <= queue_id < topic.read_queue_count:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"queueId[{queue_id}] is illegal, topic:[{topic.name}] "
            f"topicConfig.readQueueNums:[{topic.read_queue_count}]",
        )


def _subscription_of(
    broker: Broker, caller: Caller, header: PullMessageHeader
) -> SubscriptionData | None:
    """Return the subscription of the caller, None for a pull that does not use it."""
    if header.sys_flag & CARRIES_SUBSCRIPTION:
        return None
    return _known_subscription(broker, caller, header)


def _filter_of(
    broker: Broker, header: PullMessageHeader, subscription: SubscriptionData | None
) -> MessageFilter:
    """Return the filter: of the pull itself, or of its group's subscription."""
    if subscription is None:
        return filter_of_pull(broker.settings, header)
    return filter_of_subscription(broker.settings, subscription)


def _known_subscription(
    broker: Broker, caller: Caller, header: PullMessageHeader
) -> SubscriptionData:
    name = header.consumer_group
    group = broker.consumers.find(name) or broker.lent_subscriptions.find(name)
    if group is None:
        raise GroupOffline(name)
    if group.is_broadcasting and not broker.find_group(header.consumer_group).broadcast_allowed:
        raise Refusal(
            ResponseCode.NO_PERMISSION,
            f"the consumer group[{header.consumer_group}] can not consume by broadcast way",
        )
    subscription = broker.consumers.subscription_of(group, caller, header.topic)
    if subscription is None:
        raise Refusal(
            ResponseCode.SUBSCRIPTION_NOT_EXIST,
            f"the consumer's subscription not exist: {header.topic}",
        )
    if subscription.version < header.subscription_version:
        raise Refusal(
            ResponseCode.SUBSCRIPTION_NOT_LATEST, "the consumer's subscription not latest"
        )
    return subscription


def _code_of(result: ReadResult, offset: int) -> ResponseCode:
    status = result.status
    if status in {"NO_MATCHED_LOGIC_QUEUE", "NO_MESSAGE_IN_QUEUE"}:
        # At offset 0 the queue is only empty; 21 would make clients persist a jump.
        return ResponseCode.PULL_OFFSET_MOVED if offset else ResponseCode.PULL_NOT_FOUND
    return _CODES[status]
