"""Say in records of the log what a failover must keep besides messages (D14).

The body of such a record is one byte, the version, and a MessagePack array: `StateRecord`'s fields
in their order. Fields are only ever added at its end, so that older brokers read what they know;
whatever else changes is a new version. docs/architecture.md describes it for other readers.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from regent_engine import encode_properties, tag_hash

VERSION: Final = 1
SNAPSHOT_TAG: Final = "snapshot"
SNAPSHOT_PROPERTIES: Final = encode_properties({"TAGS": SNAPSHOT_TAG})
"""Of the first record of a snapshot, so that it is found by its queue entry alone."""

SNAPSHOT_TAGS_CODE: Final = tag_hash(SNAPSHOT_TAG)
SIZE_MAX: Final = 64 << 10
"""Roughly how long a body may become before another record begins."""

# What a queue of a topic takes at most, and what surrounds the name of a topic with its group.
_QUEUE_SIZE: Final = 14
_NAME_SIZE: Final = 8

QueueOffsets = dict[str, dict[int, int]]
"""Committed offsets by `topic@group` and queue."""


class UnreadableStateRecord(ValueError):  # noqa: N818 - named for what it says, as all errors here
    """A record of the state topic is of a newer version, or was written by somebody else."""


class StateRecord(msgspec.Struct, frozen=True, array_like=True):
    """What changed, or with parts, one part of all there is."""

    epoch: int
    """Of the master that wrote it."""

    part: int = 0
    part_count: int = 0
    """Of a snapshot, which replaces all that was known before; 0 where it is a change."""

    removed_topics: tuple[str, ...] = ()
    """Whose offsets are forgotten, before those below are set."""

    offsets: QueueOffsets = {}
    delays: dict[int, int] = {}
    """The next queue offset of each delay level."""

    @property
    def is_snapshot(self) -> bool:
        """Tell whether it is a part of all there is."""
        return self.part_count > 0

    @property
    def properties(self) -> bytes:
        """Give the properties of the record that holds it."""
        return SNAPSHOT_PROPERTIES if self.is_snapshot and self.part == 0 else b""

    def encode(self) -> bytes:
        """Give the body."""
        return bytes([VERSION]) + _ENCODER.encode(self)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(StateRecord)


def decode_state(body: bytes) -> StateRecord:
    """Read the body of a record.

    Raises:
        UnreadableStateRecord: it is of another version, or damaged.
    """
    if body[:1] != bytes([VERSION]):
        raise UnreadableStateRecord(f"its version is {body[:1].hex() or 'missing'}, not {VERSION}")
    try:
        return _DECODER.decode(body[1:])
    except msgspec.MsgspecError as error:
        raise UnreadableStateRecord(str(error)) from error


def snapshot_records(
    epoch: int,
    *,
    offsets: Mapping[str, Mapping[int, int]],
    delays: Mapping[int, int],
    size_max: int = SIZE_MAX,
) -> list[StateRecord]:
    """Say all there is, in as many parts as it takes."""
    pieces = list(_pieces(offsets, size_max)) or [{}]
    return [
        StateRecord(
            epoch, part, len(pieces), offsets=piece, delays=dict(delays) if part == 0 else {}
        )
        for part, piece in enumerate(pieces)
    ]


def change_records(
    epoch: int,
    *,
    removed_topics: tuple[str, ...],
    offsets: Mapping[str, Mapping[int, int]],
    delays: Mapping[int, int],
    size_max: int = SIZE_MAX,
) -> list[StateRecord]:
    """Say what changed, each record for itself; one at least."""
    first, *rest = list(_pieces(offsets, size_max)) or [{}]
    return [
        StateRecord(epoch, removed_topics=removed_topics, offsets=first, delays=dict(delays)),
        *(StateRecord(epoch, offsets=piece) for piece in rest),
    ]


def _pieces(offsets: Mapping[str, Mapping[int, int]], size_max: int) -> Iterator[QueueOffsets]:
    """Divide offsets so that none is too long for a record; one key may be in several."""
    piece: QueueOffsets = {}
    size = 0
    for key, queues in offsets.items():
        for queue_id, offset in queues.items():
            if size >= size_max:
                yield piece
                piece, size = {}, 0
            if key not in piece:
                piece[key] = {}
                size += len(key) + _NAME_SIZE
            piece[key][queue_id] = offset
            size += _QUEUE_SIZE
    if piece:
        yield piece
