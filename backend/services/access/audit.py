"""Read the audit, and check its hash chain (G22)."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from backend.clients.clock import Clock
from backend.db import audit
from backend.db.audit import AuditedAction, AuditFilter
from backend.db.engine import Database
from backend.domain.audit import ChainedEntry, ChainEnd, ChainFault, check_chain
from backend.domain.page import Page, check_page_size, cut_page

__all__ = [
    "AuditFilter",
    "AuditedAction",
    "ChainVerification",
    "enter",
    "export_entries",
    "list_entries",
    "read_details",
    "verify_chain",
]

EVERYTHING: Final = AuditFilter()
BATCH_SIZE: Final = 1_000
CHECKED_MAX: Final = 20_000
"""The number of entries that one request checks; the next request continues after them."""


@dataclass(frozen=True, slots=True)
class ChainVerification:
    """Hold the end of a check of the chain, and its fault, if there is one.

    Retention has deleted the entries up to `expired_number`.
    """

    checked_count: int
    end: ChainEnd
    is_complete: bool
    fault: ChainFault | None
    expired_number: int = 0


async def enter(audited: AuditedAction, *, database: Database, clock: Clock) -> None:
    """Enter an action that is no operation."""
    async with database.begin() as connection:
        await audit.append(connection, audited, at=clock.now())


async def list_entries(
    *, size: int, before: int | None, chosen: AuditFilter, database: Database
) -> Page[ChainedEntry, int]:
    """List entries, the newest first.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        found = await audit.list_newest(connection, chosen=chosen, before=before, limit=size + 1)
        total = await audit.count(connection, chosen=chosen)
    return cut_page(found, size=size, key=lambda one: one.entry.number, total_count=total)


async def export_entries(*, chosen: AuditFilter, database: Database) -> AsyncIterator[ChainedEntry]:
    """Yield all entries in their order; a slow reader holds no connection meanwhile."""
    async for batch in _batches(ChainEnd().number, database, chosen):
        for entry in batch:
            yield entry


async def verify_chain(*, database: Database, after: ChainEnd | None = None) -> ChainVerification:
    """Check the chain from its beginning, or from the end of the last check.

    Deleted entries are skipped if a kept entry confirms their deletion by retention.
    """
    checkpoint, fault = await _find_beginning(database)
    begin = after or ChainEnd()
    if checkpoint is not None and begin.number == checkpoint.number and begin != checkpoint:
        fault = ChainFault(begin.number, "it differs from the entry that retention deleted")
    if fault is not None:
        return ChainVerification(0, begin, is_complete=True, fault=fault)
    if checkpoint is not None and begin.number < checkpoint.number:
        begin = checkpoint
    end, count = begin, 0
    expired_number = 0 if checkpoint is None else checkpoint.number
    async for batch in _batches(end.number, database):
        found = check_chain(batch, end)
        if isinstance(found, ChainFault):
            now, _ = await _find_beginning(database)
            if now is not None and now.number > end.number:
                # Retention deleted its beginning during the check.
                return ChainVerification(
                    count, end, is_complete=False, fault=None, expired_number=expired_number
                )
            return ChainVerification(
                count, end, is_complete=True, fault=found, expired_number=expired_number
            )
        end, count = found, count + len(batch)
        if count >= CHECKED_MAX:
            return ChainVerification(
                count, end, is_complete=False, fault=None, expired_number=expired_number
            )
    return ChainVerification(
        count, end, is_complete=True, fault=None, expired_number=expired_number
    )


def read_details(text: str) -> dict[str, Any]:
    """Read details; tampered details may be unreadable."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        return {"unreadable": text}


async def _find_beginning(database: Database) -> tuple[ChainEnd | None, ChainFault | None]:
    """Find the beginning of the kept chain, and its fault, if there is one."""
    async with database.connect() as connection:
        checkpoint = await audit.find_checkpoint(connection)
        if checkpoint is None or await audit.is_recorded(connection, checkpoint):
            return checkpoint, None
    reason = "all entries up to it are missing, and no entry records that retention deleted them"
    return checkpoint, ChainFault(checkpoint.number, reason)


async def _batches(
    after: int, database: Database, chosen: AuditFilter = EVERYTHING
) -> AsyncIterator[Sequence[ChainedEntry]]:
    while True:
        async with database.connect() as connection:
            batch = await audit.list_oldest(
                connection, chosen=chosen, after=after, limit=BATCH_SIZE
            )
        if not batch:
            return
        yield batch
        after = batch[-1].entry.number
