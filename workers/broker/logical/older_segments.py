"""Answer pulls within older segments of a logical queue, at its leader (logical-queues.md 13.3).

A segment here is read; a segment of another broker group is read there. The leader decides when a
reader goes on to the next segment (logical-queues.md 9.6).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from regent_engine import Command, encode_pull_answer

from backend.domain.logical_queue.lookup import Located, next_segment, physical_bound
from backend.domain.logical_queue.reading import PullCode, decide_pull
from backend.domain.logical_queue.segment import QueueBounds
from backend.remoting.bodies import SubscriptionData
from backend.remoting.headers import PullMessageHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.commit_log.message_filters import PASS_ALL, MessageFilter
from workers.broker.logical.led_queue import LedQueue
from workers.broker.logical.old_clients import adds_delta, with_logical_places
from workers.broker.logical.positions import end_of
from workers.broker.logical.segments import ask_owner, bounds_here, is_here

if TYPE_CHECKING:
    from workers.broker.broker import Broker

IDLE_S: Final = 1.0
"""The time between two reports of the owner of an open segment: its dispatcher was idle then."""

PULL_CODES: Final = {
    PullCode.WAIT: ResponseCode.PULL_NOT_FOUND,
    PullCode.RETRY_IMMEDIATELY: ResponseCode.PULL_RETRY_IMMEDIATELY,
    PullCode.OFFSET_MOVED: ResponseCode.PULL_OFFSET_MOVED,
}
READ_SIZE_MAX_BYTES: Final = 256 << 10
CARRIES_SUBSCRIPTION: Final = 4
"""The bit of `sysFlag` of a pull with its own filter (remoting.md 2.3)."""

_EMPTY_CODES: Final = frozenset(
    map(
        int,
        (
            ResponseCode.PULL_NOT_FOUND,
            ResponseCode.PULL_RETRY_IMMEDIATELY,
            ResponseCode.PULL_OFFSET_MOVED,
        ),
    )
)


@dataclass(frozen=True, slots=True)
class SegmentRead:
    """What a read of a segment found; offsets are physical, also the next one of the reader."""

    bounds: QueueBounds
    next_offset: int
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class SegmentReader:
    """Reads one segment for a consumer group, here or at the broker group that stores it."""

    broker: "Broker"
    led: LedQueue
    located: Located
    group: str
    passing: MessageFilter
    filter_fields: Mapping[str, str]
    """The same filter, as the fields of a pull."""

    count_max: int
    bytes_max: int

    async def read(self) -> SegmentRead | None:
        """Read the segment; None if the reader is at its end, or beyond.

        Raises:
            Refusal: the broker group of the segment does not answer.
        """
        offset = self.located.physical_offset
        bound = physical_bound(self.led.queue, self.located.segment)
        if bound is None:
            return await self._read_queue(self.count_max)
        if offset >= bound:
            return None
        read = await self._read_queue(min(self.count_max, bound - offset))
        if read.next_offset > bound:
            # A filter skipped messages, and the queue has more than the segment.
            read = await self._read_queue(1)
        if read.next_offset > bound:
            return SegmentRead(read.bounds, bound)
        return read

    def decide(
        self, read: SegmentRead | None, *, earlier: QueueBounds | None = None
    ) -> tuple[ResponseCode, int]:
        """Return the code of the answer, and the logical offset where the reader goes on."""
        segment, offset = self.located.segment, self.located.physical_offset
        if read is None:
            following = next_segment(self.led.queue, segment)
            start = segment.logical_end if following is None else following.logical_start
            return ResponseCode.PULL_RETRY_IMMEDIATELY, start
        if read.body:
            return ResponseCode.SUCCESS, segment.to_logical_strict(read.next_offset)
        if read.next_offset > offset:
            # No message passed the filter so far.
            return ResponseCode.PULL_RETRY_IMMEDIATELY, segment.to_logical_strict(read.next_offset)
        expired = {segment.generation} if read.bounds.is_empty else ()
        decision = decide_pull(
            self.led.queue, self.located, read.bounds, earlier=earlier, expired=expired
        )
        # A message came since the read: the reader asks again.
        code = PULL_CODES.get(decision.code, ResponseCode.PULL_RETRY_IMMEDIATELY)
        return code, decision.next_offset

    def as_logical(self, read: SegmentRead) -> bytes:
        """Return the records of a read with logical ids and offsets."""
        return with_logical_places(read.body, self.led.queue.global_id, self.located.segment.delta)

    async def _read_queue(self, count: int) -> SegmentRead:
        """Read the physical queue, not beyond so many messages that pass the filter."""
        is_own = is_here(self.broker, self.located.segment)
        return await (self._read_here(count) if is_own else self._read_there(count))

    async def _read_here(self, count: int) -> SegmentRead:
        offset = self.located.physical_offset
        bounds = bounds_here(self.broker, self.led.topic_name, self.located.segment)
        if not bounds.min_offset <= offset < bounds.max_offset:
            return SegmentRead(bounds, offset)
        find = partial(
            self.broker.store.read,
            self.led.topic_name,
            self.located.segment.queue_id,
            offset,
            count,
            self.bytes_max,
            self.passing.tag_hashes,
            self.passing.properties,
        )
        result = await self.broker.read_threads.read(find)
        body = result.body if result.status == "FOUND" else b""
        self.broker.meters.pulled(
            self.group,
            self.led.topic_name,
            messages=result.count if body else 0,
            size_bytes=len(body),
            pulls=1 if body else 0,
            missed=0 if body else 1,
        )
        bounds = QueueBounds(result.min_offset, result.max_offset)
        return SegmentRead(bounds, result.next_offset, body)

    async def _read_there(self, count: int) -> SegmentRead:
        reply = await ask_owner(
            self.broker,
            self.led.topic_name,
            self.located.segment,
            RequestCode.PULL_MESSAGE,
            self._forwarded(count),
            none=_EMPTY_CODES,
        )
        bounds = QueueBounds(int(reply.ext["minOffset"]), int(reply.ext["maxOffset"]))
        if reply.code == ResponseCode.PULL_OFFSET_MOVED:
            return SegmentRead(bounds, self.located.physical_offset)
        body = reply.body if reply.code == ResponseCode.SUCCESS else b""
        return SegmentRead(bounds, int(reply.ext["nextBeginOffset"]), body)

    def _forwarded(self, count: int) -> dict[str, str]:
        """Return the fields of the pull: it carries the filter, neither waits nor commits."""
        return {
            "consumerGroup": self.group,
            "queueOffset": str(self.located.physical_offset),
            "maxMsgNums": str(count),
            "sysFlag": str(CARRIES_SUBSCRIPTION),
            "commitOffset": "0",
            "suspendTimeoutMillis": "0",
            **self.filter_fields,
        }


def reader_of_all(
    broker: "Broker", led: LedQueue, group: str, logical_offset: int, *, count_max: int
) -> SegmentReader:
    """Return a reader of all messages from an offset on, whatever a group subscribes to."""
    fields = {"subscription": "*", "subVersion": "0", "expressionType": "TAG"}
    located = led.locate(logical_offset)
    return SegmentReader(
        broker, led, located, group, PASS_ALL, fields, count_max, READ_SIZE_MAX_BYTES
    )


def filter_fields(header: PullMessageHeader, known: SubscriptionData | None) -> Mapping[str, str]:
    """Return the filter of a pull, as the fields of one that carries its own.

    It is the subscription of the group; None if the pull carries its filter.
    """
    expression = header.subscription if known is None else known.expression
    expression_type = header.expression_type if known is None else known.expression_type
    return {
        "subscription": expression or "*",
        "subVersion": str(header.subscription_version),
        "expressionType": expression_type or "TAG",
    }


@dataclass(frozen=True, slots=True)
class OlderPull:
    """One pull within an older segment; it passed every check."""

    command: Command
    reader: SegmentReader
    may_wait: bool

    async def answer(self) -> tuple[bytes, bytes]:
        """Return the head and the body of the answer.

        Raises:
            Refusal: the broker group of the segment does not answer.
        """
        read = await self.reader.read()
        if read is not None and self._is_at_open_end(read) and self.may_wait:
            earlier = read.bounds
            await asyncio.sleep(IDLE_S)
            read = await self.reader.read()
            return self._encode(read, earlier=earlier)
        return self._encode(read)

    def _is_at_open_end(self, read: SegmentRead) -> bool:
        return self.reader.decide(read)[0] == ResponseCode.PULL_NOT_FOUND

    def _encode(
        self, read: SegmentRead | None, *, earlier: QueueBounds | None = None
    ) -> tuple[bytes, bytes]:
        reader = self.reader
        segment = reader.located.segment
        code, next_offset = reader.decide(read, earlier=earlier)
        bounds = read.bounds if read is not None else QueueBounds(0, segment.physical_end)
        body = b"" if read is None else read.body
        if read is not None and body and not adds_delta(self.command):
            body = reader.as_logical(read)
        head = encode_pull_answer(
            self.command,
            code,
            suggested_broker_id=0,
            next_offset=next_offset,
            min_offset=segment.to_logical_strict(bounds.min_offset),
            max_offset=max(
                segment.to_logical_strict(bounds.max_offset), end_of(reader.broker, reader.led)
            ),
            offset_delta=segment.delta,
            body_size=len(body),
        )
        return head, body
