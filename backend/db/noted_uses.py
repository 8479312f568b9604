"""Record the last use of a credential, without a wait of any request."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import Table, select, text, update

from backend.db.engine import Connection


async def note_use(
    connection: Connection, table: Table, credential_id: UUID, values: Mapping[str, object]
) -> None:
    """Store the values with a credential, unless another request is doing so.

    All requests of a session find at the same time that a minute is over. If each waited for the
    row, and its commit for the disk, they would use every connection of the pool while the disk is
    busy.
    """
    await connection.execute(text("SET LOCAL synchronous_commit TO off"))
    free = (
        select(table.c.id)
        .where(table.c.id == credential_id)
        .with_for_update(key_share=True, skip_locked=True)
        .scalar_subquery()
    )
    await connection.execute(update(table).where(table.c.id == free).values(**values))
