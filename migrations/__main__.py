"""Upgrade the database of ``REGENT_DATABASE_URL`` to the newest revision."""

import gc

# Imports make objects that stay. Collections over them took a seventh of the run's CPU time.
gc.disable()

import sys

from pydantic import ValidationError
from sqlalchemy.exc import OperationalError

from backend.settings import MigrationSettings, faults_of
from migrations import upgrade


def main() -> int:
    """Run the migrations; what a person can put right is one line and a code that is not zero."""
    try:
        settings = MigrationSettings()
    except ValidationError as error:
        print(faults_of(error), file=sys.stderr)  # noqa: T201 - the command's answer
        return 2
    try:
        upgrade(settings.database_url.get_secret_value())
    except OperationalError as error:
        reason = str(error.orig).strip().splitlines()[0]
        print(f"cannot migrate the database: {reason}", file=sys.stderr)  # noqa: T201 - as above
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
