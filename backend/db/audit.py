"""Keep the audit: entries are only ever added, one behind another (G22)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from sqlalchemy import ColumnElement, func, insert, select

from backend.db.engine import Connection
from backend.db.operation_tables import audit_entries
from backend.domain.audit import GENESIS, ChainedEntry, Entry, chain
from backend.domain.operation import Author

# One writer at a time, so that no entry is bound to one that another replaces.
_CHAIN_LOCK: Final = 0x5245_4745_4E54
_ENTRY_FIELDS: Final = tuple(field.name for field in fields(Entry))


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Choose among entries; what is None lets all pass."""

    cluster_name: str | None = None
    actor: str | None = None
    operation_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Deed:
    """Hold what is to be entered; details are what JSON can hold."""

    author: Author
    action: str
    cluster_name: str
    subject: str
    details: Mapping[str, Any]
    operation_id: UUID | None = None


async def append(connection: Connection, deed: Deed, *, at: datetime) -> None:
    """Enter a deed; do so last in a transaction, since others wait from here to its end."""
    await connection.execute(select(func.pg_advisory_xact_lock(_CHAIN_LOCK)))
    columns = audit_entries.c
    newest = select(columns.number, columns.hash).order_by(columns.number.desc()).limit(1)
    row = (await connection.execute(newest)).one_or_none()
    number, previous_hash = (0, GENESIS) if row is None else row
    entry = Entry(
        number=number + 1,
        happened_at=at,
        actor=deed.author.name,
        source=deed.author.source,
        action=deed.action,
        cluster_name=deed.cluster_name,
        subject=deed.subject,
        operation_id=deed.operation_id,
        details=msgspec.json.encode(deed.details, order="sorted").decode(),
    )
    chained = chain(entry, previous_hash)
    values = {name: getattr(entry, name) for name in _ENTRY_FIELDS}
    await connection.execute(
        insert(audit_entries).values(**values, previous_hash=previous_hash, hash=chained.hash)
    )


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


def _conditions(chosen: AuditFilter) -> list[ColumnElement[bool]]:
    columns = audit_entries.c
    wanted = (
        (columns.cluster_name, chosen.cluster_name),
        (columns.actor, chosen.actor),
        (columns.operation_id, chosen.operation_id),
    )
    return [column == value for column, value in wanted if value is not None]


def _chained(row: Mapping[Any, Any]) -> ChainedEntry:
    entry = Entry(**{name: row[name] for name in _ENTRY_FIELDS})
    return ChainedEntry(entry, bytes(row["previous_hash"]), bytes(row["hash"]))
