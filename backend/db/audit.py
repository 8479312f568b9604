"""Store the audit: entries are added at its end, and deleted only from its beginning (G22)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import takewhile
from typing import Any, Final
from uuid import UUID

import msgspec
from sqlalchemy import ColumnElement, delete, func, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.maintenance_tables import audit_checkpoint
from backend.db.operation_tables import audit_entries
from backend.domain.audit import TRIMMED, ChainedEntry, ChainEnd, Entry, chain
from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.operation import Author

# One writer at a time, so that no two entries are bound to the same entry.
_CHAIN_LOCK: Final = 0x5245_4745_4E54
_ENTRY_FIELDS: Final = tuple(field.name for field in fields(Entry))
# Other writers wait for these statements, so they are built once.
_LOCK_CHAIN: Final = select(func.pg_advisory_xact_lock(_CHAIN_LOCK))
_NEWEST: Final = (
    select(audit_entries.c.number, audit_entries.c.hash)
    .order_by(audit_entries.c.number.desc())
    .limit(1)
)
_ADD: Final = insert(audit_entries)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Choose entries; None as a condition accepts all.

    `action` is an action, or the family before the dot (`operation`, `step`, `user`). `search` is a
    part of the subject; upper and lower case are the same. Entries from `begin` on and before `end`
    are chosen.
    """

    cluster_name: str | None = None
    actor: str | None = None
    operation_id: UUID | None = None
    action: str | None = None
    search: str | None = None
    begin: datetime | None = None
    end: datetime | None = None
    within: ClusterScope = EVERYWHERE


@dataclass(frozen=True, slots=True)
class AuditedAction:
    """Hold a new entry; details are JSON values."""

    author: Author
    action: str
    cluster_name: str
    subject: str
    details: Mapping[str, Any]
    operation_id: UUID | None = None


async def append(connection: Connection, audited: AuditedAction, *, at: datetime) -> None:
    """Add an entry. Do this last in a transaction, since other writers wait until its end."""
    await connection.execute(_LOCK_CHAIN)
    row = (await connection.execute(_NEWEST)).one_or_none()
    if row is not None:
        end = ChainEnd(row.number, bytes(row.hash))
    else:
        # All earlier entries may have been deleted.
        end = await find_checkpoint(connection) or ChainEnd()
    entry = Entry(
        number=end.number + 1,
        happened_at=at,
        actor=audited.author.name,
        source=audited.author.source,
        action=audited.action,
        cluster_name=audited.cluster_name,
        subject=audited.subject,
        operation_id=audited.operation_id,
        details=msgspec.json.encode(audited.details, order="sorted").decode(),
    )
    chained = chain(entry, end.hash)
    values = {name: getattr(entry, name) for name in _ENTRY_FIELDS}
    await connection.execute(_ADD, {**values, "previous_hash": end.hash, "hash": chained.hash})


async def list_newest(
    connection: Connection, *, chosen: AuditFilter, before: int | None, limit: int
) -> list[ChainedEntry]:
    """List entries, the newest first, from the first one older than `before`."""
    columns = audit_entries.c
    statement = (
        select(audit_entries)
        .where(*_conditions(chosen))
        .order_by(columns.number.desc())
        .limit(limit)
    )
    if before is not None:
        statement = statement.where(columns.number < before)
    return [_chained(row) for row in (await connection.execute(statement)).mappings()]


async def list_oldest(
    connection: Connection, *, chosen: AuditFilter = AuditFilter(), after: int, limit: int
) -> list[ChainedEntry]:
    """List entries in their order, from the first one newer than `after`."""
    columns = audit_entries.c
    statement = (
        select(audit_entries)
        .where(columns.number > after, *_conditions(chosen))
        .order_by(columns.number)
        .limit(limit)
    )
    return [_chained(row) for row in (await connection.execute(statement)).mappings()]


async def count(connection: Connection, *, chosen: AuditFilter) -> int:
    """Count entries."""
    statement = select(func.count()).select_from(audit_entries).where(*_conditions(chosen))
    return int(await connection.scalar(statement) or 0)


async def find_checkpoint(connection: Connection) -> ChainEnd | None:
    """Find the last deleted entry; the kept chain starts after it."""
    columns = audit_checkpoint.c
    row = (await connection.execute(select(columns.number, columns.hash))).one_or_none()
    return None if row is None else ChainEnd(row.number, bytes(row.hash))


async def is_recorded(connection: Connection, checkpoint: ChainEnd) -> bool:
    """Return whether the newest entry about deletions confirms the deletion up to this entry."""
    columns = audit_entries.c
    statement = (
        select(columns.details)
        .where(columns.action == TRIMMED, columns.number > checkpoint.number)
        .order_by(columns.number.desc())
        .limit(1)
    )
    details = await connection.scalar(statement)
    return details is not None and _holds(details, _trim_details(checkpoint))


async def count_old(connection: Connection, *, before: datetime) -> int:
    """Count the entries that come before the first one of an instant or later."""
    columns = audit_entries.c
    first_kept = (
        select(func.min(columns.number)).where(columns.happened_at >= before).scalar_subquery()
    )
    statement = (
        select(func.count())
        .select_from(audit_entries)
        .where((columns.number < first_kept) | first_kept.is_(None))
    )
    return int(await connection.scalar(statement) or 0)


async def expire(
    connection: Connection, author: Author, *, before: datetime, limit: int, at: datetime
) -> int:
    """Delete the oldest entries and add an entry about it, in one transaction; return the number.

    Only the beginning of the chain is deleted, so the kept chain has no gap. The checkpoint stores
    the hash to which the first kept entry is bound.
    """
    await connection.execute(_LOCK_CHAIN)
    columns = audit_entries.c
    oldest = select(columns.number, columns.hash, columns.happened_at)
    rows = (await connection.execute(oldest.order_by(columns.number).limit(limit))).all()
    old = list(takewhile(lambda row: row.happened_at < before, rows))
    if not old:
        return 0
    end = ChainEnd(old[-1].number, bytes(old[-1].hash))
    await connection.execute(delete(audit_entries).where(columns.number <= end.number))
    values = {"number": end.number, "hash": end.hash, "removed_at": at}
    await connection.execute(
        upsert(audit_checkpoint)
        .values(id=1, **values)
        .on_conflict_do_update(index_elements=["id"], set_=values)
    )
    details = {**_trim_details(end), "count": len(old), "kept_since": before.isoformat()}
    await append(connection, AuditedAction(author, TRIMMED, "", "audit", details), at=at)
    return len(old)


def _trim_details(end: ChainEnd) -> dict[str, Any]:
    return {"last_number": end.number, "last_hash": end.hash.hex()}


def _holds(details: str, wanted: Mapping[str, Any]) -> bool:
    try:
        found = msgspec.json.decode(details, type=dict[str, Any])
    except msgspec.DecodeError:
        return False
    return wanted.items() <= found.items()


def _conditions(chosen: AuditFilter) -> list[ColumnElement[bool]]:
    columns = audit_entries.c
    wanted = (
        (columns.cluster_name, chosen.cluster_name),
        (columns.actor, chosen.actor),
        (columns.operation_id, chosen.operation_id),
    )
    conditions = [column == value for column, value in wanted if value is not None]
    if chosen.action is not None:
        of_family = columns.action.startswith(f"{chosen.action}.", autoescape=True)
        conditions.append((columns.action == chosen.action) | of_family)
    if chosen.search:
        conditions.append(columns.subject.icontains(chosen.search, autoescape=True))
    if chosen.begin is not None:
        conditions.append(columns.happened_at >= chosen.begin)
    if chosen.end is not None:
        conditions.append(columns.happened_at < chosen.end)
    return conditions + reached(chosen.within, columns.cluster_name)


def _chained(row: Mapping[Any, Any]) -> ChainedEntry:
    entry = Entry(**{name: row[name] for name in _ENTRY_FIELDS})
    return ChainedEntry(entry, bytes(row["previous_hash"]), bytes(row["hash"]))
