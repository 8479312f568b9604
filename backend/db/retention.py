"""Count and remove expired records: changes of groups, operations, files of samples.

Counting and removing use the same condition. Each removal has a bounded number of rows, so the size
of a transaction is limited.
"""

from datetime import date, datetime

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.sql.expression import FromClause

from backend.db.engine import Connection
from backend.db.operation_tables import operations
from backend.db.tables import replica_group_changes, sample_files
from backend.domain.retention import CHANGES_KEPT_MIN


async def count_group_changes(connection: Connection, *, before: datetime) -> int:
    """Count the expired changes of groups."""
    return await _count(connection, replica_group_changes, _old_changes(before))


async def remove_group_changes(connection: Connection, *, before: datetime, limit: int) -> int:
    """Remove expired changes of groups, the oldest first; return their number."""
    columns = replica_group_changes.c
    chosen = select(columns.id).where(_old_changes(before)).order_by(columns.id).limit(limit)
    removed = await connection.execute(
        delete(replica_group_changes).where(columns.id.in_(chosen.scalar_subquery()))
    )
    return removed.rowcount


async def count_operations(connection: Connection, *, before: datetime) -> int:
    """Count the operations that ended before an instant."""
    return await _count(connection, operations, operations.c.ended_at < before)


async def remove_operations(connection: Connection, *, before: datetime, limit: int) -> int:
    """Remove operations that ended before an instant, with their journals and keys.

    An operation that another one undoes is kept until the other is removed, so no row refers to a
    missing row; a second call finds it. Return the number of removed operations.
    """
    columns, undoing = operations.c, operations.alias()
    chosen = (
        select(columns.id)
        .where(
            columns.ended_at < before,
            ~select(undoing.c.id).where(undoing.c.undoes == columns.id).exists(),
        )
        .order_by(columns.ended_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    ids = list((await connection.execute(chosen)).scalars())
    if ids:
        await connection.execute(delete(operations).where(columns.id.in_(ids)))
    return len(ids)


async def count_sample_files(connection: Connection, *, before: date) -> int:
    """Count the files of days before one."""
    return await _count(connection, sample_files, sample_files.c.day < before)


async def remove_sample_files(connection: Connection, *, before: date) -> int:
    """Remove files of days before a day from the manifest; return their number."""
    removed = await connection.execute(delete(sample_files).where(sample_files.c.day < before))
    return removed.rowcount


def _old_changes(before: datetime) -> ColumnElement[bool]:
    """Choose old changes, except the newest changes of each group."""
    columns, newer = replica_group_changes.c, replica_group_changes.alias()
    oldest_kept = (
        select(newer.c.id)
        .where(
            newer.c.cluster_name == columns.cluster_name,
            newer.c.broker_group_name == columns.broker_group_name,
        )
        .order_by(newer.c.id.desc())
        .offset(CHANGES_KEPT_MIN - 1)
        .limit(1)
        .scalar_subquery()
    )
    return (columns.changed_at < before) & (columns.id < oldest_kept)


async def _count(connection: Connection, table: FromClause, chosen: ColumnElement[bool]) -> int:
    statement = select(func.count()).select_from(table).where(chosen)
    return int(await connection.scalar(statement) or 0)
