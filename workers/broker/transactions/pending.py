"""Read from the log which half messages are pending: neither committed nor rolled back.

The log has all facts (Q62). A new master reads the queues of half messages and of op records from
the recorded progress on. From then on the table of the engine has each half message and each
decision.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from regent_engine import Pending, ProtocolError, Record, StoreError, decode_records

from backend.remoting.names import HALF_OPERATION_TOPIC, HALF_TOPIC
from workers.broker.commit_log.message import UNIQUE_KEY
from workers.broker.transactions.half_message import (
    QUEUE_ID,
    decided_offsets,
    first_offset_of,
    immunity_ms_of,
)

BATCH_COUNT: Final = 1024

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Progress:
    """Queue offsets: half messages and op records before them are not needed any more."""

    half_offset: int
    operation_offset: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a log says, as the table of the engine takes it."""

    pending: list[tuple[int, Pending]]
    """The newest record of each half message, with the queue offset of its first record."""

    operations: list[tuple[int, int]]
    """The queue offsets of op records, and of the half message that each names."""


class TransactionStore(Protocol):
    """The operations of a store that are needed to find what is pending."""

    def held_offsets(self, topic: str, queue_id: int) -> tuple[int, int] | None:
        """Return the first and the end offset of a queue."""

    def held_entries(
        self, topic: str, queue_id: int, offset: int, count: int
    ) -> list[tuple[int, int, int]]:
        """List log position, size and tags code of messages of a queue."""

    def held_record(self, log_position: int) -> bytes | None:
        """Return a record."""

    def copied_positions(self, topic: str, log_position: int) -> list[int]:
        """List the positions of messages of a topic that later records copy."""


def load_pending(store: TransactionStore, since: Progress, *, timeout_ms: int) -> Loaded:
    """Read from the log which half messages are pending; on any thread.

    Raises:
        StoreError: the log can't be read.
    """
    decided = _decided_since(store, since.operation_offset)
    entries = list(_entries(store, HALF_TOPIC, since.half_offset))
    copied = set(store.copied_positions(HALF_TOPIC, entries[0][1])) if entries else set()
    newest: dict[int, Pending] = {}
    for offset, log_position in entries:
        if offset in decided or log_position in copied:
            continue
        half = read_or_report(store, log_position)
        if half is not None:
            due_ms = half.born_timestamp_ms + immunity_ms_of(half.properties, timeout_ms)
            transaction_id = half.properties.get(UNIQUE_KEY, "")
            pending = Pending(offset, log_position, due_ms, transaction_id)
            newest[first_offset_of(half)] = pending
    operations = [(operation_offset, half) for half, operation_offset in decided.items()]
    return Loaded(list(newest.items()), operations)


def first_position_of(store: TransactionStore, half: Record) -> int:
    """Return the log position of the first record of a half message, which identifies it."""
    entries = store.held_entries(HALF_TOPIC, QUEUE_ID, first_offset_of(half), 1)
    return entries[0][0] if entries else half.log_position


Escaped = tuple[int, Pending, int]
"""A pending half message that has escaped: the offset of its first record, and its log position."""


def find_escaped(
    store: TransactionStore, known: Iterable[tuple[int, Pending]], escaped: frozenset[int]
) -> list[Escaped]:
    """Return the half messages whose first record is at one of some log positions.

    No message is read: an op record needs only what the table has.
    """
    found: list[Escaped] = []
    for first_offset, pending in known:
        position = pending.log_position
        if pending.offset != first_offset:
            entries = store.held_entries(HALF_TOPIC, QUEUE_ID, first_offset, 1)
            position = entries[0][0] if entries else position
        if position in escaped:
            found.append((first_offset, pending, position))
    return found


def read_record(store: TransactionStore, log_position: int) -> Record | None:
    """Read a record; None if none begins there.

    Raises:
        StoreError: the record is damaged, or can't be read. ProtocolError: it is malformed.
    """
    content = store.held_record(log_position)
    return decode_records(content)[0] if content else None


def read_or_report(store: TransactionStore, log_position: int) -> Record | None:
    """Read a record; report a damaged one, and return None.

    Raises:
        StoreError: the store refuses for now.
    """
    try:
        return read_record(store, log_position)
    except (StoreError, ProtocolError) as error:
        if isinstance(error, StoreError) and error.code != "corrupt":
            raise
        log.error(  # noqa: TRY400 - the reason is complete
            "record_of_transaction_damaged", log_position=log_position, reason=str(error)
        )
        return None


def _decided_since(store: TransactionStore, offset: int) -> dict[int, int]:
    """Return the half messages that op records name, with the offset of the op record."""
    decided: dict[int, int] = {}
    for operation_offset, log_position in _entries(store, HALF_OPERATION_TOPIC, offset):
        record = read_or_report(store, log_position)
        for half_offset in decided_offsets(record.body) if record is not None else ():
            decided[half_offset] = operation_offset
    return decided


def _entries(store: TransactionStore, topic: str, offset: int) -> Iterator[tuple[int, int]]:
    """Iterate over queue offset and log position of the messages of a queue."""
    low, end = store.held_offsets(topic, QUEUE_ID) or (0, 0)
    offset = max(offset, low)
    while offset < end:
        entries = store.held_entries(topic, QUEUE_ID, offset, min(BATCH_COUNT, end - offset))
        if not entries:
            return
        for at, (log_position, _, _) in enumerate(entries, offset):
            yield at, log_position
        offset += len(entries)
