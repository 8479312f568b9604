"""Say in records of the log what a failover must keep besides messages (D14).

The body of such a record is one byte, the version, and a MessagePack array: `StateRecord`'s fields
in their order. Fields are only ever added at its end, so that older brokers read what they know;
whatever else changes is a new version. docs/architecture.md describes it for other readers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from regent_engine import encode_properties, tag_hash

from backend.remoting.bodies import SubscriptionGroupConfig, TopicConfig
from workers.broker.requests.fences import Change

VERSION: Final = 1
SNAPSHOT_TAG: Final = "snapshot"
SNAPSHOT_PROPERTIES: Final = encode_properties({"TAGS": SNAPSHOT_TAG})
"""Of the first record of a snapshot, so that it is found by its queue entry alone."""

SNAPSHOT_TAGS_CODE: Final = tag_hash(SNAPSHOT_TAG)
SIZE_MAX: Final = 64 << 10
"""Roughly how long a body may become before another record begins."""

# What a queue of a topic takes at most, and what surrounds a name.
_QUEUE_SIZE: Final = 14
_NAME_SIZE: Final = 8

QueueOffsets = dict[str, dict[int, int]]
"""Committed offsets by `topic@group` and queue."""


class UnreadableStateRecord(ValueError):
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

    removed_groups: tuple[str, ...] = ()
    """Whose offsets are forgotten, before those above are set."""

    topics: dict[str, TopicConfig | None] | None = None
    """None for one that is gone; without the table, its writer did not know of these fields."""

    groups: dict[str, SubscriptionGroupConfig | None] = {}
    forbidden: dict[str, dict[str, int]] = {}
    deletions: dict[str, int] = {}
    """Where topics were deleted: what the log holds of them before that is gone."""

    fences: dict[str, int] = {}
    changes: dict[str, Change | None] = {}

    @property
    def is_snapshot(self) -> bool:
        """Return whether it is a part of all there is."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StateContent:
    """What records say together; each field as in `StateRecord`."""

    removed_topics: tuple[str, ...] = ()
    removed_groups: tuple[str, ...] = ()
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    delays: Mapping[int, int] = field(default_factory=dict)
    topics: Mapping[str, TopicConfig | None] = field(default_factory=dict)
    groups: Mapping[str, SubscriptionGroupConfig | None] = field(default_factory=dict)
    forbidden: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    deletions: Mapping[str, int] = field(default_factory=dict)
    fences: Mapping[str, int] = field(default_factory=dict)
    changes: Mapping[str, Change | None] = field(default_factory=dict)


def snapshot_records(
    epoch: int, content: StateContent, *, size_max: int = SIZE_MAX
) -> list[StateRecord]:
    """Say all there is, in as many parts as it takes."""
    first, *rest = _pieces(content, size_max)
    pieces = [first | {"delays": dict(content.delays)}, *rest]
    return [
        StateRecord(epoch, part, len(pieces), **_with_topics(piece))
        for part, piece in enumerate(pieces)
    ]


def change_records(
    epoch: int, content: StateContent, *, size_max: int = SIZE_MAX
) -> list[StateRecord]:
    """Say what changed, each record for itself; one at least."""
    first, *rest = _pieces(content, size_max)
    first |= {
        "removed_topics": content.removed_topics,
        "removed_groups": content.removed_groups,
        "delays": dict(content.delays),
    }
    return [StateRecord(epoch, **_with_topics(piece)) for piece in (first, *rest)]


def merged(parts: list[StateRecord]) -> StateRecord:
    """Put the parts of a snapshot together."""
    whole: dict[str, dict[Any, Any]] = {}
    for part in parts:
        for name in ("topics", *_DIVIDED):
            table = whole.setdefault(name, {})
            for key, value in (getattr(part, name) or {}).items():
                _add(table, key, value)
    record = whole if parts[0].topics is not None else whole | {"topics": None}
    return StateRecord(parts[0].epoch, 0, 1, delays=parts[0].delays, **record)


_DIVIDED: Final = ("groups", "forbidden", "deletions", "fences", "changes", "offsets")
_Piece = dict[str, Any]


def _with_topics(piece: _Piece) -> _Piece:
    """Say that the writer knows of topics, though it may have nothing to tell of them."""
    return {"topics": {}} | piece


def _pieces(content: StateContent, size_max: int) -> list[_Piece]:
    """Divide what is said so that none is much longer than a record should be; one at least."""
    pieces: list[_Piece] = [{}]
    size = 0
    for name, key, value, item_size in _items(content, size_max):
        if size >= size_max:
            pieces.append({})
            size = 0
        _add(pieces[-1].setdefault(name, {}), key, value)
        size += item_size
    return pieces


def _items(content: StateContent, size_max: int) -> Iterator[tuple[str, str, Any, int]]:
    """Give what can be divided: field, key, value and about how many bytes they take.

    What fences say of a change comes no later than the change, and so does the place of a deletion.
    Topics come before groups and offsets, as they came to be. One key may come more than once.
    """
    for name in ("fences", "changes", "deletions", "topics", "groups", "forbidden"):
        for key, value in getattr(content, name).items():
            yield name, key, value, len(key) + _NAME_SIZE + len(_ENCODER.encode(value))
    count_max = max(1, size_max // (2 * _QUEUE_SIZE))
    for key, queues in content.offsets.items():
        offsets = list(queues.items())
        for start in range(0, len(offsets), count_max):
            some = dict(offsets[start : start + count_max])
            yield "offsets", key, some, len(key) + _NAME_SIZE + len(some) * _QUEUE_SIZE


def _add(table: dict[Any, Any], key: Any, value: Any) -> None:
    """Set a value; what is a table of its own is joined with what is there of it."""
    if isinstance(value, dict) and key in table:
        table[key] |= value
    else:
        table[key] = dict(value) if isinstance(value, dict) else value
