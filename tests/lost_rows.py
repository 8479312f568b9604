"""Make Postgres forget tables, as one that was restored from an older state has."""

from psycopg import errors
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from backend.db.engine import Database
from tests.waiting import eventually

# Shorter than Postgres waits before it looks for deadlocks: the product may hold one table and wait
# for the next one, and must not be the one that is refused.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '100ms'"


async def forget_rows(database: Database, *tables: str) -> None:
    """Remove all rows of tables, and what refers to them, while processes go on to use them."""

    async def is_done() -> bool:
        try:
            async with database.begin() as connection:
                await connection.execute(text(LOCK_TIMEOUT))
                await connection.execute(text(f"TRUNCATE {', '.join(tables)} CASCADE"))
        except OperationalError as error:
            if isinstance(error.orig, errors.LockNotAvailable):
                return False
            raise
        return True

    await eventually(is_done)
