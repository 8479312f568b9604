"""Hold the migrations of the control plane's Postgres schema, and run them.

``python -m migrations`` and ``alembic -c migrations/alembic.ini upgrade head`` do the same; both
read ``REGENT_DATABASE_URL``.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from alembic.config import Config

HERE: Final = Path(__file__).parent
_REVISION: Final = re.compile(r'^(down_)?revision = "(\w+)"$', re.MULTILINE)
CONNECT_TIMEOUT_S: Final = 5


def is_current(database_url: str) -> bool:
    """Return whether a database surely has the newest schema; an error is a no.

    Alembic needs half a second to find that out, which every start of a local cluster would spend.
    """
    import psycopg  # noqa: PLC0415 - an upgrade does not need it here

    # The address may name SQLAlchemy's driver, which libpq does not know.
    address = "postgresql://" + database_url.partition("://")[2]
    try:
        with psycopg.connect(address, connect_timeout=CONNECT_TIMEOUT_S) as connection:
            rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except psycopg.Error:
        return False
    return {revision for (revision,) in rows} == newest_revisions()


def newest_revisions() -> set[str]:
    """Return the revisions that no other one follows, read from the files of the migrations."""
    found = [match for text in _versions() for match in _REVISION.findall(text)]
    followed = {revision for is_former, revision in found if is_former}
    return {revision for is_former, revision in found if not is_former} - followed


def upgrade(database_url: str, *, revision: str = "head") -> None:
    """Bring a database to a revision; a database that is already there is left alone."""
    from alembic import command  # noqa: PLC0415 - see `is_current`

    command.upgrade(_config(database_url), revision)


def downgrade(database_url: str, *, revision: str) -> None:
    """Bring a database back to an older revision, "base" for none; what is newer is lost."""
    from alembic import command  # noqa: PLC0415 - see `is_current`

    command.downgrade(_config(database_url), revision)


def _versions() -> Iterator[str]:
    return (path.read_text() for path in (HERE / "versions").glob("*.py"))


def _config(database_url: str) -> "Config":
    from alembic.config import Config  # noqa: PLC0415 - see `is_current`

    config = Config(HERE / "alembic.ini")
    config.attributes["database_url"] = database_url
    return config
