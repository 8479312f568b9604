"""What RocketMQ's own tests of POP ask of a broker over the wire, as scenarios of ours.

Each scenario names the tests of RocketMQ 5.5.0 whose behaviour it shows. A scenario waits for what
is to come. That nothing comes is shown by a later message that does come.
"""

import asyncio
import time
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.interop.pop_calls import HELD_MS, POLL_MS, Consumer, Got, JavaClient, popped
from tests.waiting import PATIENCE_S
from workers.broker.commit_log.message import PRIORITY

SHORT_MS: Final = 1_000
"""The time after which a message comes again, where nothing is done with it before."""

LONGER_MS: Final = 3_000
"""The same, where much is done before."""

BIG_BYTES: Final = 3 << 20
ZLIB_COMPRESSED: Final = 0x301
"""The flags of a body that zlib compressed."""

CLOCKS_DIFFER_S: Final = 0.1
AT_ONCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A broker that the Java client asks."""

    java: JavaClient
    admin: Client
    address: str
    name: str = "broker-t"
    is_stock: bool = False

    async def consumer(
        self, topic: str, *, queue_count: int = 1, is_ordered: bool = False, **attributes: str
    ) -> Consumer:
        """Create a topic, and give a consumer of it."""
        consumer = Consumer(
            self.java, self.admin, self.address, self.name, topic, is_ordered=is_ordered
        )
        await consumer.create(queue_count, **attributes)
        return consumer


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario, and the tests of RocketMQ that it shows."""

    run: Callable[[Asked, Asked, str], Awaitable[None]]
    shown: tuple[str, ...]


SCENARIOS: dict[str, Scenario] = {}


def shows(*names: str, name: str | None = None):
    """Register a scenario with the tests of RocketMQ whose behaviour it shows."""

    def register(run):
        SCENARIOS[name or run.__name__] = Scenario(run, names)
        return run

    return register


async def next_of(consumer: Consumer, **fields) -> list[Got]:
    """Return the messages of the first POP that gets some."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await consumer.pop(**fields)):
            pass
    return found


def offsets(messages: list[Got]) -> list[int]:
    return [one.offset for one in messages]


async def _finish_a_batch(first: Asked, _second: Asked, topic: str, *, is_ordered: bool) -> None:
    consumer = await first.consumer(topic, queue_count=8, is_ordered=is_ordered)
    await consumer.send_many(10, queue_count=8)
    lost = await consumer.take(10, held_ms=LONGER_MS)
    assert {one.reconsume_times for one in lost} == {0}
    await consumer.send_many(20, start=10, queue_count=8)
    found: dict[str, Got] = {}
    async with asyncio.timeout(PATIENCE_S):
        while len(found) < 30:
            for one in await consumer.pop(held_ms=LONGER_MS):
                found.pop(one.id, None)
                found[one.id] = one
    *finished, witness = found.values()
    came_again = {one.id for one in found.values() if one.reconsume_times}
    assert came_again >= {one.id for one in lost}

    assert await consumer.batch_ack(finished) == "OK"

    # The time of the other ones is over as well.
    again = await next_of(consumer)
    assert [one.id for one in again] == [witness.id]
    assert await consumer.pop() == []


for is_ordered, shown in [
    (False, ["testBatchAckNormallyWithPopBuffer", "testBatchAckNormallyWithOutPopBuffer"]),
    (True, ["testBatchAckOrderly"]),
]:
    shows(
        *(f"BatchAckIT.{one}" for one in shown),
        name="a_batch_of_an_ordered_group" if is_ordered else "a_batch",
    )(partial(_finish_a_batch, is_ordered=is_ordered))


@shows(
    "PopBigMessageIT.testSendAndRecvBigMsgWhenDisablePopBufferMerge",
    "PopBigMessageIT.testSendAndRecvBigMsgWhenEnablePopBufferMerge",
)
async def a_big_message(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic, queue_count=8)
    await consumer.send(zlib.compress(bytes(BIG_BYTES)), sys_flag=ZLIB_COMPRESSED)

    (found,) = await consumer.take(1, held_ms=SHORT_MS)
    (again,) = await consumer.take(1)

    assert (found.id, found.body, found.reconsume_times) == (again.id, again.body, 0)
    assert again.reconsume_times == 1
    for one in (found, again):
        assert one.sys_flag & ZLIB_COMPRESSED == ZLIB_COMPRESSED
        assert zlib.decompress(one.body) == bytes(BIG_BYTES)


@shows("PopMessageAndForwardingIT.test")
async def a_message_that_is_sent_on(first: Asked, second: Asked, topic: str) -> None:
    """Send a received message on to another broker, with all of its properties."""
    consumers = [await one.consumer(topic, queue_count=8) for one in (first, second)]
    await consumers[0].send(b"1")
    (found,) = await consumers[0].take(1)
    assert "POP_CK" in found.properties

    await consumers[1].send(found.body, properties=found.properties)
    (again,) = await consumers[1].take(1)

    assert (again.id, again.reconsume_times) == (found.id, 0)
    named = [one.handle.split(" ")[5] for one in (found, again)]
    assert named == [first.name, second.name]
    assert await consumers[1].ack(again) == "OK"


@shows("PopOrderlyIT.testPopOrderly")
async def one_message_after_another(first: Asked, _second: Asked, topic: str) -> None:
    """Have a waiting POP get the next message as soon as the former one is acknowledged."""
    consumer = await first.consumer(topic, is_ordered=True)
    await consumer.send_many(10)
    seen = await consumer.take(1)
    waits_s = []

    for _ in range(9):
        waiting = consumer.start_pop(count=1, poll_ms=HELD_MS)
        begun_s = time.monotonic()
        assert await consumer.ack(seen[-1]) == "OK"
        async with asyncio.timeout(PATIENCE_S):
            seen += popped(await waiting)
        waits_s.append(time.monotonic() - begun_s)

    # A busy machine stretches some waits. A POP that is not woken looks again after half a minute.
    assert min(waits_s) < AT_ONCE_S
    assert [one.body for one in seen] == [b"%02d" % number for number in range(10)]


@shows("PopOrderlyIT.testPopOrderlyThenNoAck")
async def an_ordered_batch_that_is_lost(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic, is_ordered=True)
    await consumer.send_many(10)

    found = await next_of(consumer, count=5, held_ms=SHORT_MS)
    again = await next_of(consumer, count=5)

    assert [(one.offset, one.reconsume_times) for one in found] == [(at, 0) for at in range(5)]
    assert [(one.offset, one.reconsume_times) for one in again] == [(at, 1) for at in range(5)]


@shows("PopOrderlyIT.testPopMessageOrderlyThenChangeInvisibleTime")
async def an_ordered_message_that_is_kept_longer(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic, is_ordered=True)
    await consumer.send_many(1)
    (found,) = await consumer.take(1, held_ms=LONGER_MS)
    begun_s = time.monotonic()
    await consumer.change(found, LONGER_MS)

    (again,) = await next_of(consumer)

    assert time.monotonic() - begun_s >= LONGER_MS / 1000 - CLOCKS_DIFFER_S
    assert (again.id, again.reconsume_times) == (found.id, 1)
    assert await consumer.ack(again) == "OK"


@shows(
    "PopOrderlyIT.testPopMessageOrderlyThenChangeInvisibleTimeMidMessage",
    "ChangeInvisibleTimeMidMsgOrderlyIT.test",
)
async def the_middle_of_an_ordered_batch(first: Asked, _second: Asked, topic: str) -> None:
    """Finish the first and the third message of a batch, and keep the second one for longer.

    RocketMQ delivers the third one again, although it is acknowledged.
    """
    consumer = await first.consumer(topic, is_ordered=True)
    await consumer.send_many(4)
    found = await next_of(consumer, count=3)
    assert offsets(found) == [0, 1, 2]

    assert await consumer.ack(found[0]) == "OK"
    await consumer.change(found[1], SHORT_MS)
    assert await consumer.ack(found[2]) == "OK"

    again = await next_of(consumer, count=3)
    assert offsets(again) == ([1, 2, 3] if first.is_stock else [1, 3])
    assert again[0].reconsume_times == 1


@shows("PopOrderlyIT.testReentrant")
async def an_attempt_that_is_repeated(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic, is_ordered=True)
    await consumer.send_many(1)
    (seen,) = await consumer.take(1)
    delivered = [seen.reconsume_times]

    for attempt in ("attempt-1", "attempt-2"):
        assert await consumer.is_blocked(attempt=attempt)
        await consumer.change(seen, 1)
        for _ in range(2):
            (seen,) = await next_of(consumer, attempt=attempt)
            delivered.append(seen.reconsume_times)
    await consumer.change(seen, 1)
    (seen,) = await next_of(consumer)
    delivered.append(seen.reconsume_times)

    assert delivered == [0, 1, 1, 2, 2, 3]


@shows("NotificationIT.testNotification")
async def a_question_for_messages(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic, queue_count=8)
    waiting = consumer.start_notification()
    await consumer.send(b"1")

    assert await waiting == {"hasMessage": True, "isFull": False}
    await consumer.take(1)

    assert await consumer.start_notification(poll_ms=POLL_MS) == {
        "hasMessage": False,
        "isFull": False,
    }


@shows("NotificationIT.testNotificationOrderly")
async def a_question_of_an_ordered_group(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic, queue_count=8, is_ordered=True)
    waiting = consumer.start_notification(attempt="attempt-1")
    await consumer.send(b"1")
    assert (await waiting)["hasMessage"]
    await consumer.take(1, attempt="attempt-1")

    told = {
        attempt: (await consumer.start_notification(poll_ms=POLL_MS, attempt=attempt))["hasMessage"]
        for attempt in ("attempt-1", "attempt-2")
    }

    # A POP of the first attempt would get its message again.
    assert told == {"attempt-1": True, "attempt-2": False}


PRIORITIES: Final = "PopPriorityIT"
PRIORITY_COUNT: Final = 8


async def _prioritized(first: Asked, topic: str, *priorities: int) -> Consumer:
    """Create a topic of priorities, and send messages; each of them names the first queue."""
    attributes = {"message.type": "PRIORITY"}
    consumer = await first.consumer(topic, queue_count=PRIORITY_COUNT, **attributes)
    for priority in priorities:
        properties = {} if priority < 0 else {PRIORITY: str(priority)}
        sent = await consumer.send(b"%d" % priority, properties=properties)
        assert sent["queueId"] == max(0, min(priority, PRIORITY_COUNT - 1))
    return consumer


@shows(f"{PRIORITIES}.test_normal_send", f"{PRIORITIES}.test_priority_send")
async def messages_with_and_without_a_priority(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await _prioritized(first, topic, -1, 0, 3, 7, 8, 99)

    found = await consumer.take(6)

    by_offset = sorted((one.queue_id, one.offset, one.body) for one in found)
    assert by_offset == [
        (0, 0, b"-1"),
        (0, 1, b"0"),
        (3, 0, b"3"),
        (7, 0, b"7"),
        (7, 1, b"8"),
        (7, 2, b"99"),
    ]


@shows(
    f"{PRIORITIES}.test_priority_consume_always_high_priority",
    f"{PRIORITIES}.test_priority_consume_from_high_to_low",
)
async def messages_of_the_highest_priority_first(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await _prioritized(first, topic, *range(PRIORITY_COUNT), *[7] * 3)

    found = [await next_of(consumer, count=1) for _ in range(11)]

    assert [one.body for (one,) in found] == [b"7"] * 4 + [
        b"%d" % priority for priority in reversed(range(PRIORITY_COUNT - 1))
    ]


@shows(f"{PRIORITIES}.test_priority_consume_disable")
async def a_group_that_has_no_priorities(first: Asked, _second: Asked, topic: str) -> None:
    priorities = [priority for priority in range(PRIORITY_COUNT) for _ in range(4)]
    consumer = await _prioritized(first, topic, *priorities)
    consumer.group = "without-priorities"
    await consumer.create_group({"+priority.factor": "0"})

    found = [await next_of(consumer, count=1) for _ in range(16)]

    # With priorities they would be of four queues.
    assert len({one.queue_id for (one,) in found}) > 4


RESETS: Final = "OffsetResetForPopIT"


@shows(
    f"{RESETS}.testResetOffsetAfterPop",
    f"{RESETS}.testResetOffsetAfterPopWhenOpenBufferAndWait",
)
async def a_reset_behind_a_pop(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic)
    await consumer.send_many(10)
    assert len(await consumer.take(10)) == 10

    await consumer.reset(4)

    assert sorted(offsets(await consumer.take(6))) == list(range(4, 10))
    assert await consumer.pop() == []


@shows(f"{RESETS}.testResetOffsetThenAckOldForPopOrderly")
async def former_handles_after_a_reset(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic, is_ordered=True)
    await consumer.send_many(10)
    former = await consumer.take(10)
    await consumer.reset(2)
    queue = {"consumerGroup": consumer.group, "topic": topic, "queueId": 0}
    told = await consumer.admin.call(RequestCode.QUERY_CONSUMER_OFFSET, queue)
    assert told.ext["offset"] == "2"

    present = await next_of(consumer)
    assert offsets(present) == list(range(2, 10))
    await consumer.send_many(1, start=10)
    for one in former:
        await consumer.ack(one)
    assert await consumer.is_blocked()

    assert [await consumer.ack(one) for one in present] == ["OK"] * 8
    assert offsets(await next_of(consumer)) == [10]


@shows(f"{RESETS}.testRestOffsetToSkipMsgForPopOrderly")
async def a_reset_before_the_first_pop(first: Asked, _second: Asked, topic: str) -> None:
    consumer = await first.consumer(topic, is_ordered=True)
    await consumer.send_many(10)
    await consumer.reset(4)

    found = await next_of(consumer)

    assert offsets(found) == list(range(4, 10))
    await consumer.send_many(1, start=10)
    assert await consumer.is_blocked()
    assert [await consumer.ack(one) for one in found] == ["OK"] * 6
    assert offsets(await next_of(consumer)) == [10]


async def _reset_while_popping(
    first: Asked,
    _second: Asked,
    topic: str,
    *,
    taken_count: int,
    resets: tuple[int, ...],
    is_ordered: bool,
    is_finished: bool = True,
) -> None:
    """Take messages one by one; reset the offset after some of them, and take the rest."""
    consumer = await first.consumer(topic, is_ordered=is_ordered)
    await consumer.send_many(10)
    expected = [*range(taken_count), *range(resets[-1], 10)]
    seen: list[int] = []

    while len(seen) < len(expected):
        (one,) = await next_of(consumer, count=1)
        seen.append(one.offset)
        if is_finished:
            assert await consumer.ack(one) == "OK"
        if len(seen) == taken_count:
            for offset in resets:
                await consumer.reset(offset)

    assert seen == expected
    assert await consumer.pop() == []


for at, (test, facts) in enumerate(
    {
        "testResetOffsetWhilePopWhenOpenBuffer": (8, (5,), False, False),
        "testResetOffsetWhilePopWhenOpenBufferAndAck": (8, (5,), False, True),
        "testMultipleResetOffsetWhilePopWhenOpenBufferAndAck": (8, (3, 5), False, True),
        "testResetFutureOffsetWhilePopWhenOpenBufferAndAck": (2, (8,), False, True),
        "testMultipleResetFutureOffsetWhilePopWhenOpenBufferAndAck": (2, (5, 8), False, True),
        "testResetFutureOffsetWhilePopOrderlyAndAck": (1, (5,), True, True),
        "testMultipleResetFutureOffsetWhilePopOrderlyAndAck": (1, (3, 5), True, True),
        "testResetOffsetWhilePopOrderlyAndAck": (5, (3,), True, True),
        "testMultipleResetOffsetWhilePopOrderlyAndAck": (5, (3, 1), True, True),
    }.items(),
    1,
):
    shows(f"{RESETS}.{test}", name=f"a_reset_while_popping_{at}")(
        partial(
            _reset_while_popping,
            taken_count=facts[0],
            resets=facts[1],
            is_ordered=facts[2],
            is_finished=facts[3],
        )
    )
