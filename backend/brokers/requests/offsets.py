"""Ask brokers for the offsets of consumer groups and queues, and set the groups' offsets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from backend.brokers.asking import Brokers, Inquiry, Request
from backend.brokers.change import Change
from backend.brokers.errors import BrokerRefused, UnexpectedAnswer
from backend.brokers.requests.topics import GetTopicEnds, QueueEnds
from backend.domain.queue_reading import QueueProgress
from backend.remoting import bodies, java_json
from backend.remoting.bodies.base import Body, decode_queue_table
from backend.remoting.command import Command
from backend.remoting.headers import (
    ConsumeStatsHeader,
    ConsumeTimeSpanHeader,
    QueryConsumerOffsetHeader,
    QueueHeader,
    ResetOffsetHeader,
    SearchOffsetHeader,
    UpdateConsumerOffsetHeader,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

# Stock reports the age of an expired message as if it were stored in 1970.
EXPIRED_MS_MIN: Final = 20 * 365 * 24 * 60 * 60 * 1_000


@dataclass(frozen=True, slots=True)
class GetGroupsWithOffsets(Request[list[str]]):
    """Ask a broker for the consumer groups with a committed offset."""

    code = RequestCode.GET_ALL_CONSUMER_OFFSET

    def read(self, response: Command) -> list[str]:
        table = java_json.decode(response.body, _OffsetTable).offsets
        # A key is topic@group, and neither part contains the mark.
        return sorted({key.rpartition("@")[2] for key in table})


@dataclass(frozen=True, slots=True)
class _GetConsumeStats(Request[list[QueueProgress]]):
    code = RequestCode.GET_CONSUME_STATS

    consumer_group: str
    topic: str | None

    @property
    def header(self) -> ConsumeStatsHeader:
        # The broker uses the given topics, even if the group's members subscribe to others.
        return ConsumeStatsHeader(consumer_group=self.consumer_group, topic_list=self.topic)

    def read(self, response: Command) -> list[QueueProgress]:
        return [
            QueueProgress(
                queue.topic,
                queue.queue_id,
                max(0, progress.consumer_offset),
                progress.broker_offset,
                progress.last_timestamp_ms if progress.last_timestamp_ms > 0 else None,
                None if progress.min_offset < 0 else progress.min_offset,
            )
            for queue, progress in decode_queue_table(response.body, bodies.QueueProgress)
        ]


@dataclass(frozen=True, slots=True)
class GetProgress(Inquiry[list[QueueProgress]]):
    """Ask a broker for a group's offsets in one topic, or in all topics.

    For a group with a lag, a stock broker is also asked for the first offset of each queue. If it
    refuses that for a topic, the lags there are unknown: they may include expired messages.
    """

    consumer_group: str
    topic: str | None = None

    async def put(self, brokers: Brokers, address: str) -> list[QueueProgress]:
        progress = await brokers.ask(address, _GetConsumeStats(self.consumer_group, self.topic))
        asked = {one.topic for one in progress if one.begin is None and one.committed < one.end}
        ends: dict[str, dict[int, QueueEnds]] = {}
        for topic in sorted(asked):
            try:
                ends[topic] = await brokers.ask(address, GetTopicEnds(topic))
            except BrokerRefused:
                continue
        return [
            replace(one, begin=ends[one.topic][one.queue_id].low)
            if one.begin is None and one.queue_id in ends.get(one.topic, {})
            else one
            for one in progress
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class GetWaitingTimes(Request[dict[int, int | None]]):
    """Ask a broker how long the oldest message has waited for a group, by queue, in ms.

    0 means that no message waits, `None` that the broker does not know. If the next message was
    deleted before the group read it, the age is that of the oldest remaining message, by our clock.
    """

    code = RequestCode.QUERY_CONSUME_TIME_SPAN

    consumer_group: str
    topic: str
    now_ms: int

    @property
    def header(self) -> ConsumeTimeSpanHeader:
        return ConsumeTimeSpanHeader(topic=self.topic, group=self.consumer_group)

    def read(self, response: Command) -> dict[int, int | None]:
        progress = java_json.decode(response.body, bodies.QueueTimeSpans)
        return {one.queue.queue_id: _waiting_ms(one, self.now_ms) for one in progress.spans}


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMaxOffset(Request[int]):
    """Ask a broker for the end of a queue; it answers only while it serves its group."""

    code = RequestCode.GET_MAX_OFFSET
    header_type = QueueHeader

    topic: str
    queue_id: int

    def read(self, response: Command) -> int:
        return _offset(response)


@dataclass(frozen=True, slots=True, kw_only=True)
class _GetMinOffset(Request[int]):
    code = RequestCode.GET_MIN_OFFSET
    header_type = QueueHeader

    topic: str
    queue_id: int

    def read(self, response: Command) -> int:
        return _offset(response)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetLogicalEnds(Inquiry[dict[int, QueueEnds]]):
    """Ask a broker for the logical offsets of queues that it leads, by global id."""

    topic: str
    global_ids: Sequence[int]

    async def put(self, brokers: Brokers, address: str) -> dict[int, QueueEnds]:
        ids, topic = self.global_ids, self.topic
        lows = {one: _GetMinOffset(topic=topic, queue_id=one) for one in ids}
        highs = {one: GetMaxOffset(topic=topic, queue_id=one) for one in ids}
        low, high = await brokers.ask_each(address, lows), await brokers.ask_each(address, highs)
        return {one: QueueEnds(low[one], high[one]) for one in ids}


@dataclass(frozen=True, slots=True, kw_only=True)
class _GetCommittedOffset(Request[int | None]):
    code = RequestCode.QUERY_CONSUMER_OFFSET
    absence = ResponseCode.QUERY_NOT_FOUND

    consumer_group: str
    topic: str
    queue_id: int
    is_logical: bool | None

    @property
    def header(self) -> QueryConsumerOffsetHeader:
        return QueryConsumerOffsetHeader(
            consumer_group=self.consumer_group,
            topic=self.topic,
            queue_id=self.queue_id,
            set_zero_if_not_found=False,
            is_logical=self.is_logical,
        )

    def read(self, response: Command) -> int:
        return _offset(response)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetCommittedOffsets(Inquiry[dict[int, int | None]]):
    """Ask a broker for a group's committed offsets; None for a queue without one.

    With `is_logical=False` ids and offsets of a static topic are physical.
    """

    consumer_group: str
    topic: str
    queue_ids: Sequence[int]
    is_logical: bool | None = None

    async def put(self, brokers: Brokers, address: str) -> dict[int, int | None]:
        group, topic = self.consumer_group, self.topic
        asked = {
            one: _GetCommittedOffset(
                consumer_group=group, topic=topic, queue_id=one, is_logical=self.is_logical
            )
            for one in self.queue_ids
        }
        return await brokers.ask_each(address, asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class _GetOffsetAt(Request[int]):
    code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
    header_type = SearchOffsetHeader

    topic: str
    queue_id: int
    timestamp_ms: int

    def read(self, response: Command) -> int:
        return _offset(response)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetOffsetsAt(Inquiry[dict[int, int]]):
    """Ask a broker for the first messages of queues at or after a time."""

    topic: str
    queue_ids: Sequence[int]
    timestamp_ms: int

    async def put(self, brokers: Brokers, address: str) -> dict[int, int]:
        topic, at_ms = self.topic, self.timestamp_ms
        asked = {
            one: _GetOffsetAt(topic=topic, queue_id=one, timestamp_ms=at_ms)
            for one in self.queue_ids
        }
        return await brokers.ask_each(address, asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetConsumerOffset(Change):
    """Set the offset of a group and its connected consumers in a queue."""

    code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET

    consumer_group: str
    topic: str
    queue_id: int
    offset: int

    @property
    def header(self) -> ResetOffsetHeader:
        return ResetOffsetHeader(
            group=self.consumer_group,
            topic=self.topic,
            timestamp_ms=-1,
            is_forced=True,
            queue_id=self.queue_id,
            offset=self.offset,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConsumerOffset(Change):
    """Commit an offset for a group without connected consumers.

    With `is_logical=False` id and offset of a static topic are physical.
    """

    code = RequestCode.UPDATE_CONSUMER_OFFSET

    consumer_group: str
    topic: str
    queue_id: int
    offset: int
    is_logical: bool | None = None

    @property
    def header(self) -> UpdateConsumerOffsetHeader:
        return UpdateConsumerOffsetHeader(
            consumer_group=self.consumer_group,
            topic=self.topic,
            queue_id=self.queue_id,
            commit_offset=self.offset,
            is_logical=self.is_logical,
        )


class _OffsetTable(Body, frozen=True, kw_only=True):
    offsets: dict[str, dict[str, int]] = msgspec.field(name="offsetTable", default_factory=dict)


def _offset(response: Command) -> int:
    text = response.ext.get("offset", "")
    try:
        return int(text)
    except ValueError as error:
        raise UnexpectedAnswer(f"{text[:30]!r} is no offset") from error


def _waiting_ms(span: bodies.QueueTimeSpan, now_ms: int) -> int | None:
    if 0 <= span.delay_ms < EXPIRED_MS_MIN:
        return span.delay_ms
    return max(0, now_ms - span.min_timestamp_ms) if span.min_timestamp_ms > 0 else None
