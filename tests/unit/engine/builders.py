"""Build stores, hot paths and send requests that are valid by default."""

import struct
from collections.abc import Mapping
from pathlib import Path

from regent_engine import (
    Connection,
    Decoder,
    HotPath,
    Record,
    Store,
    decode_records,
    encode_command,
    encode_properties,
)

from backend.remoting.names import HALF_OPERATION_TOPIC, HALF_TOPIC

NOW_MS = 1_758_000_000_000
PEER = ("10.0.0.5", 50_000)
BROKER_HOST = ("10.0.0.1", 10_911)
SEGMENT_BYTES = 1 << 20
UNIQUE_KEY = "7F0000010A2B18B4AAC2000000010000"


def open_store(path: Path, *, flush_mode: str = "async") -> Store:
    return Store(
        str(path),
        segment_size_bytes=SEGMENT_BYTES,
        queue_file_size_bytes=20_000,
        flush_mode=flush_mode,
        message_body_size_max=100_000,
        store_host=BROKER_HOST,
    )


def hot_path(
    store: Store,
    *,
    region: str = "DefaultRegion",
    trace_on: bool = True,
    store_host: tuple[str, int] = BROKER_HOST,
) -> HotPath:
    hot = HotPath(
        store,
        broker_name="broker-a",
        cluster_name="cluster-1",
        store_host=store_host,
        region=region,
        trace_on=trace_on,
    )
    hot.set_topic("Orders", perm=6, read_queue_count=4, write_queue_count=4)
    return hot


def transactional(store: Store, *, store_host: tuple[str, int] = BROKER_HOST) -> HotPath:
    """Build a hot path of a master that takes transactions, and knows that none is pending."""
    hot = hot_path(store, store_host=store_host)
    for name in (HALF_TOPIC, HALF_OPERATION_TOPIC):
        hot.set_topic(name, perm=6, read_queue_count=1, write_queue_count=1)
    hot.take_transactions(6000)
    hot.transactions.load([], [])
    return hot


def connect(store: Store) -> Connection:
    return Connection(hot_path(store), PEER)


SHORT_KEYS = {
    "producerGroup": "a",
    "topic": "b",
    "defaultTopic": "c",
    "defaultTopicQueueNums": "d",
    "queueId": "e",
    "sysFlag": "f",
    "bornTimestamp": "g",
    "flag": "h",
    "properties": "i",
    "reconsumeTimes": "j",
    "unitMode": "k",
    "maxReconsumeTimes": "l",
    "batch": "m",
    "brokerName": "n",
}


def send(
    body: bytes = b"hello",
    *,
    code: int = 310,
    opaque: int = 12,
    is_oneway: bool = False,
    encoding: str = "json",
    properties: Mapping[str, str] | bytes | None = None,
    without: str | None = None,
    **fields: object,
) -> bytes:
    """Encode a send; `fields` replace header fields by their long names."""
    if properties is None:
        properties = {"UNIQ_KEY": UNIQUE_KEY, "WAIT": "true", "TAGS": "TagA"}
    encoded = properties if isinstance(properties, bytes) else encode_properties(properties)
    header: dict[str, object] = {
        "producerGroup": "pg",
        "topic": "Orders",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "queueId": 2,
        "sysFlag": 0,
        "bornTimestamp": NOW_MS - 5,
        "flag": 7,
        "properties": encoded.decode("utf-8"),
        "reconsumeTimes": 0,
        "unitMode": "false",
        "batch": "false",
        **fields,
    }
    header.pop(without or "", None)
    names = {name: name for name in header} if code == 10 else SHORT_KEYS
    return encode_command(
        code=code,
        opaque=opaque,
        flag=2 if is_oneway else 0,
        language="JAVA",
        version=479,
        ext={names[name]: str(value) for name, value in header.items()},
        body=body,
        encoding=encoding,
    )


def packed(messages: list[tuple[bytes, Mapping[str, str]]], *, flag: int = 0) -> bytes:
    """Pack a batch body (remoting.md 4.7)."""
    out = bytearray()
    for body, properties in messages:
        encoded = encode_properties(properties)
        entry = struct.pack(">iiii", 0, 0, flag, len(body)) + body
        entry += struct.pack(">h", len(encoded)) + encoded
        out += struct.pack(">i", len(entry) + 4) + entry
    return bytes(out)


def stored(store: Store, queue_id: int, topic: str = "Orders") -> list[Record]:
    return decode_records(store.read(topic, queue_id, 0, count_max=1000, bytes_max=1 << 24).body)


def answers(replies: bytes) -> list[tuple[int, int, dict[str, str]]]:
    """Decode answers as (opaque, code, ext)."""
    return [(c.opaque, c.code, c.ext) for c in Decoder().receive(replies)]
