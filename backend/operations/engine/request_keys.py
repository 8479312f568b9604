"""Return the first operation to a repeated request with the same key, without a second effect."""

import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from backend.db import idempotency_keys, operations
from backend.db.engine import Connection
from backend.domain.operation import Author, Operation
from backend.operations.engine.kind import OperationContext


async def find_known(
    author: Author, key: str | None, request_hash: bytes, context: OperationContext
) -> Operation | None:
    """Find the operation of an earlier request with the key.

    Raises:
        IdempotencyKeyReused: the key belongs to another request.
    """
    if key is None:
        return None
    async with context.database.connect() as connection:
        found = await find_id(connection, author, key, request_hash)
        return None if found is None else await operations.get(connection, found)


async def find_id(
    connection: Connection, author: Author, key: str, request_hash: bytes
) -> UUID | None:
    """Find the id of the operation of a key of a user.

    Raises:
        IdempotencyKeyReused: the key belongs to another request.
    """
    return await idempotency_keys.find(connection, author.name, key, request_hash=request_hash)


async def keep_key(
    connection: Connection,
    author: Author,
    key: str,
    request_hash: bytes,
    operation_id: UUID,
    at: datetime,
) -> bool:
    """Store a key for a request; return whether the key was free."""
    return await idempotency_keys.add(
        connection,
        author.name,
        key,
        request_hash=request_hash,
        operation_id=operation_id,
        at=at,
    )


def hash_request(*parts: Any) -> bytes:
    """Return a hash that identifies a request."""
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).digest()
