"""Read the store of a stopped broker, without the engine that wrote it (FORMAT.md 1-3, 8).

The log is read up to the last record; the length of the queues comes from the log.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

QUEUE_ENTRY_BYTES: Final = 20
NO_EPOCH: Final = -1
"""The epoch of a group without a controller; it holds the whole log."""

_MAGIC: Final = {0xDAA320A7: 1, 0xDAA320AB: 2}
_BLANK_MAGIC: Final = 0xCBD43194
_HEAD: Final = struct.Struct(">iI4xi4xqqi8x")
_BORN_V6, _STORE_V6 = 0x10, 0x20


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One message of the log."""

    position: int
    size: int
    topic: str
    queue: int
    offset: int
    body: bytes


@dataclass(frozen=True, slots=True)
class BrokerStore:
    """The data of one broker."""

    log: bytes
    """Up to the last record's end; the first byte is that of position 0."""

    records: tuple[LogRecord, ...]
    queues: dict[tuple[str, int], bytes]
    """The entries of each queue, up to the end of its files."""

    epochs: tuple[tuple[int, int], ...]
    """Number and first position of each."""


def read_store(root: Path) -> BrokerStore:
    """Read a store's files.

    Raises:
        ValueError: the files are not what a store is made of.
    """
    segments = sorted((root / "commitlog").glob("[0-9]*"))
    log = bytearray()
    for segment in segments:
        if int(segment.name) != len(log):
            raise ValueError(f"{segment} does not follow what is before it")
        log += segment.read_bytes()
    end, records = _read_records(bytes(log))
    folders = sorted((root / "consumequeue").glob("*/*"))
    return BrokerStore(
        log=bytes(log[:end]),
        records=tuple(records),
        queues={
            (folder.parent.name, int(folder.name)): b"".join(
                file.read_bytes() for file in sorted(folder.iterdir())
            )
            for folder in folders
        },
        epochs=tuple(_read_epochs(root / "epochFileCheckpoint")),
    )


def _read_records(log: bytes) -> tuple[int, list[LogRecord]]:
    records, position, end = [], 0, 0
    while position + 8 <= len(log):
        size, magic = struct.unpack_from(">iI", log, position)
        if magic == _BLANK_MAGIC and size > 0:
            position = end = position + size
            continue
        record = _read_record(log, position) if magic in _MAGIC else None
        if record is None:
            break
        records.append(record)
        position = end = position + size
    return end, records


def _read_record(log: bytes, position: int) -> LogRecord | None:
    size, magic, queue, offset, stored_at, flags = _HEAD.unpack_from(log, position)
    if stored_at != position or size <= 0 or position + size > len(log):
        return None
    at = position + _HEAD.size
    at += 20 if flags & _BORN_V6 else 8
    at += 8
    at += 20 if flags & _STORE_V6 else 8
    at += 4 + 8
    (body_size,) = struct.unpack_from(">i", log, at)
    body = log[at + 4 : at + 4 + body_size]
    at += 4 + body_size
    width = _MAGIC[magic]
    topic_size = int.from_bytes(log[at : at + width])
    topic = log[at + width : at + width + topic_size].decode()
    return LogRecord(position, size, topic, queue, offset, body)


def _read_epochs(path: Path) -> Iterator[tuple[int, int]]:
    if not path.exists():
        yield NO_EPOCH, 0
        return
    for line in path.read_text().splitlines()[2:]:
        epoch, _, start = line.partition("-")
        yield int(epoch), int(start)
