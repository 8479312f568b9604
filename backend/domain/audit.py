"""Bind each entry of the audit to the one before by a hash, so that a change of any is found (G22).

The hash covers every field of the entry and the hash before it, each with its length in front, so
that no two entries are spelled alike. What is not found is an end that was cut off: keep the number
and hash of the newest entry elsewhere for that. Retention lets a beginning go: the chain goes on
from a checkpoint, which counts only if an entry of the chain tells of it.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

FIRST_NUMBER: Final = 1
GENESIS: Final = bytes(32)
"""The hash before the first entry."""
TRIMMED: Final = "audit.trimmed"
"""What the entry says that tells of entries let go, with the number and hash of the last one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold what somebody did; `details` is JSON, kept as the very text that was hashed."""

    number: int
    happened_at: datetime
    actor: str
    source: str
    action: str
    cluster_name: str
    subject: str
    operation_id: UUID | None
    details: str


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    """Hold an entry with its place in the chain."""

    entry: Entry
    previous_hash: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainFault:
    """Name the entry where the chain breaks, and how."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """Hold where a chain, or a part of it, ends."""

    number: int = FIRST_NUMBER - 1
    hash: bytes = GENESIS


def chain(entry: Entry, previous_hash: bytes) -> ChainedEntry:
    """Bind an entry to the one before it."""
    return ChainedEntry(entry, previous_hash, _hash(entry, previous_hash))


def check_chain(
    entries: Iterable[ChainedEntry], after: ChainEnd = ChainEnd()
) -> ChainEnd | ChainFault:
    """Follow entries that come after an end; give the new end, or the first that is wrong."""
    held = after
    for chained in entries:
        number = chained.entry.number
        if number != held.number + 1:
            return ChainFault(
                held.number + 1, f"an entry is missing: {number} follows {held.number}"
            )
        if chained.previous_hash != held.hash:
            return ChainFault(number, "its hash does not include the entry before it")
        if _hash(chained.entry, chained.previous_hash) != chained.hash:
            return ChainFault(number, "its content does not match its hash")
        held = ChainEnd(number, chained.hash)
    return held


def _hash(entry: Entry, previous_hash: bytes) -> bytes:
    parts = (
        previous_hash,
        str(entry.number).encode(),
        entry.happened_at.astimezone(UTC).isoformat(timespec="microseconds").encode(),
        entry.actor.encode(),
        entry.source.encode(),
        entry.action.encode(),
        entry.cluster_name.encode(),
        entry.subject.encode(),
        str(entry.operation_id or "").encode(),
        entry.details.encode(),
    )
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()
