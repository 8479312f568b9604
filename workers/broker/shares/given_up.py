"""Copy a message that its consumers can't process, to a dead letter or for a later delivery."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from regent_engine import ProtocolError, Record, Store, decode_records, offset_message_id

from backend.remoting.names import SCHEDULE_TOPIC, TIMER_TOPIC, dead_letter_topic
from backend.rules.topic import DEAD_LETTER_PREFIX, RETRY_PREFIX
from workers.broker.commit_log.message import (
    COPY_KEY,
    DELAY,
    DELIVER_AT_MS,
    ORIGIN_MESSAGE_ID,
    RETRY_TOPIC,
    Message,
)
from workers.broker.logical.led_queue import find_led
from workers.broker.logical.older_segments import reader_of_all

if TYPE_CHECKING:
    from workers.broker.broker import Broker

REJECT_POLICY: Final = "rejectPolicy"
"""The attribute of a group that says what becomes of messages that it gives up."""

DISCARD: Final = "DISCARD"

_RECONSUME_TIMES_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class CopyKey:
    """Which message of which share queue a copy is of."""

    topic: str
    queue_id: int
    group: str
    offset: int

    @property
    def text(self) -> str:
        """Return the value of the property; names contain no spaces."""
        return f"{self.topic} {self.queue_id} {self.group} {self.offset}"

    @property
    def share(self) -> tuple[str, int, str]:
        """Return the name of the share queue: topic, queue and consumer group."""
        return self.topic, self.queue_id, self.group

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read the value of the property; None if another program wrote it."""
        words = text.split(" ")
        if len(words) != len(cls.__slots__) or not (words[1] + words[3]).isdecimal():
            return None
        return cls(words[0], int(words[1]), words[2], int(words[3]))


async def read_at(
    broker: "Broker", topic: str, queue_id: int, group: str, offset: int
) -> Record | None:
    """Read the message at a queue offset; None if retention has deleted it.

    In a static topic the queue is the logical one, and the message may be stored elsewhere.

    Raises:
        Refusal: the broker group that stores the message does not answer.
    """
    led = find_led(broker, {}, topic, queue_id)
    if led is not None:
        reader = reader_of_all(broker, led, group, offset, count_max=1)
        found = await reader.read()
        return None if found is None else _first(reader.as_logical(found), offset)
    entries = broker.store.entries(topic, queue_id, offset, 1)
    if not entries:
        return None
    read = partial(broker.store.record, entries[0][0])
    content = await broker.read_threads.read(read)
    return _first(content or b"", offset)


def _first(content: bytes, offset: int) -> Record | None:
    try:
        records = decode_records(content)
    except ProtocolError:
        return None
    return records[0] if records and records[0].queue_offset == offset else None


def dead_letter(group: str, record: Record, *, count: int) -> Message:
    """Describe the dead letter of a message that was delivered so many times.

    As in each copy, its properties are those that it has besides the ones of its message.
    """
    return _copy(dead_letter_topic(group), group, record, {DELAY: "0"}, count=count)


def retried(topic: str, group: str, record: Record, *, count: int, deliver_at_ms: int) -> Message:
    """Describe the copy of a message that its retry topic delivers at a time."""
    return _copy(topic, group, record, {DELIVER_AT_MS: str(deliver_at_ms)}, count=count)


def _copy(
    topic: str, group: str, record: Record, properties: dict[str, str], *, count: int
) -> Message:
    first_id = offset_message_id(*record.store_host, record.log_position)
    origin = {RETRY_TOPIC: record.topic, ORIGIN_MESSAGE_ID: first_id}
    new = {name: value for name, value in origin.items() if name not in record.properties}
    key = CopyKey(record.topic, record.queue_id, group, record.queue_offset)
    return Message(
        topic=topic,
        queue_id=0,
        body=record.body,
        properties=new | properties | {COPY_KEY: key.text},
        flag=record.flag,
        sys_flag=record.sys_flag,
        born_timestamp_ms=record.born_timestamp_ms,
        born_host=record.born_host,
        reconsume_times=min(record.reconsume_times + count, _RECONSUME_TIMES_MAX),
    )


def copy_places(topics: Iterable[str], delay_level_count: int) -> list[tuple[str, int]]:
    """Return the queues that copies are stored in, each as a topic and a queue id."""
    prefixes = (DEAD_LETTER_PREFIX, RETRY_PREFIX)
    levels = [(SCHEDULE_TOPIC, level) for level in range(delay_level_count)]
    return [*((one, 0) for one in topics if one.startswith(prefixes)), *levels, (TIMER_TOPIC, 0)]


def torn_copies(
    store: Store, places: Iterable[tuple[str, int]], lane_end: int
) -> Iterator[tuple[CopyKey, str]]:
    """Yield the keys of copies whose messages a crash has not ended, with the topics of the copies.

    A copy and the end of its message are one unit of the log, and a crash may keep only the copy.
    Then it is the last message of its queue, behind all records of the lane.
    """
    for topic, queue_id in places:
        _, end = store.held_offsets(topic, queue_id) or (0, 0)
        for position, _, _ in store.held_entries(topic, queue_id, end - 1, 1) if end else ():
            content = store.held_record(position) if position >= lane_end else None
            records = decode_records(content) if content else []
            text = records[0].properties.get(COPY_KEY) if records else None
            if text is not None and (key := CopyKey.parse(text)) is not None:
                yield key, topic
