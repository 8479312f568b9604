"""Ask brokers how far consumer groups are and where they could go on, and send them there."""

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

# Stock tells the age of a message that has expired as if it were of 1970.
EXPIRED_MS_MIN: Final = 20 * 365 * 24 * 60 * 60 * 1_000


@dataclass(frozen=True, slots=True)
class GetGroupsWithOffsets(Request[list[str]]):
    """Ask a broker which consumer groups have committed an offset there."""

    code = RequestCode.GET_ALL_CONSUMER_OFFSET

    def read(self, response: Command) -> list[str]:
        table = java_json.decode(response.body, _OffsetTable).offsets
        # A key is topic@group, and neither holds the mark.
        return sorted({key.rpartition("@")[2] for key in table})


@dataclass(frozen=True, slots=True)
class _GetConsumeStats(Request[list[QueueProgress]]):
    code = RequestCode.GET_CONSUME_STATS

    consumer_group: str
    topic: str | None

    @property
    def header(self) -> ConsumeStatsHeader:
        # A list is taken as it is, also of a group whose members subscribe to something else.
        return ConsumeStatsHeader(consumer_group=self.consumer_group, topic_list=self.topic)

    def read(self, response: Command) -> list[QueueProgress]:
        return [
            QueueProgress(
                queue.topic,
                queue.queue_id,
                progress.consumer_offset,
                progress.broker_offset,
                progress.last_timestamp_ms if progress.last_timestamp_ms > 0 else None,
                None if progress.min_offset < 0 else progress.min_offset,
            )
            for queue, progress in decode_queue_table(response.body, bodies.QueueProgress)
        ]


@dataclass(frozen=True, slots=True)
class GetProgress(Inquiry[list[QueueProgress]]):
    """Ask a broker how far a group is in a topic, or in all that it has offsets for.

    A stock broker is also asked where the queues begin that the group is behind in. One that
    refuses that for a topic leaves the lags there unknown: they may be of messages that expired.
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
    """Ask a broker how long the oldest message waits for a group, by queue, in ms.

    0 is where none waits, `None` where the broker does not know. The age of a message that was
    deleted before the group came is that of the oldest that is left, by our clock.
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
    """Ask a broker where a queue ends, which it says only while it serves its group."""

    code = RequestCode.GET_MAX_OFFSET
    header_type = QueueHeader

    topic: str
    queue_id: int

    def read(self, response: Command) -> int:
        return _offset(response)


@dataclass(frozen=True, slots=True, kw_only=True)
class _GetCommittedOffset(Request[int | None]):
    code = RequestCode.QUERY_CONSUMER_OFFSET
    absence = ResponseCode.QUERY_NOT_FOUND

    consumer_group: str
    topic: str
    queue_id: int

    @property
    def header(self) -> QueryConsumerOffsetHeader:
        return QueryConsumerOffsetHeader(
            consumer_group=self.consumer_group,
            topic=self.topic,
            queue_id=self.queue_id,
            set_zero_if_not_found=False,
        )

    def read(self, response: Command) -> int:
        return _offset(response)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetCommittedOffsets(Inquiry[dict[int, int | None]]):
    """Ask a broker where a group goes on in queues; None is where it never committed."""

    consumer_group: str
    topic: str
    queue_ids: Sequence[int]

    async def put(self, brokers: Brokers, address: str) -> dict[int, int | None]:
        group, topic = self.consumer_group, self.topic
        asked = {
            one: _GetCommittedOffset(consumer_group=group, topic=topic, queue_id=one)
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
    """Ask a broker for the first messages of queues at a moment or after it."""

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
    """Have a group and its connected consumers go on in a queue from an offset."""

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
    """Commit an offset in the place of a group that has no consumer connected."""

    code = RequestCode.UPDATE_CONSUMER_OFFSET

    consumer_group: str
    topic: str
    queue_id: int
    offset: int

    @property
    def header(self) -> UpdateConsumerOffsetHeader:
        return UpdateConsumerOffsetHeader(
            consumer_group=self.consumer_group,
            topic=self.topic,
            queue_id=self.queue_id,
            commit_offset=self.offset,
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
