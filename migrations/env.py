"""Run migrations in one transaction each, never waiting long for a lock.

A migration that meets a busy table fails after its lock timeout instead of making every reader
queue behind it. Two runs at once take turns by an advisory lock.
"""

from typing import Final

from alembic import context
from sqlalchemy import create_engine, text

from backend.db.address import driver_url
from backend.db.tables import metadata
from backend.settings import MigrationSettings

LOCK_TIMEOUT_MS: Final = 5_000
TURN_TIMEOUT_MS: Final = 60_000
TURN_LOCK_KEY: Final = 0x7265_6765_6E74  # "regent"


def _database_url() -> str:
    given = context.config.attributes.get("database_url")
    return given or MigrationSettings().database_url.get_secret_value()


def run() -> None:
    """Migrate over a separate connection."""
    engine = create_engine(driver_url(_database_url()))
    with engine.connect() as connection:
        connection.execute(text(f"SET lock_timeout = {TURN_TIMEOUT_MS}"))
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": TURN_LOCK_KEY})
        connection.execute(text(f"SET lock_timeout = {LOCK_TIMEOUT_MS}"))
        connection.commit()
        context.configure(
            connection=connection,
            target_metadata=metadata,
            transaction_per_migration=True,
            compare_type=True,
        )
        with context.begin_transaction():
            context.run_migrations()
    # Closing the connection gives the advisory lock back.
    engine.dispose()


if context.is_offline_mode():
    message = "migrations run against a database, not as a script of SQL"
    raise SystemExit(message)
run()
