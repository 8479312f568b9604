"""Bind each entry of the audit to the entry before by a hash, so that changes are found (G22).

The hash covers every field of the entry and the hash before it. The length precedes each field, so
two different entries never have the same bytes. The chain does not show that entries at its end
were removed: for that, keep the number and hash of the newest entry elsewhere. Retention deletes
the oldest entries: the chain then starts at a checkpoint, which is valid only if an entry of the
chain confirms it.
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
"""The action of an entry about deleted entries, with number and hash of the last of them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold an action of a user; `details` is JSON, stored as the text that was hashed."""

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
    """Hold the end of a chain, or of a part of it."""

    number: int = FIRST_NUMBER - 1
    hash: bytes = GENESIS


def chain(entry: Entry, previous_hash: bytes) -> ChainedEntry:
    """Bind an entry to the one before it."""
    return ChainedEntry(entry, previous_hash, _hash(entry, previous_hash))


def check_chain(
    entries: Iterable[ChainedEntry], after: ChainEnd = ChainEnd()
) -> ChainEnd | ChainFault:
    """Check the entries after an end; return the new end, or the first wrong entry."""
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
