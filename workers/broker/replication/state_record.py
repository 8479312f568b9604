"""Encode the state that survives a failover in records of the log (D14).

The body of such a record is one byte, the version, and a MessagePack array: `StateRecord`'s fields
in their order. Fields are only added at the end, so older brokers read the fields that they know;
any other change needs a new version. docs/architecture.md describes the format for other readers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec
from regent_engine import encode_properties, tag_hash

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.remoting.bodies import RequestModeBody, SubscriptionGroupConfig, TopicConfig
from workers.broker.commit_log.timer_delivery import TimersAt
from workers.broker.requests.fences import Change
from workers.broker.tables.queue_locks import LoggedLocks

VERSION: Final = 1
SNAPSHOT_TAG: Final = "snapshot"
SNAPSHOT_PROPERTIES: Final = encode_properties({"TAGS": SNAPSHOT_TAG})
"""Of the first record of a snapshot, so that its queue entry alone identifies it."""

SNAPSHOT_TAGS_CODE: Final = tag_hash(SNAPSHOT_TAG)
SIZE_MAX: Final = 64 << 10
"""Approximate limit of a body; more data begins another record."""

# The maximum size of a queue's entry, of the bytes around a name, and of a log position.
_QUEUE_SIZE: Final = 14
_NAME_SIZE: Final = 8
_POSITION_SIZE: Final = 10
_LOCK_SIZE: Final = 256

K = TypeVar("K")
V = TypeVar("V")

QueueOffsets = dict[str, dict[int, int]]
"""Committed offsets by `topic@group` and queue."""


class UnreadableStateRecord(ValueError):
    """A record of the state topic has a newer version, or another program wrote it."""


class StateRecord(msgspec.Struct, frozen=True, array_like=True):
    """Changes or, with parts, one part of a snapshot."""

    epoch: int
    """The epoch of the master that wrote it."""

    part: int = 0
    part_count: int = 0
    """The parts of a snapshot, which replaces the whole state; 0 for changes."""

    removed_topics: tuple[str, ...] = ()
    """Groups or topics whose offsets are dropped, before those below are set."""

    offsets: QueueOffsets = {}
    delays: dict[int, int] = {}
    """The next queue offset of each delay level."""

    removed_groups: tuple[str, ...] = ()
    """Groups or topics whose offsets are dropped, before those above are set."""

    topics: dict[str, TopicConfig | None] | None = None
    """None for a deleted one; without the table, its writer did not support these fields."""

    groups: dict[str, SubscriptionGroupConfig | None] = {}
    forbidden: dict[str, dict[str, int]] = {}
    deletions: dict[str, int] = {}
    """Where topics were deleted: their earlier messages in the log are invalid."""

    fences: dict[str, int] = {}
    changes: dict[str, Change | None] = {}
    removed_queues: dict[str, tuple[int, ...]] = {}
    """Queues by topic whose offsets are dropped, before those above are set."""

    static_topics: dict[str, BrokerTopic | None] | None = None
    """None for a deleted one; without the table, its writer did not support static topics."""

    timers: TimersAt | None = None
    """The progress of timers, None before the first one."""

    escaped: dict[int, bool] = {}
    """Log positions of messages that a replica let escape; False for one that is covered now."""

    request_modes: dict[str, RequestModeBody | None] = {}
    """How groups receive the messages of topics, by `topic@group`; None without a mode."""

    locks: LoggedLocks | None = None
    """The holders of locks; without the table, its writer did not keep them in the log."""

    @property
    def is_snapshot(self) -> bool:
        """Return whether it is a part of a snapshot."""
        return self.part_count > 0

    @property
    def properties(self) -> bytes:
        """Return the properties of the record that holds it."""
        return SNAPSHOT_PROPERTIES if self.is_snapshot and self.part == 0 else b""

    def encode(self) -> bytes:
        """Give the body."""
        return bytes([VERSION]) + _ENCODER.encode(self)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(StateRecord)


def decode_state(body: bytes) -> StateRecord:
    """Decode the body of a record.

    Raises:
        UnreadableStateRecord: the version is another, or the body is damaged.
    """
    if body[:1] != bytes([VERSION]):
        raise UnreadableStateRecord(f"its version is {body[:1].hex() or 'missing'}, not {VERSION}")
    try:
        return _DECODER.decode(body[1:])
    except msgspec.MsgspecError as error:
        raise UnreadableStateRecord(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class StateContent:
    """The content of records together; each field as in `StateRecord`."""

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
    removed_queues: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    static_topics: Mapping[str, BrokerTopic | None] = field(default_factory=dict)
    timers: TimersAt | None = None
    escaped: Mapping[int, bool] = field(default_factory=dict)
    request_modes: Mapping[str, RequestModeBody | None] = field(default_factory=dict)
    locks: LoggedLocks = field(default_factory=dict)


def snapshot_records(
    epoch: int, content: StateContent, *, size_max: int = SIZE_MAX
) -> list[StateRecord]:
    """Encode a snapshot, in as many parts as needed."""
    first, *rest = _pieces(content, size_max)
    pieces = [first | {"delays": dict(content.delays), "timers": content.timers}, *rest]
    return [
        StateRecord(epoch, part, len(pieces), **_marked(piece)) for part, piece in enumerate(pieces)
    ]


def change_records(
    epoch: int, content: StateContent, *, size_max: int = SIZE_MAX
) -> list[StateRecord]:
    """Encode changes, each record separate; at least one."""
    first, *rest = _pieces(content, size_max)
    first |= {
        "removed_topics": content.removed_topics,
        "removed_groups": content.removed_groups,
        "removed_queues": dict(content.removed_queues),
        "delays": dict(content.delays),
        "timers": content.timers,
    }
    return [StateRecord(epoch, **_marked(piece)) for piece in (first, *rest)]


def merged(parts: list[StateRecord]) -> StateRecord:
    """Combine the parts of a snapshot."""
    whole: dict[str, Any] = {}
    for part in parts:
        for name in (*_SUPPORTED, *_DIVIDED):
            table = whole.setdefault(name, {})
            for key, value in (getattr(part, name) or {}).items():
                _add(table, key, value)
    for name in _SUPPORTED:
        if getattr(parts[0], name) is None:
            whole[name] = None
    first = parts[0]
    return StateRecord(first.epoch, 0, 1, delays=first.delays, timers=first.timers, **whole)


_SUPPORTED: Final = ("static_topics", "topics", "locks")
"""The tables that a writer names even if it has none to write, to mark that it supports them."""

_DIVIDED: Final = (
    "groups",
    "forbidden",
    "request_modes",
    "deletions",
    "fences",
    "changes",
    "offsets",
    "escaped",
)
_Piece = dict[str, Any]


def _marked(piece: _Piece) -> _Piece:
    return {name: {} for name in _SUPPORTED} | piece


def _pieces(content: StateContent, size_max: int) -> list[_Piece]:
    """Divide the content so that no record is much longer than the limit; at least one."""
    pieces: list[_Piece] = [{}]
    size = 0
    for name, key, value, item_size in _items(content, size_max):
        if size >= size_max:
            pieces.append({})
            size = 0
        _add(pieces[-1].setdefault(name, {}), key, value)
        size += item_size
    return pieces


def _items(content: StateContent, size_max: int) -> Iterator[tuple[str, str | int, Any, int]]:
    """Yield the divisible items: field, key, value and approximate number of bytes.

    The fences of a change come no later than the change, and so does the position of a deletion. A
    mapping comes no later than the queues of its topic. Topics come before groups and offsets, in
    the order of their creation. One key may come more than once.
    """
    for name in (
        "fences",
        "changes",
        "deletions",
        "static_topics",
        "topics",
        "groups",
        "forbidden",
        "request_modes",
    ):
        for key, value in getattr(content, name).items():
            yield name, key, value, len(key) + _NAME_SIZE + len(_ENCODER.encode(value))
    count_max = max(1, size_max // (2 * _QUEUE_SIZE))
    for key, queues in content.offsets.items():
        for some in _parts(queues, count_max):
            yield "offsets", key, some, len(key) + _NAME_SIZE + len(some) * _QUEUE_SIZE
    for position, is_added in content.escaped.items():
        yield "escaped", position, is_added, _POSITION_SIZE
    for key, holders in content.locks.items():
        for held in _parts(holders, max(1, size_max // (2 * _LOCK_SIZE))):
            yield "locks", key, held, len(key) + _NAME_SIZE + len(held) * _LOCK_SIZE


def _parts(table: Mapping[K, V], count_max: int) -> Iterator[dict[K, V]]:
    """Divide a table into tables of limited size."""
    items = list(table.items())
    for start in range(0, len(items), count_max):
        yield dict(items[start : start + count_max])


def _add(table: dict[Any, Any], key: Any, value: Any) -> None:
    """Set a value; merge a nested table with the present one."""
    if isinstance(value, dict) and key in table:
        table[key] |= value
    else:
        table[key] = dict(value) if isinstance(value, dict) else value
