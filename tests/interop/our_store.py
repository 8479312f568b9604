"""Our store, filled with a separate script and read in the form of stock's contents."""

import random
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from regent_engine import (
    ReadResult,
    Record,
    Store,
    decode_records,
    encode_properties,
    offset_message_id,
)

from tests.interop.stock_store import (
    READ_COUNT_MAX,
    READ_FIELDS,
    Contents,
    Queue,
    Sizes,
    host,
)

LONG_TOPIC = "%RETRY%" + "another-long-group-" * 9
TOPICS = ("Orders", "Payments", LONG_TOPIC, "%RETRY%short")
DELAY_TOPIC = "SCHEDULE_TOPIC_XXXX"
TAGS = ("TagA", "标签-😀", "polygenelubricants-x", None)
HOSTS = ("10.1.2.3", "2001:db8::17", "192.168.255.254", "fe80::1")
QUEUE_COUNT = 4
BATCH_EVERY = 17
FOUND_COUNT_MAX = 64
ENTRY = struct.Struct(">qiq")
COMPRESSED, PREPARED, COMMIT, ROLLBACK = 0x1 | 0x200, 0x4, 0x8, 0xC
TRANSACTION_TYPES = {8: PREPARED, 9: COMMIT, 10: ROLLBACK}
FIELDS = (
    "topic",
    "queue_id",
    "queue_offset",
    "log_position",
    "size",
    "flag",
    "sys_flag",
    "born_timestamp_ms",
    "store_timestamp_ms",
    "reconsume_times",
    "prepared_transaction_offset",
    "body",
    "properties",
)
Key = tuple[str, int, int]
"""Topic, queue id, and a time or an offset."""


def open_store(directory: Path, sizes: Sizes, **options: Any) -> Store:
    return Store(
        str(directory),
        segment_size_bytes=sizes.segment,
        queue_file_size_bytes=sizes.queue_file,
        index_slot_count=sizes.slots,
        index_entry_count=sizes.indexes,
        crc_property="required" if sizes.has_crc else "off",
        **options,
    )


def fill(store: Store, *, seed: int, count: int) -> dict[int, dict[str, Any]]:
    """Append a script and return what was given, by the log position where it went."""
    chance = random.Random(seed)
    given: dict[int, dict[str, Any]] = {}
    for number in range(count):
        if number % BATCH_EVERY == 0:
            append_batch(store, number, chance)
            continue
        message = describe(number, chance)
        appended = store.append(
            **{**message, "properties": encode_properties(message["properties"])}
        )
        given[appended.log_position] = message
    return given


def describe(number: int, chance: random.Random) -> dict[str, Any]:
    topic, queue_id = TOPICS[number % len(TOPICS)], chance.randrange(QUEUE_COUNT)
    properties = properties_of(number, chance)
    if number % 13 == 5:
        level = chance.randrange(1, 20)
        properties |= {"REAL_TOPIC": topic, "REAL_QID": str(queue_id), "DELAY": str(level)}
        topic, queue_id = DELAY_TOPIC, level - 1
    transaction_type = TRANSACTION_TYPES.get(number % 29, 0)
    return {
        "topic": topic,
        "queue_id": queue_id,
        "body": body_of(number, chance),
        "properties": properties,
        "flag": chance.randrange(-(2**31), 2**31),
        "sys_flag": transaction_type | (COMPRESSED if number % 7 == 3 else 0),
        "born_timestamp_ms": 1_700_000_000_000 + number,
        "born_host": (chance.choice(HOSTS), chance.randrange(65_536)),
        "store_host": (chance.choice(HOSTS), chance.randrange(65_536)),
        "reconsume_times": number % 4,
        "prepared_transaction_offset": (
            number * 1_000_000_007 if transaction_type == COMMIT else 0
        ),
    }


def append_batch(store: Store, number: int, chance: random.Random) -> None:
    numbers = range(number, number + chance.randrange(2, 9))
    topic, queue_id = TOPICS[number % len(TOPICS)], chance.randrange(QUEUE_COUNT)
    bodies = [body_of(at, chance) for at in numbers]
    for at, body in zip(numbers, bodies, strict=True):
        store.append(topic, queue_id, body, encode_properties(properties_of(at, chance)))


def properties_of(number: int, chance: random.Random) -> dict[str, str]:
    properties = {}
    if (tag := chance.choice(TAGS)) is not None:
        properties["TAGS"] = tag
    if number % 5 != 1:
        properties["grüße"] = f"世界 {chance.random()}"
    if number % 3 != 2:
        properties["KEYS"] = f"key-{number} shared-{number % 10}"
        properties["UNIQ_KEY"] = f"{number:032X}"
    return properties


def body_of(number: int, chance: random.Random) -> bytes:
    sizes = {0: chance.randrange(9_000), 1: 0, 2: 1}
    return chance.randbytes(sizes.get(number % 23, chance.randrange(400)))


def contents(store: Store, like: Contents) -> Contents:
    """Read all of a store; `like` says which positions and times to ask for, no more."""
    queues = {
        (topic, queue_id): Queue(
            min_offset,
            max_offset,
            b"".join(
                ENTRY.pack(*entry)
                for entry in store.entries(topic, queue_id, min_offset, max_offset - min_offset)
            ),
        )
        for topic, queue_id, min_offset, max_offset in store.queues()
    }
    return Contents(
        records={position: store.record(position) or b"" for position in like.records},
        queues=queues,
        messages={
            (topic, queue_id, offset): fields_of(record)
            for (topic, queue_id), queue in queues.items()
            for offset, record in read_records(store, topic, queue_id, queue)
        },
        offsets_by_time={
            key: (store.offset_by_time(*key, "LOWER"), store.offset_by_time(*key, "UPPER"))
            for key in like.offsets_by_time
        },
        reads={key: answer_of(store.read(*key, count_max=READ_COUNT_MAX)) for key in like.reads},
        positions=(store.min_position, store.max_position),
    )


def look_ups(store: Store, like: Contents) -> dict[tuple[str, str, str], list[int]]:
    """Search the index for all keys that were searched for in `like`."""
    found = {
        (kind, topic, key): store.find_by_key(topic, key, kind=kind, count_max=FOUND_COUNT_MAX)
        for kind, topic, key in like.look_ups
    }
    return {wanted: [position for position, _ in hits] for wanted, hits in found.items()}


def read_records(
    store: Store, topic: str, queue_id: int, queue: Queue
) -> Iterator[tuple[int, Record]]:
    """Read a queue record by record, each with its first offset."""
    offset = queue.min_offset
    while offset < queue.max_offset:
        read = store.read(topic, queue_id, offset, count_max=1)
        (record,) = decode_records(read.body)
        yield offset, record
        offset = read.next_offset


def read_message(store: Store, topic: str, queue_id: int, offset: int) -> Record:
    (record,) = decode_records(store.read(topic, queue_id, offset, count_max=1).body)
    return record


def answer_of(read: ReadResult) -> dict[str, Any]:
    return {name: getattr(read, name) for name in READ_FIELDS}


def fields_of(record: Record) -> dict[str, Any]:
    return {
        **{name: getattr(record, name) for name in FIELDS},
        "born_host": host(*record.born_host),
        "store_host": host(*record.store_host),
        "message_id": offset_message_id(*record.store_host, record.log_position),
    }


def read(directory: Path, sizes: Sizes, like: Contents) -> Contents:
    """Open a store as its next broker would, read all of it and stop cleanly."""
    store = open_store(directory, sizes)
    try:
        return contents(store, like)
    finally:
        store.close()


def assert_same(ours: Contents, stock: Contents) -> None:
    """Fail unless both stores show the same log, queues, messages and times."""
    assert ours.positions == stock.positions
    assert ours.records == stock.records
    assert ours.queues == stock.queues
    for key, message in stock.messages.items():
        assert ours.messages[key] == message
    assert len(ours.messages) == len(stock.messages)
    assert differences(ours.offsets_by_time, stock.offsets_by_time) == []
    assert differences(ours.reads, stock.reads) == []


def differences(ours: Mapping[Key, Any], stock: Mapping[Key, Any]) -> list[tuple[Key, Any, Any]]:
    """List the keys for which both stores do not answer the same, with both answers."""
    return [
        (key, ours.get(key), stock.get(key))
        for key in sorted({*ours, *stock})
        if ours.get(key) != stock.get(key)
    ]
