"""Read the address of a database.

A libpq address is accepted unchanged, with a socket directory in ``?host=`` if the server listens
on no port. Migrations use this module without a pool, whose imports take longer than a migration.
"""

from sqlalchemy import URL, make_url


def driver_url(database_url: str) -> URL:
    """Add the only driver, psycopg 3, to a libpq address."""
    return make_url(database_url).set(drivername="postgresql+psycopg")
