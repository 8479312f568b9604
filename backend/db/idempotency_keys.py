"""Store the request of each key, so that a repeated request has no second effect."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as upsert

from backend.db.engine import Connection
from backend.db.operation_tables import idempotency_keys
from backend.domain.operation_errors import IdempotencyKeyReused


async def find(
    connection: Connection, user_name: str, key: str, *, request_hash: bytes
) -> UUID | None:
    """Find the operation of an earlier request with the same key.

    Raises:
        IdempotencyKeyReused: the key belongs to another request.
    """
    columns = idempotency_keys.c
    statement = select(columns.request_hash, columns.operation_id).where(
        columns.user_name == user_name, columns.key == key
    )
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        return None
    if bytes(row.request_hash) != request_hash:
        raise IdempotencyKeyReused(key)
    operation_id: UUID = row.operation_id
    return operation_id


async def add(
    connection: Connection,
    user_name: str,
    key: str,
    *,
    request_hash: bytes,
    operation_id: UUID,
    at: datetime,
) -> bool:
    """Store a key; return False if another request was faster. This waits for its transaction."""
    statement = (
        upsert(idempotency_keys)
        .values(
            user_name=user_name,
            key=key,
            request_hash=request_hash,
            operation_id=operation_id,
            created_at=at,
        )
        .on_conflict_do_nothing()
        .returning(idempotency_keys.c.key)
    )
    return (await connection.execute(statement)).first() is not None
