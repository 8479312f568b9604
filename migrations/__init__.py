"""Hold the migrations of the control plane's Postgres schema, and run them.

``python -m migrations`` and ``alembic -c migrations/alembic.ini upgrade head`` do the same; both
read ``REGENT_DATABASE_URL``.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config

HERE = Path(__file__).parent


def upgrade(database_url: str, *, revision: str = "head") -> None:
    """Bring a database to a revision; a database that is already there is left alone."""
    command.upgrade(_config(database_url), revision)


def downgrade(database_url: str, *, revision: str) -> None:
    """Bring a database back to an older revision, "base" for none; what is newer is lost."""
    command.downgrade(_config(database_url), revision)


def _config(database_url: str) -> Config:
    config = Config(HERE / "alembic.ini")
    config.attributes["database_url"] = database_url
    return config
